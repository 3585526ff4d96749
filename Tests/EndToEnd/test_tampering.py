"""Every changed byte of a vault is noticed: a vault with twenty entries, over a checkpoint and a tail."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from copies import Result, in_copies
from histories import History
from homes import Home
from layout import CHECKPOINT_START, FRAME_SIZE, HINT, checkpoint_end, log_end, records

DAMAGED, ALARM = 6, 9
# One flip for each byte; which bits, changes from byte to byte.
FLIPS = (0x01, 0x80, 0xFF, 0x10, 0x02)


@contextmanager
def changed(home: Home, place: int, content: bytes) -> Iterator[None]:
    """The vault with other bytes at a place, for as long as it takes."""
    file = os.open(home.vault, os.O_RDWR)
    try:
        before = os.pread(file, len(content), place)
        assert before != content
        os.pwrite(file, content, place)
        yield
        os.pwrite(file, before, place)
    finally:
        os.close(file)


def for_each_byte(
    home: Home, folder: Path, places: Iterable[int], examine: Callable[[Home, int], Result]
) -> dict[int, Result]:
    """What `examine` finds for the vault with one byte changed, for each place."""
    original = home.vault.read_bytes()

    def at(copy: Home, place: int) -> Result:
        with changed(copy, place, bytes([original[place] ^ FLIPS[place % len(FLIPS)]])):
            return examine(copy, place)

    return in_copies(home, folder, places, at)


def verify(home: Home, _: int) -> int:
    return home.run("verify").returncode


def of_the_log(history: History) -> list[int]:
    """All bytes that mean something: up to the log's end, without the hint."""
    return [place for place in range(log_end(history.home.vault)) if place not in HINT]


def of_nobody(history: History) -> list[int]:
    """The hint, and some of the zeros behind the place where the next record would begin."""
    start, size = log_end(history.home.vault) + FRAME_SIZE, history.home.vault.stat().st_size
    return [*HINT, *range(start, start + 40), *range(start + 40, size, 1021), size - 1]


def test_the_vault_that_is_tampered_with_has_all_parts(twenty: History) -> None:
    assert len(twenty.values) == 20 and twenty.home.values() == twenty.values
    assert checkpoint_end(twenty.home.vault.read_bytes()) > CHECKPOINT_START + 1500
    assert len(records(twenty.home.vault)) == 12
    assert set(twenty.home.vault.read_bytes()[log_end(twenty.home.vault) :]) == {0}
    twenty.home.output("verify")


def test_every_changed_byte_of_the_log_fails_to_verify(twenty: History, tmp_path: Path) -> None:
    codes = for_each_byte(twenty.home.without_memory(), tmp_path, of_the_log(twenty), verify)
    assert {place: code for place, code in codes.items() if code != DAMAGED} == {}


def test_changed_bytes_fail_to_verify_with_the_memory_in_place(twenty: History, tmp_path: Path) -> None:
    codes = for_each_byte(twenty.home, tmp_path, of_the_log(twenty)[::5], verify)
    assert {place: code for place, code in codes.items() if code not in (DAMAGED, ALARM)} == {}


@pytest.mark.parametrize("memory", [True, False], ids=["with memory", "without memory"])
def test_bytes_that_are_nobodys_change_nothing(twenty: History, tmp_path: Path, memory: bool) -> None:
    def examine(home: Home, place: int) -> tuple[int, bool]:
        return verify(home, place), home.values() == twenty.values

    home = twenty.home if memory else twenty.home.without_memory()
    found = for_each_byte(home, tmp_path, of_nobody(twenty), examine)
    assert {place: result for place, result in found.items() if result != (0, True)} == {}


def test_a_changed_byte_where_the_next_record_would_begin_is_damage_or_nothing(twenty: History, tmp_path: Path) -> None:
    """It may be all that is left of a record."""

    def examine(home: Home, place: int) -> tuple[int, bool]:
        code = verify(home, place)
        return code, code != 0 or home.values() == twenty.values

    end = log_end(twenty.home.vault)
    found = for_each_byte(twenty.home, tmp_path, range(end, end + FRAME_SIZE), examine)
    assert set(found.values()) <= {(0, True), (DAMAGED, True)}


def test_no_changed_byte_makes_a_value_wrong_or_absent(twenty: History, tmp_path: Path) -> None:
    names = sorted(twenty.values)

    def examine(home: Home, place: int) -> tuple[int, bytes]:
        finished = home.run("get", names[place % len(names)])
        return finished.returncode, finished.stdout

    found = for_each_byte(twenty.home.without_memory(), tmp_path, of_the_log(twenty)[::3], examine)
    wrong = {
        place: (code, output)
        for place, (code, output) in found.items()
        if (code, output) != (0, twenty.values[names[place % len(names)]])
        and (code, output) != (DAMAGED, b"")
    }
    assert wrong == {}


def test_no_changed_byte_makes_ls_forget_a_name(twenty: History, tmp_path: Path) -> None:
    whole = "".join(f"{name}\n" for name in sorted(twenty.values)).encode()

    def examine(home: Home, _: int) -> tuple[int, bytes]:
        finished = home.run("ls")
        return finished.returncode, finished.stdout

    found = for_each_byte(twenty.home.without_memory(), tmp_path, of_the_log(twenty)[1::3], examine)
    wrong = {
        place: (code, output)
        for place, (code, output) in found.items()
        if (code, output) not in ((0, whole), (DAMAGED, b""))
    }
    assert wrong == {}


def test_the_error_says_what_and_where(twenty: History) -> None:
    record = records(twenty.home.vault)[3]
    with changed(twenty.home, record.place + 60, b"\xaa\xbb\xcc"):
        sentence = twenty.home.refusal(DAMAGED, "verify")
    assert str(twenty.home.vault) in sentence and str(record.place) in sentence


def test_nothing_is_written_to_a_damaged_vault(twenty: History) -> None:
    home = twenty.home
    record = records(home.vault)[3]
    with changed(home, record.place + 60, b"\xaa\xbb\xcc"):
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
    with changed(home, record.place, bytes(record.end - record.place)):
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
    parts = [data[record.place : record.end] for record in records(home.vault)]
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
    place = records(here.vault)[-1].place
    foreign = there.vault.read_bytes()[place : records(there.vault)[-1].end]
    with changed(here, place, foreign):
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
