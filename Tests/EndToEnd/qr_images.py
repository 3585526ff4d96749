"""QR codes as the command draws them: images of them, and what a reader finds in them."""

import re
import subprocess

COLORS = re.compile("\x1b\\[[0-9;]*m")
# What a character shows of two modules, the upper and the lower; 1 is dark.
MODULES = {" ": "00", "▄": "01", "▀": "10", "█": "11"}
SCALE = 4


def bitmap(rendering: str, scale: int = SCALE) -> bytes:
    """The image, as PBM, of a code in half blocks, with a square of `scale` pixels for each module.

    Escape codes for colours are left out: dark modules are those that are drawn."""
    lines = COLORS.sub("", rendering).splitlines()
    if len({len(line) for line in lines}) != 1 or not set("".join(lines)) <= MODULES.keys():
        raise ValueError(f"this is not a code in half blocks: {rendering!r}")
    rows = ["".join(MODULES[character][half] for character in line) for line in lines for half in (0, 1)]
    pixels = ["".join(module * scale for module in row) for row in rows for _ in range(scale)]
    return "\n".join(("P1", f"{len(pixels[0])} {len(pixels)}", *pixels, "")).encode()


def decoded(rendering: str) -> bytes:
    """The bytes that zbarimg reads in a code; it fails if there is none."""
    read = ("zbarimg", "--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", "-Sbinary", "pbm:-")
    return subprocess.run(read, input=bitmap(rendering), check=True, capture_output=True).stdout
