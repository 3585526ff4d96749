"""What must hold for a changed file: the right value or the right error, and nothing is written to a damaged one."""

from collections.abc import Collection
from dataclasses import dataclass

from cases import Case, require
from changes import changed, means_the_same
from homes import Home
from judge import rollback_is_noticed
from layout import FRAME_SIZE
from specimens import Specimen

OK, LOCKED, DAMAGED, ALARM = 0, 5, 6, 9


@dataclass(frozen=True)
class Expected:
    """How `verify` may end, and the states of which each value that is read must be."""

    codes: Collection[int]
    states: list[dict[str, bytes]]


def expected(specimen: Specimen, case: Case, data: bytes, remembers: bool) -> Expected:
    newest = [specimen.values]
    if specimen.changed == specimen.home.key:
        return Expected({OK, LOCKED}, newest)
    if specimen.changed != specimen.home.vault or data == specimen.content:
        return Expected({OK}, newest)
    if case.kind == "truncate":
        return expected_of_length(specimen, len(data), remembers)
    if means_the_same(specimen, data):
        # What is left of a record, perhaps.
        end = specimen.log_end
        begins = any(data[end : end + FRAME_SIZE])
        return Expected({OK, DAMAGED} if begins or case.kind == "splice" else {OK}, newest)
    if case.kind == "byte":
        # A byte of the last frame may be the only one of it that was not zero.
        return Expected({DAMAGED, ALARM} if remembers else {DAMAGED}, newest)
    return Expected({DAMAGED, ALARM}, newest) if remembers else Expected({OK, DAMAGED}, list(specimen.source_states))


def expected_of_length(specimen: Specimen, length: int, remembers: bool) -> Expected:
    if length < specimen.ends[0]:
        return Expected({DAMAGED}, [specimen.values])
    if length >= specimen.log_end:
        return Expected({OK}, [specimen.values])
    complete = sum(1 for end in specimen.ends if end <= length) - 1
    return Expected({ALARM}, [specimen.values]) if remembers else Expected({OK}, [specimen.states[complete]])


def run(specimen: Specimen, case: Case, index: int, every: bool) -> None:
    """Changes the file and judges: all commands with and without the memory, or in the quick form some in turn."""
    data = changed(specimen, case.what)
    modes = [True, False] if every else [index % 2 == 0]
    for remembers in [True] if specimen.changed.parent == specimen.home.memory else modes:
        specimen.put_back()
        specimen.changed.write_bytes(data)
        home = specimen.home if remembers else specimen.home.without_memory()
        expectation = expected(specimen, case, data, remembers)
        code = home.run("verify").returncode
        require(code in expectation.codes, f"verify ended with {code}, not {expectation.codes}; memory: {remembers}")
        if every or case.kind == "splice":
            readers = ["ls", *specimen.values]
        else:
            readers = [["ls", *specimen.values][index // 2 % (len(specimen.values) + 1)]]
        read(home, readers, expectation, code)
        require(specimen.changed.parent == home.memory or specimen.changed.read_bytes() == data, "a reader wrote to it")
        if every or index % 3 == 0:
            write(home, specimen, expectation, code, may_be_torn=case.kind == "splice" and not remembers)


def read(home: Home, readers: list[str], expectation: Expected, code: int) -> None:
    """A value is right, or the command ends as `verify` does."""
    possible = expectation.states
    for reader in readers:
        finished = home.run("ls") if reader == "ls" else home.run("get", reader)
        if code != OK and finished.returncode in expectation.codes and finished.returncode != OK:
            require(finished.stdout == b"", f"{reader}: an error, and yet an output", finished)
        elif reader == "ls":
            listed = finished.stdout.decode(errors="replace").split("\n")[:-1]
            possible = [state for state in possible if sorted(state) == listed]
            require(finished.returncode == OK and bool(possible), "wrong names", finished)
        else:
            value = finished.stdout if finished.returncode == OK else None
            possible = [state for state in possible if state.get(reader) == value]
            require(finished.returncode == OK or value is None and finished.returncode == 3, reader, finished)
            require(bool(possible), f"a wrong value of {reader}", finished)


def write(home: Home, specimen: Specimen, expectation: Expected, code: int, may_be_torn: bool) -> None:
    """A damaged vault is left as it is. What a command does not have to read may be damaged: then it stays so."""
    before = home.vault.read_bytes()
    finished = home.run("set", "alpha", stdin=b"written behind")
    if finished.returncode != OK:
        require(finished.returncode in expectation.codes, "set ended with", finished)
        # What passes for a torn tail is cleared before a page of the checkpoint is found to be damaged.
        after = home.vault.read_bytes()
        is_cleared = may_be_torn and after == before[: len(after.rstrip(b"\0"))].ljust(len(before), b"\0")
        require(after == before or is_cleared, "a damaged vault was written to")
        return
    again = home.run("verify").returncode
    require(again == code, f"verify ended with {code}, and after a set with {again}")
    if code != OK:
        return
    found = home.values()
    wanted = [state | {"alpha": b"written behind"} for state in expectation.states]
    require(found in wanted, f"after a set: {found}")
    if specimen.changed.parent == home.memory and "XDG_STATE_HOME" not in home.variables:
        rollback_is_noticed(home, before)
