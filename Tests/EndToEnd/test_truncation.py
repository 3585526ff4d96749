"""A vault that was cut short: an error, or an earlier state that was acknowledged; never a hole in the middle."""

import itertools
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from copies import Result, in_copies
from histories import History
from homes import Home
from layout import checkpoint_end, log_end, records

DAMAGED, ALARM = 6, 9


def at_each_length(
    home: Home, folder: Path, lengths: Iterable[int], examine: Callable[[Home], Result]
) -> dict[int, Result]:
    """What `examine` finds for the vault cut to each of the lengths, the longest first."""

    def at(copy: Home, length: int) -> Result:
        os.truncate(copy.vault, length)
        return examine(copy)

    return in_copies(home, folder, sorted(lengths, reverse=True), at)


def state(home: Home) -> tuple[int, tuple[str, ...]]:
    finished = home.run("ls")
    return finished.returncode, tuple(finished.stdout.decode().split("\n")[:-1])


def test_a_vault_cut_within_its_log_is_an_error_where_the_memory_is_kept(twenty: History, tmp_path: Path) -> None:
    end, checkpoint = log_end(twenty.home.vault), checkpoint_end(twenty.home.vault.read_bytes())
    turns = itertools.cycle([("verify",), ("verify",), ("get", "entry-00"), ("ls",)])
    codes = at_each_length(twenty.home, tmp_path, range(end), lambda home: home.run(*next(turns)).returncode)
    assert {codes[length] for length in range(checkpoint, end)} == {ALARM}
    assert {codes[length] for length in range(checkpoint)} == {DAMAGED}


def test_a_vault_cut_within_its_tail_shows_an_earlier_state_where_nothing_is_remembered(
    twenty: History, tmp_path: Path
) -> None:
    end, checkpoint = log_end(twenty.home.vault), checkpoint_end(twenty.home.vault.read_bytes())
    ends = [checkpoint, *(record.end for record in records(twenty.home.vault))]
    home = twenty.home.without_memory()
    lengths = range(checkpoint, end + 1)
    found = at_each_length(home, tmp_path, lengths, lambda home: (home.run("verify").returncode, state(home)))
    for length, (verified, listed) in found.items():
        complete = sum(1 for place in ends if place <= length) - 1
        assert verified == 0, length
        assert listed == (0, tuple(sorted(twenty.states[complete]))), length


def test_the_values_of_each_earlier_state_are_those_of_that_time(twenty: History, tmp_path: Path) -> None:
    ends = [checkpoint_end(twenty.home.vault.read_bytes()), *(record.end for record in records(twenty.home.vault))]
    for place, values in zip(reversed(ends), reversed(twenty.states), strict=True):
        for length in (place + 200, place + 48, place + 16, place + 1, place):
            home = twenty.home.copy(tmp_path / f"cut-{length}").without_memory()
            os.truncate(home.vault, min(length, home.vault.stat().st_size))
            if length == place:
                assert home.values() == values
            complete = sum(1 for other in ends if other <= length) - 1
            home.set("next", b"goes on")
            assert home.values() == twenty.states[complete] | {"next": b"goes on"}
            home.output("verify")


def test_a_vault_cut_within_its_checkpoint_is_damaged(twenty: History, tmp_path: Path) -> None:
    checkpoint = checkpoint_end(twenty.home.vault.read_bytes())
    home = twenty.home.without_memory()
    codes = at_each_length(home, tmp_path, range(checkpoint), lambda home: home.run("verify").returncode)
    assert set(codes.values()) == {DAMAGED}


def test_a_cut_of_zeros_behind_the_end_loses_nothing(twenty: History, tmp_path: Path) -> None:
    end, size = log_end(twenty.home.vault), twenty.home.vault.stat().st_size
    lengths = [end, end + 1, end + 15, end + 16, end + 47, end + 48, *range(end + 49, size, 4099), size - 1]

    def examine(home: Home) -> tuple[int, bool]:
        return home.run("verify").returncode, home.values() == twenty.values

    found = at_each_length(twenty.home, tmp_path, lengths, examine)
    assert set(found.values()) == {(0, True)}


def test_writing_goes_on_after_the_zeros_were_cut(twenty: History) -> None:
    os.truncate(twenty.home.vault, log_end(twenty.home.vault))
    twenty.home.set("entry-20", b"new")
    assert twenty.home.values() == twenty.values | {"entry-20": b"new"}
    twenty.home.output("verify")


def test_a_vault_that_grew_by_zeros_is_as_it_was(twenty: History) -> None:
    os.truncate(twenty.home.vault, 1 << 20)
    assert twenty.home.values() == twenty.values
    twenty.home.set("entry-20", b"new")
    twenty.home.output("verify")
