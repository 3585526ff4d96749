"""Flushes that fail or never come: nobody returns, or relies on, what may not last."""

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from homes import AS_NOBODY, Home
from tracing import trace, with_fault, with_faults

pytestmark = pytest.mark.needs("strace")

UNKNOWN_OUTCOME = b"A power loss may undo the change"


def seen(home: Home) -> Path:
    (file,) = home.memory.glob("*.seen")
    return file


# A reader beside a writer


@contextmanager
def a_set_whose_flush_fails_late(home: Home) -> Iterator[None]:
    """Sets b, in vain: the flush takes 1.5 seconds, and fails."""
    codes = []

    def write() -> None:
        fault = "error=EIO:delay_enter=1500000:when=1"
        codes.append(with_fault(home, "fdatasync", fault, "set", "b", stdin=b"new").returncode)

    writer = threading.Thread(target=write)
    before = home.vault.read_bytes()
    writer.start()
    while home.vault.read_bytes() == before:
        time.sleep(0.01)
    yield
    writer.join()
    assert codes == [8]


@pytest.fixture
def old(home: Home) -> Home:
    home.set("b", b"old")
    return home


def test_a_reader_waits_for_a_flush_that_fails(old: Home) -> None:
    with a_set_whose_flush_fails_late(old):
        assert old.get("b") == b"old"
    assert old.get("b") == b"old"


def test_a_reader_whose_own_flush_fails_shows_no_value_that_is_taken_back(old: Home) -> None:
    with a_set_whose_flush_fails_late(old):
        finished = with_fault(old, "fdatasync", "error=EIO:when=1+", "get", "b", is_reached=False)
        assert (finished.returncode, finished.stdout) in [(0, b"old"), (8, b"")], finished
    assert old.get("b") == b"old"


def test_a_reader_without_a_memory_shows_no_value_that_is_taken_back(old: Home) -> None:
    with a_set_whose_flush_fails_late(old):
        assert old.without_memory().get("b") == b"old"


@pytest.mark.parametrize("call", ["flock", "pread64", "pwrite64", "fdatasync"])
def test_a_reader_that_is_killed_beside_a_failing_flush_leaves_no_alarm(old: Home, call: str) -> None:
    count = len(trace(old, "get", "b", names=("pread64",))) if call == "pread64" else 3
    for ordinal in range(1, count + 1):
        with a_set_whose_flush_fails_late(old):
            with_fault(old, call, f"signal=KILL:when={ordinal}", "get", "b", is_reached=False)
        assert old.get("b") == b"old"
    old.set("c", b"1")
    old.output("verify")


# A file whose name may not last


def test_the_memory_of_a_rotated_vault_is_renewed_only_behind_the_flush_of_its_name(home: Home, tmp_path: Path) -> None:
    home.set("a", b"1")
    (former := tmp_path / "former").hardlink_to(home.vault)
    # Killed before the folder is flushed: the disk may have the former file under the name.
    with_fault(home, "fsync", "signal=KILL:when=2", "key", "rotate")
    before = seen(home).read_bytes()
    with_fault(home, "fsync", "signal=KILL:when=1", "get", "a")
    assert seen(home).read_bytes() == before
    shutil.copyfile(former, home.vault)
    assert home.get("a") == b"1"


@pytest.mark.parametrize("arguments", [
    ("key", "rotate", "--drop", "2"), ("key", "rm", "2"), ("key", "add", "--file", "another.key"),
    ("history", "--keep", "3,7"), ("compact",), ("merge", "copy.vault"),
], ids=" ".join)
def test_a_change_whose_file_may_lose_its_name_is_of_unknown_outcome(
    home: Home, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    home.set("a", b"1")
    home.output("key", "add", "--file", "other.key")
    copy = home.folder / "copy.vault"
    shutil.copyfile(home.vault, copy)
    home.without_memory().with_variables(VAULT_FILE=str(copy)).set("of the copy", b"3")
    home.set("a", b"2")
    calls = trace(home.copy(tmp_path / "traced"), *arguments, names=("fsync", "rename"))
    renamed = next(index for index, call in enumerate(calls) if call.name == "rename")
    flush = calls[renamed + 1]
    assert flush.name == "fsync", "of the folder"
    # In a new place, as the traced one was.
    home = home.copy(tmp_path / "failing")
    finished = with_fault(home, "fsync", f"error=EIO:when={flush.ordinal}", *arguments)
    assert finished.returncode == 8 and UNKNOWN_OUTCOME in finished.stderr, finished
    assert finished.stdout == b"", "nothing is said to be done"
    assert home.get("a") == b"2"
    home.set("b", b"1")
    home.output("verify")


@pytest.mark.parametrize("command", ["backup", "salvage"])
def test_a_copy_whose_name_may_not_last_is_named_and_verified_as_the_message_says(
    home: Home, tmp_path: Path, command: str
) -> None:
    home.set("a", b"1")
    calls = trace(home.copy(tmp_path / "traced"), command, "copy.vault", names=("fsync",))
    home = home.copy(tmp_path / "failing")
    message = with_fault(home, "fsync", f"error=EIO:when={len(calls)}", command, "copy.vault")
    sentence = message.stderr.decode()
    assert message.returncode == 8 and "copy.vault is written" in sentence and str(home.vault) not in sentence
    verify = re.search(r"`(vault [^`]* verify)`", sentence)
    assert verify and home.shell(verify[1]).returncode == 0 and "copy.vault" in verify[1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_whoever_may_not_open_the_folder_flushes_the_file_system(ordinary: Home, tmp_path: Path) -> None:
    ordinary.set("a", b"1")
    folder = ordinary.vault.parent
    os.chown(folder, 0, 0)
    folder.chmod(0o711)
    # Another memory, which has not seen the vault.
    ordinary = ordinary.with_variables(XDG_STATE_HOME=str(ordinary.folder / "state"))
    log = tmp_path / "calls"
    tracer = ("strace", "-f", "-qq", "-o", str(log), "-e", "trace=syncfs,pwrite64", *AS_NOBODY)
    assert ordinary.started_through(*tracer).get("a") == b"1"
    calls = [line.split("(")[0].split()[-1] for line in log.read_text().splitlines() if "(" in line]
    assert "syncfs" in calls and calls.index("syncfs") < calls.index("pwrite64"), "flushed, then remembered"
    ordinary.set("b", b"2")
    assert ordinary.get("b") == b"2"


# Machines that come late


def test_a_machine_that_missed_many_rotations_finds_no_older_copy(home: Home, tmp_path: Path) -> None:
    home.set("a", b"1")
    late = home.copy(tmp_path / "late")
    rotations = 20
    for _ in range(rotations):
        home.output("key", "rotate")
    late = late.with_variables(VAULT_FILE=str(home.vault))
    # The memory knows the vault by its id.
    assert late.get("a") == b"1"
    # What it has seen before counts still.
    shutil.copyfile(late.folder / ".local/share/vault/default.vault", tmp_path / "older")
    assert "before its data key was rotated" in late.with_variables(VAULT_FILE=str(tmp_path / "older")).refusal(
        9, "get", "a")


# Zeros in the page cache alone


def test_zeros_of_which_nobody_knows_whether_they_were_flushed_are_flushed_before_a_record(home: Home) -> None:
    home.set("a", b"1")
    # The flush of the record fails, and that of the zeros over it.
    first = with_faults(home, {"fdatasync": "error=EIO:when=1+"}, "set", "b", stdin=b"x" * 1_500)
    assert first.returncode == 8 and b"may or may not be stored" in first.stderr
    for value, clears in [(b"y" * 1_400, True), (b"z" * 1_400, False)]:
        calls = [call for call in trace(home, "set", "b", stdin=value, names=("pwrite64", "fdatasync"), strings=8)
                 if "default.vault>" in call.line]
        record = next(index for index, call in enumerate(calls) if '"vrec' in call.line)
        assert ("fdatasync" in [call.name for call in calls[:record]]) == clears, calls
    home.output("verify")
