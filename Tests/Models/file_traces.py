"""Makes events of append.pml of a raw trace: one vault file on one machine, from one power loss to the next."""

from collections import defaultdict
from dataclasses import dataclass

from raw_traces import HEADER_END, MAGIC, MARK, Call, Event, Stretch, Trace, frame, is_read_before


@dataclass
class Record:
    number: int
    start: int
    size: int


OPERATIONS = {"set": "DONE", "remove": "DONE", "get": "GIVEN", "list": "GIVEN"}


class File:
    """Makes events of the raw trace for one file on one machine."""

    def __init__(self, trace: Trace, file: str, machine: int) -> None:
        self.trace, self.file, self.machine = trace, file, machine
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
        base = self.base(calls)
        if base:
            out.events.append(Event("BASE", 0, base.start, base.start + base.size))
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
            out.events.append(Event(kind, slot(call.process, call.line), a, b, c, d, line=call.line))

        def add_record(authenticator: str, start: int, size: int) -> None:
            if authenticator not in fresh and (base is None or self.known.get(authenticator) is not base):
                fresh[authenticator] = len(fresh) + 1 + (base is not None)
                self.known[authenticator] = Record(fresh[authenticator], start, size)

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
                        add("MARK_FAILS" if failed else "MARK", call, int(content != "zeros"))
                        continue
                    if offset < HEADER_END:
                        continue
                    head = frame(content)
                    if content == "zeros":
                        add("ZEROS_FAIL" if failed else "ZEROS", call, offset, offset + length)
                    elif head is not None:
                        size, authenticator = head
                        add_record(authenticator, offset, size)
                        record = self.known[authenticator]
                        identity = fresh.get(authenticator, 1)
                        add("WRITE_FAILS" if failed else "WRITE", call, offset, offset + length, identity, record.start + record.size)
                    elif n in heads:
                        start, size, authenticator = heads[n]
                        add_record(authenticator, start, size)
                        add("PAYLOAD_FAILS" if failed else "PAYLOAD_BEFORE", call, offset, offset + length, fresh[authenticator], start + size)
                case "write" if words[1] == f"seen:{self.machine}" and words[5] == "ok":
                    authenticator = words[4][64:96]
                    flushed = int(words[4][96:98] == "01")
                    if authenticator in fresh or (base is not None and self.known.get(authenticator) is base):
                        add("SEEN", call, fresh.get(authenticator, 1), flushed)
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

    def base(self, calls: list[Call]) -> Record | None:
        """The newest record that was there at first, if the trace shows it: it is written again, remembered, or followed."""
        heads = self.heads(calls)
        start = None
        for n, call in enumerate(calls):
            if call.name != "write":
                continue
            if call.words[1] == f"seen:{self.machine}" and start is None and call.words[4][64:96] in self.known:
                return self.known[call.words[4][64:96]]
            if call.words[1] != self.file or int(call.words[2]) < HEADER_END or call.words[4] == "zeros":
                continue
            head = frame(call.words[4])
            offset, size, authenticator = (int(call.words[2]), *head) if head else heads.get(n, (0, 0, ""))
            if not authenticator:
                continue
            if start is None and authenticator in self.known:
                return self.known[authenticator]
            if start in (None, offset + size) and head and is_read_before(calls, n, offset, size):
                record = self.known[authenticator] = Record(1, offset, size)
                return record
            if start is None:
                start = offset
                for record in reversed(list(self.known.values())):
                    if record.start + record.size == start:
                        return record
        return None

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
