"""Two copies of a vault that went apart, each on a machine of its own."""

import re
from dataclasses import dataclass
from pathlib import Path

import interop  # noqa: F401
from homes import Home
from reading.vault import open_image


@dataclass(frozen=True)
class Copies:
    """Both machines have seen the vault as it was when they went apart."""

    left: Home
    right: Home

    @property
    def both(self) -> tuple[Home, Home]:
        return self.left, self.right


def copies(home: Home, folder: Path) -> Copies:
    return Copies(home, home.copy(folder))


def leaving_out(message: str) -> list[str]:
    """The commands that leave out what a merge has refused of this machine's vault: they move, merge, and look."""
    (lines,) = re.findall(r"^To leave them out, .*:\n((?:  .*\n)+)If the last command refuses the vault, ", message, re.MULTILINE)
    return [line.strip() for line in lines.splitlines()]


def dropping(message: str) -> list[str]:
    """The commands that leave keys out: they drop them, and merge again."""
    (lines,) = re.findall(r"^To leave them out, drop them, and merge again:\n((?:  .*\n?)+)", message, re.MULTILINE)
    return [line.strip() for line in lines.splitlines()]


def all_values(home: Home, vault: Path | None = None) -> dict[str, list[bytes | None]]:
    """What each name has: its present value, or None if it was removed, and its earlier ones, newest first."""
    found = open_image((vault or home.vault).read_bytes(), home.key.read_bytes())
    entries = {name: [entry.value, *(old.value for old in entry.earlier)] for name, entry in found.entries.items()}
    removed = {name: [None, *(old.value for old in entry.earlier)] for name, entry in found.removed.items()}
    return entries | removed
