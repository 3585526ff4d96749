"""What is told while a command works or waits for long."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from homes import Home
from terminals import Terminal


@contextmanager
def held_by_us(home: Home) -> Iterator[None]:
    """Another process writes to the vault."""
    with home.vault.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


WAITING = f"vault: Waiting for another process ({os.getpid()}).\n"


@pytest.mark.parametrize("words", [("set", "b"), ("rm", "a"), ("compact",), ("verify",)], ids=" ".join)
def test_what_is_waited_for_is_said_after_a_second(home: Home, words: tuple[str, ...]) -> None:
    home.set("a", b"x")
    with held_by_us(home):
        process = home.start(*words)
        process.stdin.write(b"y")
        process.stdin.close()
        assert process.stderr.readline() == WAITING.encode()
    assert process.wait() == 0
    assert process.stderr.read() == b""
    process.stdout.close()
    process.stderr.close()


def test_a_short_wait_and_programs_are_told_nothing(home: Home) -> None:
    home.set("a", b"x")
    with held_by_us(home):
        assert b"Waiting" not in home.run("rm", "a", "--timeout", "0.8").stderr
        finished = home.run("rm", "a", "--timeout", "1.5", "--json")
    assert finished.returncode == 7 and finished.stderr.count(b"\n") == 1 and b"Waiting" not in finished.stderr


@pytest.mark.parametrize("words", [("verify",), ("compact",), ("salvage", "out")], ids=" ".join)
def test_progress_is_shown_at_a_terminal_and_goes_away(home: Home, words: tuple[str, ...]) -> None:
    home.set("a", b"x")
    with ExitStack() as lock:
        lock.enter_context(held_by_us(home))
        with Terminal(home, *words) as terminal:
            terminal.expect("ing: 0 %\r")
            lock.close()
            code, shown = terminal.end()
    assert code == 0 and b"\x1b[K" in shown and b"%" not in shown.split(b"\x1b[K")[-1]
