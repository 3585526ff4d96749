"""What is said of a vault that was tampered with. Tools/sweep changes every byte; see Tests/Sweeps."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from histories import History
from homes import Home
from layout import checkpoint_end, log_end, records

DAMAGED, ALARM = 6, 9


@contextmanager
def changed(home: Home, offset: int, content: bytes) -> Iterator[None]:
    """The vault with other bytes at a place, for as long as it takes."""
    file = os.open(home.vault, os.O_RDWR)
    try:
        before = os.pread(file, len(content), offset)
        assert before != content
        os.pwrite(file, content, offset)
        yield
        os.pwrite(file, before, offset)
    finally:
        os.close(file)


def test_the_error_says_what_and_where(twenty: History) -> None:
    record = records(twenty.home.vault)[3]
    with changed(twenty.home, record.offset + 60, b"\xaa\xbb\xcc"):
        sentence = twenty.home.refusal(DAMAGED, "verify")
    assert str(twenty.home.vault) in sentence and str(record.offset) in sentence


def test_nothing_is_written_to_a_damaged_vault(twenty: History) -> None:
    home = twenty.home
    record = records(home.vault)[3]
    with changed(home, record.offset + 60, b"\xaa\xbb\xcc"):
        before = home.vault.read_bytes()
        for words in (("set", "entry-00"), ("rm", "entry-00"), ("compact",), ("mv", "entry-00", "x")):
            home.refusal(DAMAGED, *words, stdin=b"new")
        assert home.vault.read_bytes() == before
    assert home.values() == twenty.values


@pytest.mark.parametrize("index", range(12))
@pytest.mark.parametrize("memory", [True, False], ids=["with memory", "without memory"])
def test_a_record_that_was_zeroed_is_noticed(twenty: History, index: int, memory: bool) -> None:
    home = twenty.home if memory else twenty.home.without_memory()
    record = records(home.vault)[index]
    with changed(home, record.offset, bytes(record.end - record.offset)):
        if index < 11:
            home.refusal(DAMAGED, "verify")
            home.refusal(DAMAGED, "ls")
        elif memory:
            home.refusal(ALARM, "verify")
        else:
            assert home.values() == twenty.states[-2], "a torn tail is what a crash leaves"


@pytest.mark.parametrize(
    "arrange",
    [
        lambda parts: [parts[1], parts[0], *parts[2:]],
        lambda parts: parts[:3] + parts[4:],
        lambda parts: parts[:3] + parts[2:],
        lambda parts: [*parts, parts[-1]],
        lambda parts: parts[1:],
        lambda parts: parts[::-1],
    ],
    ids=["swapped", "dropped", "doubled", "last one doubled", "first one dropped", "reversed"],
)
def test_records_in_another_order_are_noticed(twenty: History, arrange: Callable[[list[bytes]], list[bytes]]) -> None:
    home = twenty.home.without_memory()
    data = home.vault.read_bytes()
    parts = [data[record.offset : record.end] for record in records(home.vault)]
    log = data[: checkpoint_end(data)] + b"".join(arrange(parts))
    home.vault.write_bytes(log.ljust(len(data), b"\0"))
    home.refusal(DAMAGED, "verify")
    home.refusal(DAMAGED, "get", "entry-15")
    home.refusal(DAMAGED, "set", "entry-15", stdin=b"new")


def test_a_record_of_a_diverged_copy_does_not_continue_the_log(twenty: History, tmp_path: Path) -> None:
    here, there = twenty.home.without_memory(), twenty.home.copy(tmp_path / "there").without_memory()
    for name in ("one", "two"):
        here.set(name, b"here")
        there.set(name, b"there")
    offset = records(here.vault)[-1].offset
    foreign = there.vault.read_bytes()[offset : records(there.vault)[-1].end]
    with changed(here, offset, foreign):
        here.refusal(DAMAGED, "verify")
        here.refusal(DAMAGED, "get", "two")


def test_garbage_behind_the_end_is_cleared_by_the_next_writer(twenty: History) -> None:
    home = twenty.home
    end, size = log_end(home.vault), home.vault.stat().st_size
    with home.vault.open("r+b") as file:
        file.seek(end + 512)
        file.write(b"vrec" + os.urandom(size - end - 516))
    assert home.values() == twenty.values
    home.set("entry-20", b"new")
    assert set(home.vault.read_bytes()[log_end(home.vault) :]) == {0}
    assert json.loads(home.output("verify", "--json"))["entries"] == 21
