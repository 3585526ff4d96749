"""Kills, errors and short writes at the system calls of a run."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

from cases import Case, require, sample
from homes import Home
from judge import Ready, judge
from scenarios import BY_NAME, Scenario
from shared_homes import SharedHome
from tracing import AROUND, CHANGING, CONNECTING, Call, trace, with_faults
from volumes import fill

READING = ("read", "pread64", "fstat", "newfstatat", "statx", "lseek", "getdents64", "readlink")
OTHERS = ("fcntl", "mmap", "munmap", "mprotect", "madvise", "mlock", "munlock", "getrandom", "brk", "fstatfs", "access",
          "faccessat2", "ioctl", "rt_sigaction", "utimensat", "umask", "geteuid", "prlimit64", "fchmodat")  # fmt: skip
EVERY = CHANGING + AROUND + READING + OTHERS

# What the kernel may answer. EINTR comes from what can be interrupted, EMFILE from what opens.
NO_ROOM, DENIED = ("ENOSPC", "EDQUOT"), ("EACCES",)
ERRORS = {
    "openat": ("EIO", *DENIED, "EMFILE", *NO_ROOM),
    "pwrite64": ("EIO", *NO_ROOM, "EINTR"),
    "write": ("EIO", *NO_ROOM, "EINTR"),
    "pread64": ("EIO", "EINTR"),
    "read": ("EIO", "EINTR"),
    "fdatasync": ("EIO", *NO_ROOM, "EINTR"),
    "fsync": ("EIO", *NO_ROOM, "EINTR"),
    "flock": ("EINTR", "ENOLCK"),
    "ftruncate": ("EIO", *NO_ROOM, "EINTR"),
    "fallocate": ("EIO", *NO_ROOM, "EINTR"),
    **dict.fromkeys(("rename", "renameat2", "link", "linkat", "mkdir", "mkdirat"), ("EIO", *NO_ROOM, *DENIED)),
    **dict.fromkeys(("unlink", "unlinkat", "fchmod", "fchown", "newfstatat", "statx", "readlink"), ("EIO", *DENIED)),
    **dict.fromkeys(("fstat", "lseek", "getdents64"), ("EIO",)),
}
# Those that are made again when a signal came between.
RESTARTED = ("fdatasync", "fsync", "pwrite64", "write", "pread64", "read", "flock")
# A disk that is gone, and one that is full, from a call on.
WRITING = ("pwrite64", "fdatasync", "fsync", "rename", "renameat2", "fallocate", "link", "mkdir")
LASTING = {"EIO+": (*WRITING, "pread64", "unlink", "ftruncate"), "ENOSPC+": WRITING}
# What a network answers; from a call on, if it is gone.
NETWORK_ERRORS = {
    "connect": ("ECONNREFUSED", "ETIMEDOUT", "EHOSTUNREACH"),
    "poll": ("EINTR", "ENOMEM"),
    "sendto": ("ECONNRESET", "EPIPE", "ETIMEDOUT"),
    "recvfrom": ("ECONNRESET", "EPIPE", "ETIMEDOUT"),
}
LASTING["ENETDOWN+"] = ("connect", "sendto", "recvfrom")


SOCKET = re.compile(r"[(=]\d+<(socket|TCP)")


def calls_of(home: Home, template: Home, scenario: Scenario) -> list[Call]:
    """The calls of a run, from the first that touches the home on."""
    runs = []
    for _ in range(3):
        home.restore(template)
        names = CONNECTING if scenario.is_shared else EVERY
        runs.append(trace(home, *scenario.words, stdin=scenario.stdin, names=names))
    home.restore(template)
    if scenario.is_shared:
        return [call for call in min(runs, key=len) if call.name == "socket" or SOCKET.search(call.line)]
    # A run that takes more than 50 ms looks at the vault's path once more. A faster one would not reach that call.
    calls = min(runs, key=len)
    first = next(index for index, call in enumerate(calls) if str(home.folder) in call.line or "(0<" in call.line)
    return calls[first:]


def cases_of(
    ready: Ready, name: str, kinds: set[str], chance: Random | None, has_volumes: bool
) -> Iterator[Case]:
    """All cases of a scenario, or with `chance` those of the quick form."""
    calls = ready.calls
    if BY_NAME[name].is_shared:
        return (yield from cases_on_a_connection(calls, name, kinds, chance))
    if "kill" in kinds:
        killed = [call for call in calls if chance is None or call.name in CHANGING + AROUND]
        yield from (Case(name, f"{call}/KILL", "kill") for call in killed)
    if "error" in kinds:
        mine = [call for call in calls if str(ready.home.folder) in call.line and call.name in ERRORS]
        yield from (Case(name, f"{call}/{error}", "error") for call in mine for error in errors_of(call, chance))
    if "short" in kinds:
        limits, rooms = limits_of(ready.home, calls, chance is None), range(pages_of(ready.home, calls))
        whats = sample([f"fsize:{limit}" for limit in sorted(limits)], chance, 12)
        whats += sample([f"room:{pages}" for pages in rooms if has_volumes], chance, 5)
        yield from (Case(name, what, "short") for what in whats)


def cases_on_a_connection(calls: list[Call], name: str, kinds: set[str], chance: Random | None) -> Iterator[Case]:
    if "kill" in kinds:
        killed = [f"{call}/KILL" for call in calls]
        yield from (Case(name, what, "kill") for what in sample(killed, chance, 7))
    if "error" in kinds:
        failing = [call for call in calls if call.name in NETWORK_ERRORS]
        errors = [f"{call}/{error}" for call in failing for error in NETWORK_ERRORS[call.name]]
        # The command tries for ten seconds.
        errors += [f"{call}/ENETDOWN+" for call in failing if chance is None and call.name in LASTING["ENETDOWN+"]]
        yield from (Case(name, what, "error") for what in sample(errors, chance, 7))


def errors_of(call: Call, chance: Random | None) -> list[str]:
    lasting = [fault for fault, names in LASTING.items() if call.name in names]
    if chance is None:
        return [*ERRORS[call.name], *lasting]
    return [chance.choice(ERRORS[call.name]), *(fault for fault in lasting if chance.random() < 0.25)]


def writes_of(home: Home, calls: list[Call]) -> Iterator[tuple[int, int]]:
    """Where each write to a file begins and ends."""
    offsets: dict[str, int] = {}
    for call in calls:
        if str(home.folder) not in call.line:
            continue
        if found := re.search(r"pwrite64\(.*, (\d+), (\d+)\) += ", call.line):
            length, offset = int(found[1]), int(found[2])
        elif found := re.search(r" write\(\d+<([^>]*)>.*, (\d+)\) += ", call.line):
            length, offset = int(found[2]), offsets.get(found[1], 0)
            offsets[found[1]] = offset + length
        elif found := re.search(r"fallocate\(.*, (\d+), (\d+)\) += ", call.line):
            offset, length = int(found[1]), int(found[2])
        else:
            continue
        yield offset, offset + length


def limits_of(home: Home, calls: list[Call], every: bool) -> set[int]:
    """Sizes of files at which some write is cut: at its first byte, one after, in the middle, before its last one."""
    limits: set[int] = set()
    for start, end in writes_of(home, calls):
        limits |= {start, start + 1, (start + end) // 2, end - 1}
        limits |= set(range(-(-start // 512) * 512, end, 512 if end - start < 40_000 else 16_384))
        if every and end - start <= 1_024:
            limits |= set(range(start, end))
        elif every:
            limits |= {limit + 1 for limit in range(start, end - 1, 4_096)}
    return limits


def pages_of(home: Home, calls: list[Call]) -> int:
    """Free pages with which nothing is short of room."""
    return sum((end - start) // 4_096 + 1 for start, end in writes_of(home, calls)) + 6


def attempt(
    home: Home, scenario: Scenario, case: Case, calls: list[Call]
) -> tuple[subprocess.CompletedProcess[bytes], bool]:
    """The run with the fault, and whether the fault was in its output."""
    at, _, fault = case.what.partition("/")
    name, _, number = at.partition(":")
    if name == "fsize":
        limited = home.started_through("prlimit", f"--fsize={number}:{number}", "--")
        return limited.run(*scenario.words, stdin=scenario.stdin), False
    # How often a run waits for a server depends on the server: the last call stands in for one that another run had.
    latest = [call for call in calls if call.name == name][-1:] if scenario.is_shared else []
    call = next((call for call in calls if str(call) == at), *latest or [None])
    require(call is not None, "there is no such call in this run")
    number = call.ordinal
    if fault == "KILL":
        faults = {name: f"signal=KILL:when={number}"}
    elif fault in LASTING:
        faults = {other: f"error={fault[:-1]}:when={ordinal}+" for other, ordinal in from_then_on(calls, call, fault)}
    else:
        faults = {name: f"error={fault}:when={number}"}
    if isinstance(home, SharedHome):
        finished = with_network_faults(home, faults, scenario)
    else:
        finished = with_faults(home, faults, *scenario.words, stdin=scenario.stdin)
    return finished, re.search(r"\([12]<", call.line) is not None


def with_network_faults(
    home: SharedHome, faults: dict[str, str], scenario: Scenario
) -> subprocess.CompletedProcess[bytes]:
    # What could not be sent never comes: the connection is broken, for the server as well. libpq tells it only as it
    # reads.
    is_broken = "sendto" in faults and "error" in faults["sendto"]
    finished = with_faults(
        home, faults, *scenario.words, is_reached=False, stdin=scenario.stdin,
        once_reached=(lambda: home.cluster.end_sessions(home.name)) if is_broken else None)
    home.cluster.wait_until_idle(home.name)
    return finished


def from_then_on(calls: list[Call], call: Call, fault: str) -> Iterator[tuple[str, int]]:
    """The ordinal from which on the calls of each name fail."""
    before = calls[: calls.index(call)]
    for name in LASTING[fault]:
        earlier = [other.ordinal for other in before if other.name == name]
        ahead = [other.ordinal for other in calls if other.name == name]
        yield name, max(earlier) + 1 if earlier else min(ahead, default=1)


def attempt_with_room(
    home: Home, scenario: Scenario, pages: int
) -> subprocess.CompletedProcess[bytes]:
    """The run on a file system of its own in which so many pages are free."""
    filler = fill(home.folder.parent)
    os.truncate(filler, filler.stat().st_size - pages * 4_096)
    finished = home.run(*scenario.words, stdin=scenario.stdin)
    filler.unlink()
    return finished


def is_behind_the_flush(calls: list[Call], case: Case) -> bool:
    """Whether a kill comes after the last flush of the vault, or the last answer of its server: what was changed is on
    the disk."""
    flushes = [
        index for index, call in enumerate(calls)
        if call.name == "fdatasync" and "default.vault>" in call.line or call.name == "recvfrom"
    ]  # fmt: skip
    # How often a run waits for a server depends on the server: the poll of that number may come before its answer.
    behind = [call for call in calls[flushes[-1] + 1 :] if call.name != "poll"] if flushes else []
    return any(case.what == f"{call}/KILL" for call in behind)


def run(ready: Ready, scenario: Scenario, case: Case) -> None:
    """Puts the fault in and judges what became of it."""
    home, calls = ready.home, ready.calls
    home.restore(ready.template)
    is_output = False
    if case.what.startswith("room:"):
        finished = attempt_with_room(home, scenario, int(case.what.removeprefix("room:")))
    else:
        finished, is_output = attempt(home, scenario, case, calls)
    if scenario.is_shared and not case.what.endswith("+"):
        require(b"may or may not" not in finished.stderr, "a server answers that knows", finished)
    if case.what.endswith("/EINTR") and case.what.startswith(RESTARTED):
        require(finished.returncode == 0, "an interrupted call was not made again", finished)
    judge(ready, scenario, finished, is_output, is_behind_the_flush(calls, case))
