"""What is said of writes and flushes that fail. Tools/sweep lets every call fail; see Tests/Sweeps."""

from pathlib import Path

import pytest

from histories import History
from homes import Home, goes_on
from tracing import Call, trace, with_fault

EXIT_IO = 8
NEW = b"new " * 200


def is_write_to_vault(call: Call) -> bool:
    return call.name == "pwrite64" and "default.vault>" in call.line


def test_a_failed_flush_is_exit_8_and_the_old_state(twenty: History) -> None:
    home = twenty.home
    finished = with_fault(home, "fdatasync", "error=EIO:when=1", "set", "entry-05", stdin=NEW)
    assert finished.returncode == EXIT_IO and b"may or may not" not in finished.stderr
    assert b"Input/output error" in finished.stderr
    goes_on(home, twenty.values)


def test_flushes_that_keep_failing_are_exit_8_with_the_outcome_unknown(twenty: History) -> None:
    home = twenty.home
    finished = with_fault(home, "fdatasync", "error=EIO:when=1+", "set", "entry-05", stdin=NEW)
    assert finished.returncode == EXIT_IO and b"may or may not be stored" in finished.stderr
    assert b"vault verify" in finished.stderr
    goes_on(home, twenty.values, twenty.values | {"entry-05": NEW})


def test_a_write_without_room_is_exit_8_and_the_old_state(twenty: History, tmp_path: Path) -> None:
    home = twenty.home
    calls = trace(home.copy(tmp_path / "traced"), "set", "entry-05", stdin=NEW, names=("pwrite64",))
    write = next(call for call in calls if is_write_to_vault(call))
    finished = with_fault(home, write.name, f"error=ENOSPC:when={write.ordinal}", "set", "entry-05", stdin=NEW)
    assert finished.returncode == EXIT_IO and b"No space left on device" in finished.stderr
    assert b"free some space" in finished.stderr
    goes_on(home, twenty.values)


INTERRUPTED = ("openat", "statx", "flock", "fdatasync", "fsync", "pread64", "pwrite64", "rename", "renameat2", "mkdir",
               "unlink", "fchmod", "fstatfs", "lseek", "ftruncate", "fallocate")  # fmt: skip


@pytest.mark.parametrize("words", [("init",), ("set", "new"), ("get", "entry-05"), ("compact",)], ids=" ".join)
def test_a_call_that_a_signal_interrupts_is_made_again(twenty: History, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Network file systems and FUSE let a signal do that to any call about files."""
    home = twenty.home if words != ("init",) else Home(twenty.home.binary, tmp_path / "fresh")
    stdin = b"new" if words[0] == "set" else b""
    calls = trace(home.copy(tmp_path / "traced"), *words, stdin=stdin, names=INTERRUPTED)
    own = [call for call in calls if str(tmp_path) in call.line]
    assert {"openat", "statx"} <= {call.name for call in own}
    # The first, the last and one between them of each.
    chosen: dict[str, list[int]] = {}
    for call in own:
        chosen.setdefault(call.name, []).append(call.ordinal)
    for name, ordinals in chosen.items():
        for ordinal in {ordinals[0], ordinals[len(ordinals) // 2], ordinals[-1]}:
            copy = home.copy(tmp_path / f"{name}-{ordinal}")
            finished = with_fault(copy, name, f"error=EINTR:when={ordinal}", *words, stdin=stdin)
            assert finished.returncode == 0 and b"warning" not in finished.stderr, (name, ordinal, finished)


@pytest.mark.parametrize("words", [("--file", "A=entry-05"), ("--redact", "--env", "A=entry-05")], ids=lambda w: w[0])
@pytest.mark.parametrize("limit", range(7, 12))
def test_too_few_descriptors_for_a_program_are_told(twenty: History, limit: int, words: tuple[str, ...]) -> None:
    home = twenty.home.started_through("prlimit", f"--nofile={limit}", "--")
    finished = home.run("run", *words, "--", "true")
    if finished.returncode == 127 and b"shared libraries" in finished.stderr:
        pytest.skip("it is linked dynamically, and not even its libraries can be opened")
    if finished.returncode != 0:
        assert finished.returncode == 125 and b"Too many open files. Raise the limit" in finished.stderr, finished
    else:
        assert limit > 10 or words[0] != "--file", "a program gets its files from descriptor 10 on"


@pytest.mark.parametrize("limit", range(3, 12))
def test_too_few_descriptors_are_not_taken_for_a_key_that_is_not_there(twenty: History, limit: int) -> None:
    home = twenty.home.started_through("prlimit", f"--nofile={limit}", "--")
    finished = home.run("get", "entry-05")
    if finished.returncode == 127 and b"shared libraries" in finished.stderr:
        pytest.skip("it is linked dynamically, and not even its libraries can be opened")
    if finished.returncode != 0:
        assert finished.returncode == EXIT_IO and b"Too many open files" in finished.stderr, finished
    else:
        assert finished.stdout == twenty.values["entry-05"]


def test_a_failed_compaction_takes_nothing_back_from_a_completed_set(twenty: History) -> None:
    home = twenty.home
    home.keep_no_history()
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
