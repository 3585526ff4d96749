"""Makes events of compaction.pml of a raw trace: the files that follow each other under a vault's name on one machine.

They end with the first power loss, and with the first call that fails and that append.pml is about.
"""

from raw_traces import HEADER_END, Call, Event, Stretch, Trace, frame, is_read_before

CHANGES_OF_FILES = {"compact", "rotate", "addKey", "removeKey"}


class Folder:
    """The events of a machine."""

    def __init__(self, trace: Trace, machine: int) -> None:
        self.trace, self.machine = trace, machine
        self.out = Stretch("", model="compaction")
        # The vault's files by their names in the trace: that at the path first, then those that are to replace it.
        self.files: dict[str, int] = {}
        self.creator: dict[str, int] = {}
        self.path = ""
        self.held: dict[str, int] = {}
        self.shared: set[tuple[int, str]] = set()
        self.slots: dict[int, int] = {}
        self.free: list[int] = []
        # The log positions by their authenticators; headers become known once they are remembered.
        self.positions: dict[str, int] = {}
        self.count = 1
        self.header: dict[str, int] = {}
        self.published: set[str] = set()
        self.records: dict[int, int] = {}
        self.last_use = {c.process: n for n, c in enumerate(trace.calls)}

    def stretch(self) -> Stretch | None:
        """Returns the events; None if there was no vault."""
        ending = "the end"
        for n, call in enumerate(self.trace.calls):
            if call.name == "power":
                if call.process == -1 - self.machine:
                    ending = f"before line {call.line}"
                    break
                continue
            if self.trace.machines.get(call.process, self.machine) != self.machine:
                continue
            if not self.path:
                self.look_for_path(call)
            elif not self.take(call, n):
                ending = f"before line {call.line}"
                break
            if n == self.last_use[call.process] and call.process in self.slots:
                if call.name != "killed":
                    self.add("KILLED", call)
                self.free.append(self.slots.pop(call.process))
        if not self.path:
            return None
        out = self.out
        out.name = f"folder of machine {self.machine}, until {ending}"
        out.sizes = {
            "COMPACTORS": max(out.processes, 1), "WRITERS": 0, "READERS": 0, "FILES": len(self.files) + 1,
            "POSITIONS": self.count + 2, "MOST": max(self.records.values(), default=0) + 2,
        }
        return out

    def look_for_path(self, call: Call) -> None:
        """The path leads to the first file that is read, or, without one, to the first that is renamed."""
        file = call.words[1] if len(call.words) > 1 else ""
        if not file.startswith("vault:"):
            return
        if call.name == "write":
            self.creator.setdefault(file, call.process)
        elif call.name == "lock" and call.words[3] == "ok":
            self.held[file] = call.process
        elif call.name in ("unlock", "close"):
            self.held.pop(file, None)
        is_renamed = call.name == "rename" and call.words[2] == "ok"
        if is_renamed or call.name == "read" and file not in self.creator:
            self.path = file
            self.files[file] = 0
            self.published.add(file)
            holder = self.held.get(file)
            self.held.clear()
            if is_renamed and holder is not None:
                self.held[file] = holder
                self.add("CREATE", call, file=0)

    def add(self, kind: str, call: Call, a: int = 0, file: int = 0) -> None:
        if call.process not in self.slots:
            self.slots[call.process] = self.free.pop() if self.free else self.out.processes
            self.out.processes = max(self.out.processes, self.slots[call.process] + 1)
            if kind != "CREATE" or self.out.events:
                self.out.events.append(Event("START", self.slots[call.process], line=call.line))
        self.out.events.append(Event(kind, self.slots[call.process], a, file=file, line=call.line))

    def take(self, call: Call, n: int) -> bool:
        """Takes a call. Returns false if the trace is of no use from then on."""
        words, process = call.words, call.process
        file = words[1] if len(words) > 1 else ""
        match call.name:
            case "open" if file.startswith("vault:") and file not in self.files:
                self.creator.setdefault(file, process)
            case "lock" if file.startswith("vault:") and words[3] == "ok":
                self.lock(call, file)
            case "unlock" | "close" if file.startswith("vault:"):
                self.unlock(call, file)
            case "remove" if file in self.files and file != self.path:
                self.held.pop(file, None)
                self.add("REMOVE", call, file=self.files[file])
            case "flush" if file in self.files:
                if words[2] != "ok":
                    return False
                self.add("FLUSH", call, 1, self.files[file])
            case "flushfolder":
                self.add("FLUSH_FOLDER", call, int(words[1] == "ok"))
            case "rename" if file in self.files:
                if words[2] != "ok":
                    return False
                self.path = file
                self.published.add(file)
                self.add("RENAME", call, file=self.files[file])
                self.header[file] = self.count
                self.count += 1
            case "write" if file in self.files:
                return self.write(call, n, file)
            case "write" if file == f"seen:{self.machine}":
                if words[5] != "ok":
                    return False
                self.add("SEEN", call, self.position(words[4][64:96]))
            case "end":
                self.end(call)
            case "killed":
                if any(file in self.files for file in self.written_and_unflushed(process)):
                    return False
                for name in [name for name, holder in self.held.items() if holder == process]:
                    del self.held[name]
                self.shared = {held for held in self.shared if held[0] != process}
                self.add("KILLED", call)
        return True

    # The last write of a record by a process is not flushed yet.
    def written_and_unflushed(self, process: int) -> list[str]:
        slot = self.slots.get(process)
        names = {number: name for name, number in self.files.items()}
        for event in reversed(self.out.events):
            if event.process == slot and event.kind in ("WRITE", "FLUSH", "START"):
                return [names[event.file]] if event.kind == "WRITE" else []
        return []

    def lock(self, call: Call, file: str) -> None:
        process = call.process
        if file not in self.files:
            # What another process has left is locked to be removed.
            if self.creator.get(file) != process:
                return
            self.files[file] = len(self.files)
            self.held[file] = process
            return self.add("CREATE", call, file=self.files[file])
        if file not in self.published:
            return None
        if call.words[2] == "exclusive":
            self.held[file] = process
            self.add("LOCK_EXCLUSIVE", call, file=self.files[file])
        else:
            self.shared.add((process, file))
            self.add("LOCK_SHARED", call, file=self.files[file])
        return None

    def unlock(self, call: Call, file: str) -> None:
        if self.held.get(file) == call.process:
            del self.held[file]
            if file in self.published:
                self.add("UNLOCK", call, file=self.files[file])
        elif (call.process, file) in self.shared:
            self.shared.remove((call.process, file))
            self.add("UNLOCK", call, file=self.files[file])

    def write(self, call: Call, n: int, file: str) -> bool:
        offset, content, result = int(call.words[2]), call.words[4], call.words[5]
        if file not in self.published:
            if result == "ok" and not (self.out.events[-1].kind == "WRITE_NEW" and self.out.events[-1].file == self.files[file]):
                self.add("WRITE_NEW", call, file=self.files[file])
            return True
        head = frame(content)
        if offset < HEADER_END or content == "zeros" or head is None:
            return True
        if result != "ok":
            return False
        # The newest record, again, before the first new one.
        is_first = self.files[file] == 0 and 0 not in self.records
        if head[1] in self.positions or is_first and is_read_before(self.trace.calls, n, offset, head[0]):
            return True
        self.positions[head[1]] = self.count
        self.count += 1
        self.records[self.files[file]] = self.records.get(self.files[file], 0) + 1
        self.add("WRITE", call, file=self.files[file])
        return True

    def position(self, authenticator: str) -> int:
        """A record's position, or that of the header of the file at the path; 0 for what was there at first."""
        if authenticator not in self.positions:
            self.positions[authenticator] = self.header.pop(self.path, 0)
        return self.positions[authenticator]

    def end(self, call: Call) -> None:
        operation, result = call.words[1], call.words[2]
        if operation in CHANGES_OF_FILES:
            kind = {"done": "DONE", "refused": "REFUSED", "unknown": "UNKNOWN"}.get(result)
        elif operation in ("get", "list"):
            kind = "GIVEN" if result == "done" else "FAILED"
        else:
            return
        if kind and call.process in self.slots:
            self.add(kind, call)
