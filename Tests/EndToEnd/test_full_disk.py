"""A full disk and a read-only one: exit 8, the old state, and everything works again once there is room."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from homes import VAULT_AND_KEY, Home
from volumes import fill, remount, volume

EXIT_IO = 8


@pytest.fixture
def small(binary: str, tmp_path: Path) -> Iterator[Home]:
    with volume(tmp_path / "small", "1m") as folder:
        yield Home(binary, folder / "home")


def test_a_full_disk_is_exit_8_and_the_old_state(small: Home) -> None:
    small.set("u.token", b"tok")
    small.set("large", os.urandom(50_000))
    old = small.values()
    filler = fill(small.folder.parent)
    for words in (("set", "u.token"), ("set", "new"), ("set", "large")):
        sentence = small.refusal(EXIT_IO, *words, stdin=os.urandom(300_000))
        assert "No space left on device" in sentence and "free some space" in sentence
        assert small.values() == old
        small.output("verify")
    filler.unlink()
    small.set("new", b"there is room")
    assert small.values() == old | {"new": b"there is room"}
    small.output("verify")


def test_a_small_change_on_a_full_disk_goes_into_the_zeros_that_are_there(small: Home) -> None:
    small.keep_no_history()
    small.set("u.token", b"tok")
    fill(small.folder.parent)
    for turn in range(10):
        small.set("u.token", b"turn %d" % turn)
    assert small.get("u.token") == b"turn 9"


def test_sets_until_the_disk_is_full_lose_none_that_was_acknowledged(small: Home) -> None:
    acknowledged: dict[str, bytes] = {}
    for index in range(1_000):
        value = os.urandom(5_000)
        finished = small.run("set", f"name-{index:03}", stdin=b"x" + value)
        if finished.returncode != 0:
            break
        acknowledged[f"name-{index:03}"] = b"x" + value
    assert finished.returncode == EXIT_IO and len(acknowledged) > 50
    assert small.values() == acknowledged
    small.output("verify")


def test_a_compaction_without_room_is_exit_8_and_leaves_nothing_behind(small: Home) -> None:
    for index in range(3):
        small.set(f"name-{index}", os.urandom(60_000))
    old = small.values()
    fill(small.folder.parent)
    small.refusal(EXIT_IO, "compact")
    assert small.files() == VAULT_AND_KEY
    assert small.values() == old
    small.output("verify")


def test_a_set_whose_compaction_has_no_room_is_done_all_the_same(small: Home, home: Home) -> None:
    def change(one: Home, turn: int) -> int:
        """Changes one of two values; the vault's inode tells a compaction."""
        one.set("changing", bytes([turn]) * 20_000)
        return one.vault.stat().st_ino

    steady = os.urandom(150_000)
    for one in (home, small):
        one.keep_no_history()
        one.set("steady", steady)
    inode = change(home, 0)
    due = next(turn for turn in range(1, 50) if change(home, turn) != inode)
    inode = change(small, 0)
    for turn in range(1, due):
        change(small, turn)
    filler = fill(small.folder.parent)
    os.truncate(filler, filler.stat().st_size - 100_000)
    assert change(small, due) == inode, "there was no room to compact"
    assert small.values() == {"changing": bytes([due]) * 20_000, "steady": steady}
    assert small.files() == VAULT_AND_KEY
    filler.unlink()
    small.output("compact")
    small.output("verify")


def test_the_first_set_on_a_full_disk_is_exit_8_and_works_once_there_is_room(small: Home) -> None:
    filler = fill(small.folder.parent)
    sentence = small.refusal(EXIT_IO, "set", "u.token", stdin=b"tok")
    assert "No space left on device" in sentence
    assert not small.vault.exists()
    small.refusal(3, "get", "u.token")
    filler.unlink()
    small.set("u.token", b"tok")
    assert small.files() == VAULT_AND_KEY and small.get("u.token") == b"tok"


@pytest.mark.parametrize("room", range(4, 80, 8))
def test_the_first_set_with_little_room_makes_all_or_no_vault(small: Home, room: int) -> None:
    filler = fill(small.folder.parent)
    os.truncate(filler, filler.stat().st_size - room * 1024)
    finished = small.run("set", "u.token", stdin=b"tok")
    assert finished.returncode in (0, EXIT_IO), finished
    assert small.vault.exists() == (finished.returncode == 0)
    filler.unlink()
    small.set("u.token", b"new")
    assert small.get("u.token") == b"new"
    assert small.files() == VAULT_AND_KEY


def test_a_full_disk_under_the_memory_alone_keeps_nobody_from_writing(small: Home, home: Home) -> None:
    fill(small.folder.parent)
    apart = home.with_variables(XDG_STATE_HOME=str(small.folder / "state"))
    apart.set("u.token", b"tok")
    assert apart.get("u.token") == b"tok"


def test_on_a_read_only_file_system_reading_works_and_writing_is_exit_8(small: Home) -> None:
    small.set("u.token", b"tok")
    small.set("other", b"value")
    remount(small.folder.parent, "ro")
    assert small.get("u.token") == b"tok" and small.names() == ["other", "u.token"]
    for words in (("verify",), ("info",), ("exists", "other"), ("find", "u")):
        small.output(*words)
    for words in (("set", "u.token"), ("set", "new"), ("rm", "other"), ("mv", "other", "x"), ("compact",)):
        finished = small.run(*words, stdin=b"new")
        # What this machine remembers cannot be written either, which is told first.
        memory, sentence = finished.stderr.decode().splitlines()
        assert finished.returncode == EXIT_IO and finished.stdout == b""
        assert memory.startswith("vault: warning: ") and "Read-only" in memory
        assert sentence.startswith("vault: ") and "read-only" in sentence.lower()
    remount(small.folder.parent, "rw")
    assert small.values() == {"other": b"value", "u.token": b"tok"}
    small.set("u.token", b"new")


def test_the_first_set_on_a_read_only_file_system_is_exit_8(small: Home) -> None:
    remount(small.folder.parent, "ro")
    assert "read-only" in small.refusal(EXIT_IO, "set", "u.token", stdin=b"tok").lower()
    small.refusal(3, "get", "u.token")
    remount(small.folder.parent, "rw")


def test_a_full_disk_lets_no_member_be_added_and_is_exit_8(small: Home) -> None:
    """The key by which the machine signs is created then."""
    small.set("u.token", b"tok")
    filler = fill(small.folder.parent)
    for words in (("member", "add", "mia"), ("member", "device")):
        sentence = small.refusal(EXIT_IO, *words)
        assert "No space left on device" in sentence and "free some space" in sentence, sentence
    filler.unlink()
    small.output("member", "add", "mia")
    assert b"mia" in small.output("member", "ls")
