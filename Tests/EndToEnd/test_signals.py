"""Signals: what was begun is left in order, and the command ends as any other would."""

import os
import resource
import signal
import subprocess

import pytest

from histories import History
from homes import VAULT_AND_KEY, Home
from layout import log_end
from tracing import trace, with_fault

pytestmark = pytest.mark.both_paths_in_full


def left_copies(home: Home) -> list[str]:
    return [path.name for path in home.vault.parent.iterdir() if path.name.endswith(".vault-new")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize("call", ["rename", "fsync"])
def test_a_compaction_that_a_signal_ends_leaves_no_copy(twenty: History, number: signal.Signals, call: str) -> None:
    home = twenty.home
    # The call itself is not made, and the first one that is flushed is the folder: the signal comes while the copy is there.
    when = {"rename": 1, "fsync": 2}[call]
    finished = with_fault(home, call, f"error=EIO:signal={number.name[3:]}:when={when}", "compact")
    assert finished.returncode == -number, "as a shell expects it"
    assert home.files() == VAULT_AND_KEY and home.values() == twenty.values
    home.output("verify")


def test_a_signal_that_is_ignored_stays_so(twenty: History) -> None:
    home = twenty.home
    finished = with_fault(home, "fsync", "signal=HUP:when=1", "compact", preexec_fn=ignore_hangup)
    assert finished.returncode == 0 and home.files() == VAULT_AND_KEY


def ignore_hangup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@pytest.mark.parametrize("words", [("set", "entry-05"), ("rm", "entry-05"), ("compact",)], ids=" ".join)
def test_the_next_writer_removes_the_copy_that_a_killed_compaction_left(twenty: History, words: tuple) -> None:
    home = twenty.home
    with_fault(home, "rename", "signal=KILL:when=1", "compact")
    assert len(left_copies(home)) == 1
    assert home.values() == twenty.values and len(left_copies(home)) == 1, "a reader leaves it alone"
    home.output(*words, stdin=b"new")
    assert home.files() == VAULT_AND_KEY


def test_the_copy_of_a_compaction_that_is_under_way_is_not_removed(twenty: History) -> None:
    """Whoever waits for the lock has not got it yet."""
    home = twenty.home
    compaction = home.started_through("strace", "-o", "/dev/null", "-e", "inject=rename:delay_enter=1500000")
    process = compaction.start("compact")
    while not left_copies(home):
        assert process.poll() is None
    home.set("entry-05", b"new")
    assert process.wait(20) == 0
    process.communicate()
    assert home.values() == twenty.values | {"entry-05": b"new"} and home.files() == VAULT_AND_KEY


# A reader that goes away


@pytest.mark.parametrize("words", [("ls",), ("ls", "--json"), ("ls", "-l"), ("get", "large"), ("help",)], ids=" ".join)
def test_a_reader_that_goes_away_ends_it_without_a_word(home: Home, words: tuple[str, ...]) -> None:
    home.set("large", os.urandom(1 << 20))
    finished = piped(home, *words, reader="true")
    assert finished == (-signal.SIGPIPE, b"")


def test_a_reader_that_takes_a_part_of_it_has_that_part(home: Home) -> None:
    home.set("large", b"v" * (1 << 20))
    script = f"{home.binary} get large | head -c 10"
    finished = subprocess.run(["bash", "-c", script], env=home.environment, capture_output=True)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, b"v" * 10, b"")


def test_where_the_signal_is_ignored_it_is_an_error(home: Home) -> None:
    home.set("large", os.urandom(1 << 20))
    code, said = piped(home, "get", "large", reader="true", ignoring=True)
    assert code == 8 and b"Broken pipe" in said


def test_a_closed_standard_error_keeps_nothing_from_being_stored(home: Home) -> None:
    """The first `set` says where the new vault is, before it stores the value."""
    reading, writing = os.pipe()
    os.close(reading)
    assert home.run("set", "u.token", stdin=b"tok", stderr=writing).returncode == 0
    os.close(writing)
    assert home.get("u.token") == b"tok"


def piped(home: Home, *words: str, reader: str, ignoring: bool = False) -> tuple[int, bytes]:
    """How a command ends whose reader does not read."""
    reading, writing = os.pipe()
    with subprocess.Popen([reader], stdin=reading) as other:
        os.close(reading)
        other.wait()
        process = home.start(
            *words, stdout=writing, preexec_fn=lambda: signal.signal(signal.SIGPIPE, ignoring and signal.SIG_IGN or signal.SIG_DFL)
        )
        os.close(writing)
        _, said = process.communicate()
    return process.returncode, said


# A file that may not grow


def test_a_limit_on_the_size_of_files_is_exit_8_and_the_old_state(twenty: History) -> None:
    home = twenty.home

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))

    for words, stdin in ((("set", "large"), os.urandom(200_000)), (("set", "--file", "value", "large"), b"")):
        (home.folder / "value").write_bytes(os.urandom(200_000))
        finished = home.run(*words, stdin=stdin, preexec_fn=limited)
        assert finished.returncode == 8 and b"File too large" in finished.stderr, finished
        assert home.values() == twenty.values
    home.set("entry-05", b"new")
    home.output("verify")


@pytest.mark.parametrize("room", [1, 16, 30, 100])
def test_a_limit_that_ends_a_write_within_a_record_is_exit_8_and_the_old_state(twenty: History, room: int) -> None:
    home = twenty.home
    limit = log_end(home.vault) + room
    finished = home.run(
        "set", "entry-05", stdin=b"new", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    assert finished.returncode == 8 and b"may or may not" not in finished.stderr
    assert home.values() == twenty.values
    home.output("verify")


@pytest.mark.in_a_file
def test_a_limit_on_the_size_of_files_below_a_new_vaults_leaves_nothing(home: Home) -> None:
    finished = home.run(
        "set", "u.token", stdin=b"tok", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    )
    assert finished.returncode == 8 and not home.vault.exists()
    assert trace(home, "set", "u.token", stdin=b"tok", names=("openat",)) and home.get("u.token") == b"tok"
