"""strace: which system calls a run makes, and faults put into them one by one."""

import os
import re
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from homes import Home

# Those that change files, and those that come before and after them. A question mark: not every processor has it.
CHANGING = ("write", "pwrite64", "fdatasync", "fsync", "rename", "renameat", "renameat2", "ftruncate", "fallocate",
            "unlink", "unlinkat", "link", "linkat", "mkdir", "mkdirat", "fchmod", "fchown", "openat")  # fmt: skip
AROUND = ("close", "flock", "exit_group")
# Those on a connection to a server.
CONNECTING = ("socket", "connect", "getsockopt", "setsockopt", "getsockname", "poll", "sendto", "recvfrom", "close")
# The command keeps its memory from its user's other programs: strace would show no path, unless it is run by root.
READABLE = () if os.geteuid() == 0 else ("-e", "inject=prctl:retval=0")


@dataclass(frozen=True)
class Call:
    """One system call of a run: the how manieth of its name, and the whole line."""

    name: str
    ordinal: int
    line: str

    def __str__(self) -> str:
        return f"{self.name}:{self.ordinal}"


def expression(names: tuple[str, ...]) -> str:
    return "trace=" + ",".join(f"?{name}" for name in names)


def trace(home: Home, *arguments: str, stdin: bytes = b"", names: tuple[str, ...], strings: int = 64) -> list[Call]:
    """The calls with these names in a run that has to succeed; descriptors are shown with their paths."""
    log = home.folder.with_name(home.folder.name + ".strace")
    calls = expression((*names, "prctl"))
    options = ("-fyqq", f"-s{strings}", f"-o{log}", "-e", calls, "-e", "signal=none", *READABLE)
    home.started_through("strace", *options).output(*arguments, stdin=stdin)
    counts: Counter[str] = Counter()
    found = []
    for line in log.read_text(errors="surrogateescape").splitlines():
        name = re.match(r"\d+ +(\w+)\(", line)
        if name and name[1] in names:
            counts[name[1]] += 1
            # Where the run was started says nothing about the call.
            found.append(Call(name[1], counts[name[1]], re.sub(r"AT_FDCWD<[^>]*>", "AT_FDCWD", line)))
    assert found, f"strace shows no call: {log.read_text()}"
    log.unlink()
    return found


def with_faults(
    home: Home, faults: dict[str, str], *arguments: str, is_reached: bool = True,
    once_reached: Callable[[], object] | None = None, **options
) -> subprocess.CompletedProcess[bytes]:
    """A run with a fault in the calls of each name: `signal=KILL:when=3`, `error=EIO:when=1+`. `once_reached` is called
    as soon as one was put in, while the run goes on.

    How often a run waits for a server depends on the server: without `is_reached`, there may be no such call."""
    # Two may run at once.
    log = home.folder.with_name(f"{home.folder.name}.strace-{threading.get_ident()}")
    injected = [word for name, fault in faults.items() for word in ("-e", f"inject={name}:{fault}")]
    tracer = ("strace", "-f", "-qq", "-o", str(log), "-e", expression(tuple(faults)), *injected)
    with watching(log, once_reached) if once_reached else nullcontext():
        finished = home.started_through(*tracer).run(*arguments, **options)
    text = log.read_text(errors="replace")
    log.unlink()
    has_reached = re.search(r"INJECTED|--- SIG|killed by SIG", text)
    assert has_reached or not is_reached, f"the fault was not reached: {finished} {text}"
    return finished


@contextmanager
def watching(log: Path, once_reached: Callable[[], object]) -> Iterator[None]:
    """Calls back once strace has told of a fault that it put in."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.005):
            if log.exists() and "INJECTED" in log.read_text(errors="replace"):
                return once_reached()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def with_fault(
    home: Home, name: str, fault: str, *arguments: str, **options
) -> subprocess.CompletedProcess[bytes]:
    """A run with a fault in the calls of one name."""
    return with_faults(home, {name: fault}, *arguments, **options)
