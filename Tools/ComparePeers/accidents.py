"""kill -9, many processes at once, a full disk, and what is flushed before a command ends."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from peer import Command, Peer, Snapshot
from outcomes import read
from scene import CHANGED, Scene, value

KILLING = str(Path(__file__).with_name("killing.py"))
AT_ONCE = 20
# Room that is left on the full disk, and how many sets are tried in it.
ROOM = 16 << 10
SETS_TO_FILL = 40
FLUSHES = "trace=?fsync,?fdatasync,?syncfs,?sync_file_range,?rename,?renameat,?renameat2,?link,?linkat"


# kill -9


def killed(scene: Scene) -> str:
    """Kills a set at its calls. One value changes; all others have to stay, and the next set has to work."""
    peer, name = scene.peer, CHANGED[1]
    new = scene.values | {name: value(len(scene.values[name]), "killed")}
    command = peer.setting(name, new[name])
    scene.newer.restore()
    calls = traced(peer, command, 0)
    if not read(peer, scene.names).gives(new):
        raise RuntimeError("a set that is traced does not set")
    ordinals = scene.sampled(list(range(1, calls + 1)), scene.tries)
    counts = Counter[str]()
    for ordinal in ordinals:
        scene.newer.restore()
        traced(peer, command, ordinal)
        counts[state_after(scene, new)] += 1
        peer.set("afterwards", b"kept")
        if read(peer, ["afterwards"]).values != {"afterwards": b"kept"}:
            counts["**next set fails**"] += 1
    whole = counts.pop("whole", 0)
    return ", ".join([f"old or new {whole} of {len(ordinals)}", *(f"{word} {counts[word]}" for word in sorted(counts))])


def traced(peer: Peer, command: Command, limit: int) -> int:
    """Kills a run at a call, 0 for none; returns how many calls there were until then."""
    folders = ":".join(map(str, peer.state))
    finished = peer.run(command, through=(sys.executable, "-IS", KILLING, str(limit), folders))
    told = re.search(rb"calls (\d+)\n\Z", finished.errors)
    if not told:
        raise RuntimeError(f"the tracer failed: {finished}")
    return int(told[1])


def state_after(scene: Scene, new: dict[str, bytes]) -> str:
    found = read(scene.peer, scene.names)
    if found.gives(scene.values) or found.gives(new):
        return "whole"
    others = [name for name in scene.names if name != CHANGED[1]]
    return "**value lost**" if all(found.values.get(name) == new[name] for name in others) else "**all lost**"


# Many at once


def at_once(scene: Scene) -> str:
    scene.newer.restore()
    values = {f"parallel-{index:02}": value(40, index) for index in range(AT_ONCE)}
    codes = scene.peer.set_at_once(values)
    found = read(scene.peer, list(values)).values
    kept = sum(found.get(name) == content for name, content in values.items())
    refused = sum(code != 0 for code in codes)
    lost = sum(found.get(name) != content for (name, content), code in zip(values.items(), codes) if code == 0)
    told = [f"{kept} of {AT_ONCE} kept"]
    if refused:
        told.append(f"{refused} refused")
    if lost:
        told.append(f"**{lost} lost**")
    if read(scene.peer, scene.names).values != scene.values:
        told.append("**older ones lost**")
    return ", ".join(told)


# A full disk


def full_disk(scene: Scene) -> str:
    """Sets on a small file system in memory; what was acknowledged, and what was there, has to stay."""
    store = scene.peer.store
    scene.newer.restore()
    content = Snapshot.of(scene.peer, "full").folder / "0"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", store], check=True)
    try:
        subprocess.run(["cp", "-a", f"{content}/.", store], check=True)
        fill(store)
        acknowledged, told = sets_without_room(scene)
        (store / "filler").unlink()
        found = read(scene.peer, [*scene.values, *acknowledged]).values
    finally:
        subprocess.run(["umount", "--lazy", store], check=True)
    expected = scene.values | acknowledged
    lost = [name for name, content in expected.items() if found.get(name) != content]
    if not lost:
        return f"{told}, all kept"
    old = sum(name in scene.values for name in lost)
    return f"{told}, **lost {old} of {len(scene.values)} old and {len(lost) - old} acknowledged**"


def sets_without_room(scene: Scene) -> tuple[dict[str, bytes], str]:
    """Adds entries until one is refused, and replaces one; returns what was acknowledged."""
    acknowledged: dict[str, bytes] = {}
    sets = [(f"full-{index:02}", value(3_000, index)) for index in range(SETS_TO_FILL)]
    for name, content in sets:
        if scene.peer.set(name, content).code != 0:
            break
        acknowledged[name] = content
    told = "error" if len(acknowledged) < len(sets) else "**no error**"
    large = value(scene.peer.large, "large")
    if scene.peer.set(CHANGED[1], large).code == 0:
        acknowledged[CHANGED[1]] = large
    return acknowledged, told


def fill(folder: Path) -> None:
    """Takes all the room but a little."""
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            file.truncate(max(file.tell() - ROOM, 0))


# Power loss


def flushed(scene: Scene) -> str:
    """Whether the file is flushed before a set ends, and the folder too if a name in it leads to another file then."""
    peer = scene.peer
    scene.newer.restore()
    before = peer.sealed_files()
    log = peer.home.with_name(peer.home.name + ".strace")
    command = peer.setting("flushed", value(40, "flushed"))
    finished = peer.run(command, through=("strace", "-fyqq", "-o", str(log), "-e", FLUSHES, "-e", "signal=none"))
    if finished.code != 0:
        raise RuntimeError(f"a set under strace ended with {finished.code}: {finished.errors!r}")
    lines = log.read_text(errors="replace").splitlines()
    paths = [Path(found[1]) for line in lines if (found := re.search(r"sync\w*\(\d+<([^>]*)>", line))]
    inside = [path for path in paths if path == peer.store or peer.store in path.parents]
    if all(path.is_dir() for path in inside):
        return "**nothing**"
    if any(path.is_dir() for path in inside):
        return "file and folder"
    after = peer.sealed_files()
    renamed = any(f'"{path}") = 0' in line for line in lines for path in after)
    return "**file, but not its new name**" if renamed or after != before else "file; no name is new"
