"""What a thief of the store learns without a key."""

import hashlib

from peer import Peer
from scene import Scene, value

DISTANCES = (1, 2, 4, 8, 16, 32, 64)
# So that no distance is met by luck at the border of a padded block.
BASES = (100, 105, 110)
REPEATS = 3


def contents(peer: Peer) -> bytes:
    """All that the thief has: the paths and the bytes of the files."""
    files = [path for path in sorted(peer.store.rglob("*")) if path.is_file()]
    return b"\n".join(str(path.relative_to(peer.store)).encode() + b"\n" + path.read_bytes() for path in files)


def names(scene: Scene) -> str:
    stolen = contents(scene.peer)
    plain = sum(name.encode() in stolen for name in scene.names)
    if plain:
        return f"**{plain} of {len(scene.names)} readable**"
    for algorithm in ("md5", "sha1", "sha256"):
        hashes = [hashlib.new(algorithm, name.encode()) for name in scene.names]
        found = sum(each.hexdigest().encode() in stolen or each.digest() in stolen for each in hashes)
        if found:
            return f"**{found} of {len(hashes)} as {algorithm.upper()}, unsalted**"
    return "none found"


def number(scene: Scene) -> str:
    """Counts before and after a value is replaced, to tell entries from changes."""
    scene.newer.restore()
    before = scene.peer.counted()
    scene.peer.must_set(scene.names[0], b"replaced")
    after = scene.peer.counted()
    if before == after == len(scene.names):
        return "**readable**"
    if before is not None and after == before + 1:
        return "**number of changes**"
    return "not found"


def length(scene: Scene) -> str:
    """The least difference in length that the files' sizes always tell."""
    sizes: dict[int, list[int]] = {}
    for base in BASES:
        for distance in (0, *DISTANCES):
            sizes.setdefault(base + distance, measured_sizes(scene, base + distance))
    for distance in DISTANCES:
        if all(max(sizes[base]) < min(sizes[base + distance]) for base in BASES):
            return "**exact**" if distance == 1 else f"to {distance} bytes"
    return f"not to {DISTANCES[-1]} bytes"


def measured_sizes(scene: Scene, size: int) -> list[int]:
    found = []
    for repeat in range(REPEATS):
        scene.newer.restore()
        scene.peer.must_set("measured", value(size, size, repeat))
        # Zeros at the end are room that was taken in advance.
        found.append(sum(len(path.read_bytes().rstrip(b"\0")) for path in scene.peer.sealed_files()))
    return found
