"""Reads raw traces, and has what is made of them: the events of a model."""

from dataclasses import dataclass, field
from pathlib import Path

HEADER_END, MARK = 8192, 4080
MAGIC = "76726563"


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


def frame(content: str) -> tuple[int, str] | None:
    """The size of the record that begins with these bytes, and its authenticator."""
    if not content.startswith(MAGIC) or len(content) < 128:
        return None
    numbers = bytes.fromhex(content[8:32])
    index, payload = int.from_bytes(numbers[:4], "little"), int.from_bytes(numbers[4:], "little")
    return 48 + index + payload, content[96:128]


def is_read_before(calls: list[Call], n: int, offset: int, size: int) -> bool:
    """Whether the process of a write has just read these bytes of the same file: then it writes them again."""
    before = next((c for c in reversed(calls[:n]) if c.process == calls[n].process), None)
    return before is not None and before.words[:4] == ["read", calls[n].words[1], str(offset), str(size)]


@dataclass
class Event:
    kind: str
    process: int
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    file: int = 0
    line: int = 0


@dataclass
class Stretch:
    """The events of a part of a trace, for a model. Those of a file have offsets in bytes until `cells` replaces them."""

    name: str
    model: str = "append"
    events: list[Event] = field(default_factory=list)
    records: int = 0
    threads: int = 1
    processes: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
