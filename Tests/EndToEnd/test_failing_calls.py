"""Writes, flushes and reads that fail: an error with the old state, or none with the new one."""

import os
import subprocess

import pytest

from faults import at_every_call, calls_of, goes_on
from histories import History
from homes import VAULT_AND_KEY, Home
from tracing import CHANGING, Call, with_fault

EXIT_IO, EXIT_LOCKED = 8, 5
NEW = b"new " * 200


def is_write_to_vault(call: Call) -> bool:
    return call.name == "pwrite64" and "default.vault>" in call.line


def failing(home: Home, calls: list[Call]) -> list[Call]:
    """The calls that may fail on a real disk: not those of the program's start, nor its output."""
    places = (str(home.folder), "fdatasync", "fsync")
    return [call for call in calls if call.name in CHANGING and any(place in call.line for place in places)]


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize(
    "words", [("set", "entry-05"), ("set", "large"), ("rm", "entry-05"), ("compact",)], ids=" ".join
)
def test_a_call_that_fails_is_an_error_with_the_old_state_or_none_with_the_new(
    twenty: History, words: tuple[str, ...], error: str
) -> None:
    home, old = twenty.home, twenty.values
    value = os.urandom(300_000) if "large" in words else NEW
    new = {"rm": {name: old[name] for name in old if name != "entry-05"}, "compact": old}.get(
        words[0], old | {words[-1]: value}
    )
    last: subprocess.CompletedProcess[bytes]

    def attempt(call: Call) -> None:
        nonlocal last
        last = with_fault(home, call.name, f"error={error}:when={call.ordinal}", *words, stdin=value)

    def examine() -> None:
        assert last.returncode in (0, EXIT_IO, EXIT_LOCKED), last
        told = [line for line in last.stderr.splitlines() if not line.startswith(b"vault: warning: ")]
        assert (last.returncode == 0) == (told == []), last
        unknown = b"may or may not" in last.stderr
        goes_on(home, *([old, new] if unknown else [new] if last.returncode == 0 else [old]))

    at_every_call(home, failing(home, calls_of(home, *words, stdin=value)), attempt, examine)


@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EACCES"])
def test_a_call_that_fails_in_the_first_set_leaves_nothing_in_the_way(home: Home, error: str) -> None:
    last: subprocess.CompletedProcess[bytes]

    def attempt(call: Call) -> None:
        nonlocal last
        last = with_fault(home, call.name, f"error={error}:when={call.ordinal}", "set", "first", stdin=NEW)

    def examine() -> None:
        assert last.returncode in (0, EXIT_IO, EXIT_LOCKED), last
        assert (home.run("get", "first").stdout == NEW) == (last.returncode == 0)
        home.set("second", b"kept")
        assert "second" in home.names()
        home.output("verify")
        assert home.files() == VAULT_AND_KEY

    at_every_call(home, failing(home, calls_of(home, "set", "first", stdin=NEW)), attempt, examine)


def test_a_failed_flush_is_exit_8_and_the_old_state(twenty: History) -> None:
    home = twenty.home
    finished = with_fault(home, "fdatasync", "error=EIO:when=1", "set", "entry-05", stdin=NEW)
    assert finished.returncode == EXIT_IO and b"may or may not" not in finished.stderr
    assert b"Input/output error" in finished.stderr
    goes_on(home, twenty.values)


def test_flushes_that_keep_failing_are_exit_8_with_the_outcome_unknown(twenty: History) -> None:
    home = twenty.home
    finished = with_fault(home, "fdatasync", "error=EIO:when=1+", "set", "entry-05", stdin=NEW)
    assert finished.returncode == EXIT_IO and b"may or may not last" in finished.stderr
    assert b"vault verify" in finished.stderr
    goes_on(home, twenty.values, twenty.values | {"entry-05": NEW})


def test_a_write_without_room_is_exit_8_and_the_old_state(twenty: History) -> None:
    home = twenty.home
    write = next(call for call in calls_of(home, "set", "entry-05", stdin=NEW) if is_write_to_vault(call))
    finished = with_fault(home, write.name, f"error=ENOSPC:when={write.ordinal}", "set", "entry-05", stdin=NEW)
    assert finished.returncode == EXIT_IO and b"No space left on device" in finished.stderr
    assert b"make room" in finished.stderr
    goes_on(home, twenty.values)


def test_a_failed_compaction_takes_nothing_back_from_a_completed_set(twenty: History) -> None:
    home = twenty.home
    for turn in range(12):
        before = home.vault.stat().st_ino
        template = home.copy(home.folder.with_name(f"turn-{turn}"))
        home.set("large", b"%d" % turn * 60_000)
        if home.vault.stat().st_ino != before:
            break
    else:
        pytest.fail("no set compacted")
    home.restore(template)
    finished = with_fault(home, "rename", "error=EIO:when=1", "set", "large", stdin=NEW)
    assert finished.returncode == 0
    (warning,) = finished.stderr.splitlines()
    assert warning.startswith(b"vault: warning: ") and b"could not be compacted" in warning
    goes_on(home, twenty.values | {"large": NEW})


@pytest.mark.parametrize(
    "words", [("get", "entry-05"), ("get", "entry-15"), ("ls",), ("verify",), ("exists", "entry-05")]
)
def test_a_read_that_fails_is_never_an_absent_name_or_damage(twenty: History, words: tuple[str, ...]) -> None:
    home = twenty.home
    right = home.output(*words)
    for call in calls_of(home, *words, names=("pread64", "read", "openat")):
        if str(home.folder) in call.line:
            finished = with_fault(home, call.name, f"error=EIO:when={call.ordinal}", *words)
            expected = (0, right) if finished.returncode == 0 else (finished.returncode, b"")
            assert (finished.returncode, finished.stdout) == expected, call
            assert finished.returncode in (0, EXIT_LOCKED, EXIT_IO), (call, finished)


def test_interrupted_calls_are_made_again(twenty: History) -> None:
    home = twenty.home

    def attempt(call: Call) -> None:
        finished = with_fault(home, call.name, f"error=EINTR:when={call.ordinal}", "set", "entry-05", stdin=NEW)
        assert finished.returncode == 0, finished

    calls = calls_of(home, "set", "entry-05", stdin=NEW, names=("pwrite64", "pread64", "read", "flock", "openat"))
    assert {"pwrite64", "pread64", "read"} <= {call.name for call in calls}
    interruptible = [call for call in calls if call.name != "openat"]
    at_every_call(home, interruptible, attempt, lambda: goes_on(home, twenty.values | {"entry-05": NEW}))
