#!/usr/bin/env python3
"""Checks that the models can take each step in traces of the code.

    traces.py strace LOG VAULT >RAW   makes a raw trace of the output of `strace -f -xx -s 120`
    traces.py check FOLDER            checks all raw traces (*.events) of a folder; Tools/model --traces
    traces.py simulate PROGRAM SEEDS  checks those of the simulator, one for each seed; Tools/model --seeds

A raw trace has a line for each call of the processes that use one vault, in the order in which they took effect; see
Tests/README.md, "Models". For each vault file in it, and each stretch without a power loss, it is made into events of
append.pml; for the files of a machine that follow each other, into events of compaction.pml. They are given to that model,
compiled with TRACE.
"""

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

from file_traces import File
from folder_traces import Folder
from raw_traces import Stretch, Trace, read_raw
from strace_traces import raw_of_strace

MODELS = Path(__file__).resolve().parent
WORK = MODELS.parents[1] / ".build/models"
KIND = {name: int(n) for name, n in re.findall(r"^#define (\w+) (\d+)", (MODELS / "events.pml").read_text(), re.M)}
# Steps that no call shows: what a reader does without a lock is seen in append.pml, members change in no simulation, and
# a trace's zeros are one step.
UNSHOWN = {
    "overwriteFirstSector", "lookAtPath", "reopen", "lockToRead", "readResult", "reopenToConfirm", "giveOut",
    "compareMembers", "rememberMembers", "compareRead", "rememberReadMembers",
}


@contextmanager
def compiling() -> Iterator[None]:
    """One process and thread at a time."""
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / "compiling.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def rounded(n: int) -> int:
    """Sizes are rounded up, so that few models are compiled."""
    size = 4
    while size < n:
        size *= 2
    return size


def compiled(stretch: Stretch) -> Path:
    sizes = {k: v if k == "THREADS" or not v else rounded(v) for k, v in stretch.sizes.items()}
    if "THREADS" in sizes:
        sizes["WRITERS"] = (sizes["WRITERS"] + stretch.threads - 1) // stretch.threads * stretch.threads
    options = [f"-D{k}={v}" for k, v in sizes.items()] + ["-DTRACE"]
    folder = WORK / (f"trace-{stretch.model}" + "".join(o.replace("-D", "-").replace("=", "") for o in options))
    pan = folder / "pan"
    sources = [*MODELS.glob("*.pml"), MODELS / "trace.h"]
    with compiling():
        if pan.exists() and pan.stat().st_mtime > max(s.stat().st_mtime for s in sources):
            return pan
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            (folder / source.name).write_text(source.read_text())
        flags = ["-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=3000", "-DCOLLAPSE", "-DVECTORSZ=65536"]
        for command in (["spin", "-a", *options, f"{stretch.model}.pml"], ["gcc", *flags, "-o", "pan", "pan.c"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return pan


def accepted(stretch: Stretch) -> tuple[bool, int, set[int]]:
    """Whether the model can do it; if not, the line of the first event that it cannot do. And the steps that it took."""
    pan = compiled(stretch)
    with NamedTemporaryFile("w", dir=WORK, prefix="events-") as events:
        for e in stretch.events:
            events.write(f"{KIND[e.kind]} {e.process} {e.a} {e.b} {e.c} {e.d} {e.file} {e.line}\n")
        events.flush()
        try:
            done = subprocess.run([pan, "-m1000000", "-E", "-n"], cwd=pan.parent, capture_output=True, text=True, timeout=60,
                                  env=os.environ | {"MODEL_TRACE": events.name})
        except subprocess.TimeoutExpired:
            return False, -1, set()
    if found := re.search(r"^ACCEPTED (-?\d+) (-?\d+) (-?\d+)", done.stdout, re.M):
        return True, 0, {n * 30 + bit for n in range(3) for bit in range(30) if int(found[n + 1]) >> bit & 1}
    refused = re.search(r"^REFUSED (\d+)", done.stdout, re.M)
    return False, int(refused[1]) if refused else 0, set()


def stretches(trace: Trace) -> list[Stretch]:
    """The parts of a trace on which the models say something, except for files that several machines use."""
    found: list[Stretch] = []
    files = sorted({c.words[1] for c in trace.calls if len(c.words) > 1 and c.words[1].startswith("vault:")})
    for file in files:
        users = {c.process for c in trace.calls if len(c.words) > 1 and c.words[1] == file}
        machines = {trace.machines.get(p, 0) for p in users}
        if len(machines) == 1:
            found += File(trace, file, machines.pop()).stretches()
    # Of a command, which has several threads, nothing tells which of them a call on the folder is of.
    if len(set(trace.machines.values())) == 1 and any(call.name == "begin" for call in trace.calls):
        folder = Folder(trace, next(iter(trace.machines.values()))).stretch()
        found += [folder] if folder else []
    return found


def steps(model: str) -> dict[int, str]:
    text = (MODELS / f"{model}.pml").read_text()
    text = text[text.index("/* steps of a process") :]
    text = text[: min(at for at in (text.find("/* the file:"), text.find("/* the folder */")) if at >= 0)]
    return {int(n): name for name, n in re.findall(r"^#define (\w+) (\d+)", text, re.M)}


def check(folder: Path) -> int:
    """Fails if a stretch is refused, or if its check takes more than a minute."""
    taken: dict[str, set[int]] = {"append": set(), "compaction": set()}
    refused = total = 0
    paths = sorted(folder.glob("*.events"))
    work = [(path, stretch) for path in paths for stretch in stretches(read_raw(path))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (path, stretch), (is_accepted, line, covered) in zip(work, pool.map(lambda each: accepted(each[1]), work)):
            total += 1
            taken[stretch.model] |= covered
            what = f"{path.name} {stretch.name}"
            if is_accepted:
                continue
            refused += 1
            if line < 0:
                print(f"UNFINISHED {what} ({len(stretch.events)} events, {stretch.sizes})")
            else:
                print(f"REFUSED    {what}: line {line}: {path.read_text().splitlines()[line - 1][:100] if line else '?'}")
    for model in taken:
        names = steps(model)
        missing = [names[n] for n in sorted(names) if n not in taken[model] and names[n] not in UNSHOWN and not (model == "append" and n >= 34)]
        print(f"steps of {model}.pml that no trace has taken: {', '.join(missing) or 'none'}")
    print(f"{total - refused} of {total} stretches accepted")
    return 1 if refused or not total else 0


def simulate(program: str, seeds: str) -> int:
    """What a run violates is of no interest here."""
    with TemporaryDirectory(prefix="vault-events-") as folder:
        command = [program, "--survey", "--seeds", seeds, "--events", folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not list(Path(folder).glob("*.events")):
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}")
        return check(Path(folder))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", folder]:
            sys.exit(check(Path(folder)))
        case ["simulate", program, seeds]:
            sys.exit(simulate(program, seeds))
        case ["strace", log, vault]:
            print("\n".join(raw_of_strace(Path(log), vault)))
        case _:
            sys.exit(__doc__)
