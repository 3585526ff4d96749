"""Whether a secret that is set passes through arguments or files in plain."""

import re
from pathlib import Path

from peer import Peer
from scene import Scene

CANARY = b"canary-5e1f0a9b77c3d2e4"
WRITING = "trace=execve,?write,?pwrite64,?writev,?pwritev,?pwritev2"


def secret_in_plain(scene: Scene) -> str:
    peer = scene.peer
    scene.newer.restore()
    log = peer.home.with_name(peer.home.name + ".strace")
    options = ("-fyqq", "-s65536", "-o", str(log), "-e", WRITING, "-e", "signal=none")
    finished = peer.run(peer.setting("canary", CANARY), through=("strace", *options))
    if finished.code != 0:
        raise RuntimeError(f"{peer.title}: a set under strace ended with {finished.code}: {finished.errors!r}")
    if peer.value(peer.run(peer.getting("canary"))) != CANARY:
        raise RuntimeError(f"{peer.title}: a set under strace does not set")
    exposures = {exposure for line in log.read_text(errors="replace").splitlines() if (exposure := exposure_of(peer, line))}
    if any(CANARY in path.read_bytes() for path in peer.home.rglob("*") if path.is_file()):
        exposures.add("a file that stays")
    return "**in " + ", ".join(sorted(exposures)) + "**" if exposures else "no"


def exposure_of(peer: Peer, line: str) -> str | None:
    """Where a traced call puts the canary, if it does."""
    if CANARY.decode() not in line:
        return None
    if " execve(" in line:
        return "arguments"
    written = re.search(r"\(\d+<(/[^>]*)>", line)
    if written and not written[1].startswith("/dev/"):
        return "the store" if peer.store in Path(written[1]).parents else "a temporary file"
    return None
