#!/usr/bin/env python3
"""Checks that the models can take each step in traces of the code.

    traces.py strace LOG VAULT >RAW   makes a raw trace of the output of `strace -f -xx -s 120`
    traces.py check FOLDER            checks all raw traces (*.events) of a folder; Tools/model --traces

A raw trace has a line for each call of the processes that use one vault, in the order in which they took effect; see
Tests/README.md, "Models". For each vault file in it, and each stretch without a power loss, it is made into events of
append.pml, and given to that model, compiled with TRACE.
"""

import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

MODELS = Path(__file__).resolve().parent
WORK = MODELS.parents[1] / ".build/models"
HEADER_END, HINT, MARK = 8192, 4064, 4080
MAGIC = "76726563"


def event_kinds() -> dict[str, int]:
    return {name: int(n) for name, n in re.findall(r"^#define (\w+) (\d+)", (MODELS / "events.pml").read_text(), re.M)}


KIND = event_kinds()


# MARK: - Raw traces


@dataclass
class Call:
    line: int
    process: int
    words: list[str]

    @property
    def name(self) -> str:
        return self.words[0]


@dataclass
class Trace:
    calls: list[Call]
    machines: dict[int, int]


def read_raw(path: Path) -> Trace:
    calls, machines = [], {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] == "power":
            calls.append(Call(number, -1 - int(words[1]), ["power"]))
            continue
        process = int(words[0])
        if words[1] == "start":
            machines[process] = int(words[2])
        calls.append(Call(number, process, words[1:]))
    return Trace(calls, machines)


# MARK: - One file, from one power loss to the next


@dataclass
class Record:
    number: int
    start: int
    size: int


@dataclass
class Event:
    kind: str
    process: int
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    line: int = 0


@dataclass
class Stretch:
    """The events of a file, with offsets in bytes until `cells` replaces them."""

    name: str
    events: list[Event] = field(default_factory=list)
    records: int = 0
    threads: int = 1
    processes: int = 0
    sizes: dict[str, int] = field(default_factory=dict)


def frame(content: str) -> tuple[int, str] | None:
    """The size of the record that begins with these bytes, and its authenticator."""
    if not content.startswith(MAGIC) or len(content) < 128:
        return None
    numbers = bytes.fromhex(content[8:32])
    index, payload = int.from_bytes(numbers[:4], "little"), int.from_bytes(numbers[4:], "little")
    return 48 + index + payload, content[96:128]


OPERATIONS = {"set": "DONE", "remove": "DONE", "get": "GIVEN", "list": "GIVEN"}


class Abstraction:
    """Makes events of the raw trace for one file on one machine."""

    def __init__(self, trace: Trace, file: str, machine: int, former: bool) -> None:
        self.trace, self.file, self.machine, self.former = trace, file, machine, former
        self.known: dict[str, Record] = {}
        self.multi = {c.process for c in trace.calls} - {c.process for c in trace.calls if c.name == "begin"}

    def stretches(self) -> list[Stretch]:
        """The parts of the trace from the file's publication on, cut at power losses; none if it never is."""
        found: list[Stretch] = []
        part: list[Call] = []
        calls = [c for c in self.trace.calls if len(c.words) > 1 and c.words[1] == self.file]
        published = not any(c.name == "rename" or c.name == "write" and c.words[2] == "8192" and c.words[4][:8] != MAGIC for c in calls)
        if not published and not any(c.name == "rename" and c.words[2] == "ok" for c in calls):
            return []
        early: dict[int, Call] = {}
        for call in self.trace.calls:
            if call.name == "power":
                if call.process == -1 - self.machine:
                    found.append(self.stretch(part, f"before line {call.line}"))
                    part = []
                continue
            if self.trace.machines.get(call.process, self.machine) != self.machine:
                continue
            if call.name == "rename" and call.words[2] == "ok" and call.words[1].startswith("vault:"):
                if call.words[1] == self.file:
                    published = True
                    part = [*early.values(), *(c for c in part if c.name in ("start", "begin", "killed", "end"))]
                    continue
                if published:
                    break
            if not published and len(call.words) > 1 and call.words[1] == self.file:
                if call.name == "lock" and call.words[3] == "ok":
                    early[call.process] = call
                elif call.name in ("unlock", "close"):
                    early.pop(call.process, None)
                continue
            part.append(call)
        found.append(self.stretch(part, "the end"))
        return [s for s in found if any(e.kind not in ("START", "KILLED", "DONE", "GIVEN", "FAILED", "REFUSED", "UNKNOWN") for e in s.events)]

    def stretch(self, calls: list[Call], name: str) -> Stretch:
        out = Stretch(f"{self.file} on machine {self.machine}, until {name}")
        slots: dict[int, int] = {}
        free: list[int] = []
        held: dict[int, int] = defaultdict(int)
        begun: dict[int, int] = {}
        fresh: dict[str, int] = {}
        heads = self.heads(calls)
        base: Record | None = None
        first = True
        cleared_to = 0
        users = {c.process for c in calls if len(c.words) > 1 and c.words[1] == self.file}
        out.threads = 2 if users & self.multi else 1

        def slot(process: int, line: int) -> int:
            if process not in slots:
                slots[process] = free.pop() if free else out.processes
                out.processes = max(out.processes, slots[process] + 1)
                for thread in range(out.threads):
                    is_absent = thread > 0 and process not in self.multi
                    out.events.append(Event("START", slots[process], thread, int(is_absent), line=line))
            return slots[process]

        def add(kind: str, call: Call, a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> None:
            out.events.append(Event(kind, slot(call.process, call.line), a, b, c, d, call.line))

        last_use = {c.process: n for n, c in enumerate(calls)}
        for n, call in enumerate(calls):
            process, words = call.process, call.words
            if process not in users:
                continue
            is_file = len(words) > 1 and words[1] == self.file
            slot(process, call.line)
            match call.name:
                case "lock" if is_file and words[3] == "ok":
                    held[process] += 1
                    add("LOCK_EXCLUSIVE" if words[2] == "exclusive" else "LOCK_SHARED", call)
                case "unlock" | "close" if is_file and held[process]:
                    if call.name == "close" and self.unlocks_later(calls, n):
                        continue
                    held[process] -= 1
                    add("UNLOCK", call)
                case "flush" if is_file:
                    add("FLUSH", call, int(words[2] == "ok"))
                case "flushfolder" if words[1] != "ok" and held[process]:
                    add("FLUSH_FOLDER", call)
                case "write" if is_file:
                    offset, length, content = int(words[2]), int(words[3]), words[4]
                    failed = words[5] != "ok"
                    if failed:
                        length = int(words[5].partition(":")[2])
                    if offset == MARK:
                        if not failed:
                            add("MARK", call, int(content != "zeros"))
                        continue
                    if offset < HEADER_END:
                        continue
                    head = frame(content)
                    if content == "zeros":
                        if first and base is None:
                            cleared_to = max(cleared_to, offset + length)
                        add("ZEROS_FAIL" if failed else "ZEROS", call, offset, offset + length)
                    elif head is not None:
                        size, authenticator = head
                        if authenticator in fresh or authenticator not in self.known:
                            if first and base is None and self.is_read_before(calls, n, offset, size):
                                base = self.known[authenticator] = Record(1, offset, size)
                                self.insert_base(out, base)
                            elif authenticator not in fresh:
                                if base is None and first:
                                    base = self.base(out, offset)
                                fresh[authenticator] = len(fresh) + 1 + (base is not None)
                                self.known[authenticator] = Record(fresh[authenticator], offset, size)
                        elif base is None and first:
                            base = self.known[authenticator]
                            self.insert_base(out, base)
                        first = False
                        record = self.known[authenticator]
                        identity = fresh.get(authenticator, 1)
                        add("WRITE_FAILS" if failed else "WRITE", call, offset, offset + length, identity, record.start + record.size)
                    elif n in heads:
                        start, size, authenticator = heads[n]
                        if base is None and first:
                            base = self.base(out, start)
                        first = False
                        if authenticator not in fresh:
                            fresh[authenticator] = len(fresh) + 1 + (base is not None)
                            self.known[authenticator] = Record(fresh[authenticator], start, size)
                        add("PAYLOAD_FAILS" if failed else "PAYLOAD_BEFORE", call, offset, offset + length, fresh[authenticator], start + size)
                case "write" if words[1] == f"seen:{self.machine}" and words[5] == "ok":
                    authenticator = words[4][64:96]
                    flushed = int(words[4][96:98] == "01")
                    if authenticator in fresh or (base is not None and self.known.get(authenticator) is base):
                        add("SEEN", call, fresh.get(authenticator, 1), flushed)
                    elif authenticator in self.known and base is None and first:
                        base = self.known[authenticator]
                        self.insert_base(out, base)
                        add("SEEN", call, 1, flushed)
                case "begin":
                    begun[process] = n
                case "end" if words[1] in OPERATIONS and self.uses(calls[begun.get(process, 0) : n], process):
                    result = {"done": OPERATIONS[words[1]], "refused": "REFUSED", "unknown": "UNKNOWN"}.get(words[2])
                    if OPERATIONS[words[1]] == "GIVEN" and words[2] != "done":
                        result = "FAILED"
                    if result:
                        add(result, call)
                case "killed":
                    for thread in range(out.threads):
                        add("KILLED", call, thread)
            if n == last_use[process] and process in slots:
                for thread in range(out.threads):
                    if call.name != "killed":
                        add("KILLED", call, thread)
                free.append(slots.pop(process))
        out.records = len(fresh) + (base is not None)
        self.cells(out, base)
        return out

    def uses(self, calls: list[Call], process: int) -> bool:
        """Whether a process locks this file, and no other vault file."""
        locked = {c.words[1] for c in calls if c.process == process and c.name == "lock" and c.words[1].startswith("vault:")}
        return locked == {self.file}

    def is_read_before(self, calls: list[Call], n: int, offset: int, size: int) -> bool:
        """Whether these bytes were read by the call before: then the same are written again."""
        before = next((c for c in reversed(calls[:n]) if c.process == calls[n].process), None)
        return before is not None and before.words[:4] == ["read", self.file, str(offset), str(size)]

    def unlocks_later(self, calls: list[Call], n: int) -> bool:
        for call in calls[n + 1 :]:
            if call.process == calls[n].process and len(call.words) > 1 and call.words[1] == self.file:
                if call.name == "unlock":
                    return True
                if call.name == "lock" and call.words[3] == "ok":
                    return False
        return False

    def heads(self, calls: list[Call]) -> dict[int, tuple[int, int, str]]:
        """For each write of a payload before its head: the record's offset, size and authenticator."""
        found: dict[int, tuple[int, int, str]] = {}
        waiting: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for n, call in enumerate(calls):
            if call.name != "write" or call.words[1] != self.file or int(call.words[2]) < HEADER_END or call.words[4] == "zeros":
                continue
            offset, head = int(call.words[2]), frame(call.words[4])
            if head is None:
                waiting[call.process].append((n, offset))
                continue
            if offset + head[0] > offset + int(call.words[3]):
                for m, at in waiting[call.process]:
                    if offset < at < offset + head[0]:
                        found[m] = (offset, *head)
            waiting[call.process].clear()
        return found

    def base(self, out: Stretch, end: int) -> Record | None:
        for record in reversed(list(self.known.values())):
            if record.start + record.size == end:
                self.insert_base(out, record)
                return record
        return None

    def insert_base(self, out: Stretch, record: Record) -> None:
        out.events.insert(0, Event("BASE", 0, record.start, record.start + record.size))

    def cells(self, out: Stretch, base: Record | None) -> None:
        """Replaces offsets by numbers of cells: the ranges between all offsets at which something begins or ends."""
        ranged = [e for e in out.events if e.kind in RANGED]
        borders = {e.a for e in ranged} | {e.b for e in ranged} | {e.d for e in ranged if e.kind in WRITES}
        starts = [e.a for e in ranged if e.kind in (*WRITES, "BASE")]
        low = min(starts, default=min(borders, default=0))
        number = {offset: n for n, offset in enumerate(sorted(b for b in borders if b >= low))}
        count = max(len(number), 1)
        longest = 2
        for event in ranged:
            if event.kind in WRITES:
                start = next((e.a for e in ranged if e.kind in ("WRITE", "WRITE_FAILS") and e.c == event.c), event.a)
                event.d = number[event.d] - number.get(start, 0)
                longest = max(longest, event.d + 1)
            event.a, event.b = number.get(event.a, 0), number.get(event.b, 0)
            if event.kind == "BASE":
                longest = max(longest, event.b - event.a + 1)
        end = base and number[base.start + base.size] or 0
        if any(e.kind == "ZEROS" for e in ranged):
            at = 1 if out.events and out.events[0].kind == "BASE" else 0
            out.events.insert(at, Event("REMAINS", 0, end, count))
        out.sizes = {
            "WRITERS": max(out.processes, 1) * out.threads, "READERS": 0, "RECORDS": out.records + 1, "SECTORS": count + 1,
            "LONGEST": longest, "THREADS": out.threads,
        }


WRITES = ("WRITE", "WRITE_FAILS", "PAYLOAD_BEFORE", "PAYLOAD_FAILS")
RANGED = (*WRITES, "ZEROS", "ZEROS_FAIL", "BASE")


# MARK: - strace


CALL = re.compile(r"^(\d+) +(?:[\d:.]+ +)?(\w+)\((.*)\) += (-?\d+|\?)(?: (\w+))?")
OPEN = ("openat", "open")


def joined(lines: list[str]) -> list[str]:
    """Joins what strace has split because another process ran meanwhile; a call counts when it returns."""
    begun: dict[str, str] = {}
    whole = []
    for line in lines:
        process = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>").rstrip()
        elif found := re.search(r"<\.\.\. \w+ resumed>(.*)", line):
            whole.append(begun.pop(process, "") + found[1])
        else:
            whole.append(line)
    return whole


def text(argument: str) -> str:
    found = re.search(r'"((?:\\x[0-9a-f]{2})*)"', argument)
    return bytes.fromhex(found[1].replace("\\x", "")).decode(errors="replace") if found else ""


def raw_of_strace(log: Path, vault: str) -> list[str]:
    """The vault is named by its path. File numbers are counted from 1 on, at each new file under its names."""
    folder, unpublished = os.path.dirname(vault), f"{os.path.dirname(vault)}/.{os.path.basename(vault)}.vault-new"
    names: dict[str, int] = {}
    count = 0
    open_files: dict[tuple[str, int], str] = {}
    parents: dict[str, str] = {}
    out: list[str] = []
    started: set[str] = set()

    def number(path: str, is_new: bool) -> str:
        nonlocal count
        if is_new or path not in names:
            count += 1
            names[path] = count
        return f"vault:{names[path]}"

    for line in joined(log.read_text().splitlines()):
        if killed := re.match(r"^(\d+) .*\+\+\+ (killed by|exited)", line):
            if killed[2] == "killed by" and killed[1] in started:
                out.append(f"{killed[1]} killed")
            for key in [k for k in open_files if k[0] == killed[1]]:
                out.append(f"{killed[1]} close {open_files.pop(key)}")
            continue
        found = CALL.match(line)
        if not found or found[4] == "?":
            continue
        thread, call, arguments, result = found[1], found[2], found[3], int(found[4])
        if call in ("clone", "clone3") and "CLONE_THREAD" in arguments and result > 0:
            parents[str(result)] = parents.get(thread, thread)
            continue
        process = parents.get(thread, thread)
        if process not in started:
            started.add(process)
            out.append(f"{process} start 0")
        outcome = "ok" if result >= 0 else "error"
        descriptor = int(number_[1]) if (number_ := re.match(r"^(\d+)(,|$)", arguments)) else -1
        file = open_files.get((process, descriptor), "")
        match call:
            case "openat" | "open" if result >= 0:
                path = text(arguments)
                if path in (vault, unpublished):
                    name = number(path, path == unpublished and "O_CREAT" in arguments)
                elif path.endswith((".seen", ".path")):
                    name = f"{path[-4:]}:0"
                else:
                    name = "folder" if path == folder else "other"
                open_files[process, result] = name
                if name.startswith("vault:"):
                    out.append(f"{process} open {name}")
            case "close" if file:
                del open_files[process, descriptor]
                if file.startswith("vault:"):
                    out.append(f"{process} close {file}")
            case "flock" if file.startswith("vault:"):
                kind = "shared" if "LOCK_SH" in arguments else "exclusive"
                out.append(f"{process} unlock {file}" if "LOCK_UN" in arguments else
                           f"{process} lock {file} {kind} {'ok' if result == 0 else 'busy'}")
            case "pread64" if file.startswith("vault:") and result >= 0:
                count_, offset = arguments.rsplit(",", 2)[1:]
                out.append(f"{process} read {file} {int(offset)} {int(count_)}")
            case "pwrite64" if file.startswith(("vault:", "seen:")):
                count_, offset = arguments.rsplit(",", 2)[1:]
                content = re.search(r'"((?:\\x[0-9a-f]{2})*)"', arguments)[1].replace("\\x", "")[:192]
                content = content if content.strip("0") else "zeros"
                ending = "ok" if result == int(count_) else f"error:{max(result, 0)}"
                out.append(f"{process} write {file} {int(offset)} {int(count_)} {content} {ending}")
            case "fdatasync" | "fsync" if file.startswith("vault:"):
                out.append(f"{process} flush {file} {outcome}")
            case "fsync" if file == "folder":
                out.append(f"{process} flushfolder {outcome}")
            case "rename" | "renameat" | "renameat2" | "link" | "linkat" if unpublished in paths(arguments):
                out.append(f"{process} rename {number(unpublished, False)} {outcome}")
                if result == 0:
                    names[vault] = names.pop(unpublished)
            case "unlink" | "unlinkat" if result == 0 and unpublished in paths(arguments):
                if unpublished in names:
                    out.append(f"{process} remove vault:{names.pop(unpublished)}")
    return out


def paths(arguments: str) -> list[str]:
    return [bytes.fromhex(p.replace("\\x", "")).decode(errors="replace") for p in re.findall(r'"((?:\\x[0-9a-f]{2})+)"', arguments)]


# MARK: - The check


def rounded(n: int) -> int:
    """Sizes are rounded up, so that few models are compiled."""
    size = 4
    while size < n:
        size *= 2
    return size


def compiled(stretch: Stretch, former: bool) -> Path:
    sizes = {k: v if k in ("THREADS", "READERS") else rounded(v) for k, v in stretch.sizes.items()}
    sizes["WRITERS"] = (sizes["WRITERS"] + stretch.threads - 1) // stretch.threads * stretch.threads
    options = [f"-D{k}={v}" for k, v in sizes.items()] + ["-DTRACE"] + (["-DFORMER_V3"] if former else [])
    folder = WORK / ("trace" + "".join(o.replace("-D", "-").replace("=", "") for o in options))
    pan = folder / "pan"
    sources = [*MODELS.glob("*.pml"), MODELS / "trace.h"]
    if not pan.exists() or pan.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            (folder / source.name).write_text(source.read_text())
        for command in (["spin", "-a", *options, "append.pml"],
                        ["gcc", "-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=3000", "-DCOLLAPSE", "-DVECTORSZ=65536", "-o", "pan", "pan.c"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return pan


def accepted(stretch: Stretch, former: bool) -> tuple[bool, int, set[int]]:
    """Whether the model can do it; if not, the line of the first event that it cannot do. And the steps that it took."""
    events = WORK / f"events-{os.getpid()}.txt"
    events.parent.mkdir(parents=True, exist_ok=True)
    events.write_text("".join(f"{KIND[e.kind]} {e.process} {e.a} {e.b} {e.c} {e.d} 0 {e.line}\n" for e in stretch.events))
    pan = compiled(stretch, former)
    try:
        done = subprocess.run([pan, "-m1000000", "-E", "-n"], cwd=pan.parent, capture_output=True, text=True, timeout=60,
                              env=os.environ | {"MODEL_TRACE": str(events)})
    except subprocess.TimeoutExpired:
        return False, -1, set()
    if found := re.search(r"^ACCEPTED (-?\d+) (-?\d+) (-?\d+)", done.stdout, re.M):
        return True, 0, {n * 30 + bit for n in range(3) for bit in range(30) if int(found[n + 1]) >> bit & 1}
    refused = re.search(r"^REFUSED (\d+)", done.stdout, re.M)
    return False, int(refused[1]) if refused else 0, set()


def steps() -> dict[int, str]:
    text = (MODELS / "append.pml").read_text()
    text = text[text.index("/* steps of a process") : text.index("/* the file:")]
    return {int(n): name for name, n in re.findall(r"^#define (\w+) (\d+)", text, re.M)}


def check(folder: Path, former: bool) -> int:
    """Fails if a stretch is refused, or if its check takes more than a minute."""
    taken: set[int] = set()
    refused = total = 0
    for path in sorted(folder.glob("*.events")):
        trace = read_raw(path)
        files = sorted({c.words[1] for c in trace.calls if len(c.words) > 1 and c.words[1].startswith("vault:")})
        lines = path.read_text().splitlines()
        for file in files:
            users = {c.process for c in trace.calls if len(c.words) > 1 and c.words[1] == file}
            machines = {trace.machines.get(p, 0) for p in users}
            if len(machines) > 1:
                print(f"skipped   {path.name} {file}: machines share it")
                continue
            for stretch in Abstraction(trace, file, machines.pop(), former).stretches():
                total += 1
                is_accepted, line, covered = accepted(stretch, former)
                taken |= covered
                if line < 0:
                    refused += 1
                    print(f"UNFINISHED {path.name} {stretch.name} ({len(stretch.events)} events, {stretch.sizes})")
                elif is_accepted:
                    print(f"accepted  {path.name} {stretch.name} ({len(stretch.events)} events)")
                else:
                    refused += 1
                    print(f"REFUSED   {path.name} {stretch.name}: line {line}: {lines[line - 1][:100] if line else '?'}")
    names = steps()
    missing = [names[n] for n in sorted(names) if n not in taken and n < 34]
    print(f"steps of append.pml that no trace has taken: {', '.join(missing) or 'none'}")
    print(f"{total - refused} of {total} stretches accepted")
    return 1 if refused or not total else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", folder, *rest]:
            sys.exit(check(Path(folder), "--former" in rest))
        case ["strace", log, vault]:
            print("\n".join(raw_of_strace(Path(log), vault)))
        case _:
            sys.exit(__doc__)
