"""What somebody can do who writes the store's files, but has no key."""

import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from outcomes import Reading, cell, read
from scene import CHANGED, SEED, Scene


def changed_byte(scene: Scene) -> str:
    contents = {path: path.read_bytes() for path in restored(scene)}
    positions = [(path, offset) for path, data in contents.items() for offset in range(len(data))]
    generator, verdicts = random.Random(SEED), []
    for path, offset in scene.sampled(positions, scene.samples):
        data = bytearray(contents[path])
        data[offset] ^= generator.randrange(1, 256)
        verdicts.append(after(scene, path, bytes(data)))
    return cell(verdicts)


def truncated(scene: Scene) -> str:
    largest = max(restored(scene), key=lambda path: path.stat().st_size)
    data = largest.read_bytes()
    sizes = scene.sampled(list(range(len(data))), scene.tries)
    return cell(after(scene, largest, data[:size]) for size in sizes)


def after(scene: Scene, path: Path, content: bytes) -> str:
    """The verdict where one file has another content."""
    scene.newer.restore()
    path.write_bytes(content)
    return verdict(scene, read(scene.peer, scene.names))


def verdict(scene: Scene, found: Reading) -> str:
    if found.values == scene.older_values and not (found.failed or found.check_failed):
        return "older store"
    return found.verdict(scene.values, scene.older_values)


def removed(scene: Scene) -> str:
    """An entry's file is deleted; of a single file, a part is cut out."""
    if file := scene.peer.entry_file(CHANGED[0]):
        restored(scene)
        file.unlink()
        return cell([verdict(scene, read(scene.peer, scene.names))])
    (file,) = restored(scene)
    data = file.read_bytes()
    return cell(after(scene, file, data[:start] + data[end:]) for start, end in sampled(scene, parts(scene, len(data))))


def exchanged(scene: Scene) -> str:
    """One entry's file for another's; of a single file, parts for those of its older state."""
    first, second = (scene.peer.entry_file(name) for name in CHANGED)
    if not first or not second:
        return cell(verdict(scene, found) for found in mixtures(scene))
    restored(scene)
    contents = first.read_bytes(), second.read_bytes()
    second.write_bytes(contents[0])
    first.write_bytes(contents[1])
    return cell([verdict(scene, read(scene.peer, scene.names))])


def rolled_back_entry(scene: Scene) -> str:
    """Of two entries that were changed, one becomes the older one, and the other stays."""
    if file := scene.peer.entry_file(CHANGED[0]):
        restored(scene)
        file.write_bytes(scene.older.file(file))
        return cell([verdict(scene, read(scene.peer, scene.names))])
    tries = list(mixtures(scene))
    for found in tries:
        newer = any(found.values.get(name) == scene.values[name] for name in CHANGED)
        older = any(found.values.get(name) == scene.older_values[name] for name in CHANGED)
        if newer and older and found.is_quiet:
            return "**older value**"
    return f"not in {len(tries)} tries"


def mixtures(scene: Scene) -> Iterator[Reading]:
    """What a single file gives of which a part is that of its older state."""
    (file,) = restored(scene)
    old, new = scene.older.file(file).ljust(file.stat().st_size, b"\0"), file.read_bytes()
    different = [part for part in parts(scene, len(new)) if old[slice(*part)] != new[slice(*part)]]
    for start, end in sampled(scene, different):
        scene.newer.restore()
        file.write_bytes(new[:start] + old[start:end] + new[end:])
        yield read(scene.peer, scene.names)


def parts(scene: Scene, size: int) -> list[tuple[int, int]]:
    """All ranges of whole blocks but the whole file."""
    cuts = [*range(0, size, scene.peer.block), size]
    return [part for part in combinations(cuts, 2) if part != (0, size)]


def sampled(scene: Scene, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Some of the ranges, the first one among them."""
    return [*ranges[:1], *scene.sampled(ranges[1:], scene.tries - 1)]


def rolled_back_store(scene: Scene) -> str:
    scene.newer.restore()
    if not read(scene.peer, scene.names).gives(scene.values):
        raise RuntimeError("the machine has not seen the newer state")
    scene.older.restore_store()
    found = read(scene.peer, list(scene.older_values))
    if found.gives(scene.older_values):
        return "**older values**"
    return cell([found.verdict(scene.older_values)])


def restored(scene: Scene) -> list[Path]:
    scene.newer.restore()
    return scene.peer.sealed_files()
