"""An older, diverged or exchanged vault is noticed where a newer or other one was seen; once, it can be accepted."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from homes import Home

ALARM = 9
READING = [("get", "u.token"), ("verify",), ("ls",), ("exists", "u.token"), ("info",), ("find", "u")]
WRITING = [("set", "u.token"), ("rm", "u.token"), ("mv", "u.token", "x"), ("compact",)]


def yesterday(home: Home) -> None:
    home.set("u.token", b"yesterday")
    backup = home.vault.read_bytes()
    home.set("u.token", b"today")
    home.vault.write_bytes(backup)


def yesterday_before_compaction(home: Home) -> None:
    home.set("u.token", b"yesterday")
    backup = home.vault.read_bytes()
    home.set("u.token", b"today")
    home.output("compact")
    home.vault.write_bytes(backup)


def yesterday_by_rename(home: Home) -> None:
    home.set("u.token", b"yesterday")
    shutil.copy(home.vault, home.folder / "backup")
    home.set("u.token", b"today")
    (home.folder / "backup").rename(home.vault)


def exchanged(home: Home) -> None:
    home.set("u.token", b"today")
    home.output("set", "u.token", "--vault", "other.vault", "--key-file", str(home.key), stdin=b"yesterday")
    shutil.copy(home.folder / "other.vault", home.vault)


def diverged(home: Home) -> None:
    home.set("u.token", b"the same")
    backup = home.vault.read_bytes()
    home.set("u.token", b"here")
    here = home.vault.read_bytes()
    home.vault.write_bytes(backup)
    home.without_memory().set("u.token", b"yesterday")
    assert len(here) == home.vault.stat().st_size


def diverged_and_ahead(home: Home) -> None:
    diverged(home)
    for _ in range(5):
        home.without_memory().set("u.token", b"yesterday")


def diverged_ahead_and_compacted(home: Home) -> None:
    diverged_and_ahead(home)
    home.without_memory().output("compact")


def diverged_far_ahead_and_compacted(home: Home) -> None:
    diverged(home)
    for _ in range(200):
        home.without_memory().set("u.token", b"yesterday")
    home.without_memory().output("compact")


def diverged_with_a_minor_checkpoint(home: Home) -> None:
    diverged(home)
    for _ in range(520):
        home.without_memory().set("u.token", b"yesterday")


ALARMS: list[tuple[Callable[[Home], None], str]] = [
    (yesterday, "--accept-rolled-back"),
    (yesterday_before_compaction, "--accept-rolled-back"),
    (yesterday_by_rename, "--accept-rolled-back"),
    (exchanged, "--accept-exchanged"),
    (diverged, "--accept-diverged"),
    (diverged_and_ahead, "--accept-diverged"),
    (diverged_ahead_and_compacted, "--accept-diverged"),
    (diverged_far_ahead_and_compacted, "--accept-diverged"),
    (diverged_with_a_minor_checkpoint, "--accept-diverged"),
]
each_alarm = pytest.mark.parametrize(
    ("put_back", "option"), ALARMS, ids=lambda value: getattr(value, "__name__", value)
)


@each_alarm
def test_it_is_noticed_by_every_command(home: Home, put_back: Callable[[Home], None], option: str) -> None:
    put_back(home)
    before = home.vault.read_bytes()
    for _ in range(2):
        for words in READING + WRITING:
            sentence = home.refusal(ALARM, *words, stdin=b"new")
            assert option in sentence and str(home.vault) in sentence
            assert "yesterday" not in sentence and "today" not in sentence
    assert home.vault.read_bytes() == before, "nothing is written to it"


@each_alarm
def test_it_is_accepted_once_and_then_quiet(home: Home, put_back: Callable[[Home], None], option: str) -> None:
    put_back(home)
    assert home.output("get", "u.token", option) == b"yesterday"
    for words in READING:
        assert home.run(*words).returncode == 0, words
    home.set("u.token", b"tomorrow")
    assert home.get("u.token") == b"tomorrow"
    home.output("verify")


@each_alarm
def test_the_option_of_another_alarm_does_not_accept_it(
    home: Home, put_back: Callable[[Home], None], option: str
) -> None:
    put_back(home)
    others = {other for _, other in ALARMS} - {option}
    home.refusal(ALARM, "get", "u.token", *sorted(others))


def test_what_was_accepted_is_remembered_from_there_on(home: Home) -> None:
    yesterday(home)
    home.output("verify", "--accept-rolled-back")
    backup = home.vault.read_bytes()
    home.set("u.token", b"tomorrow")
    home.vault.write_bytes(backup)
    home.refusal(ALARM, "get", "u.token")


def test_the_newer_file_that_comes_back_after_accepting_the_older_one_is_noticed_or_right(home: Home) -> None:
    home.set("u.token", b"yesterday")
    backup = home.vault.read_bytes()
    home.set("u.token", b"today")
    newer = home.vault.read_bytes()
    home.vault.write_bytes(backup)
    home.output("verify", "--accept-rolled-back")
    home.set("u.token", b"another today")
    home.vault.write_bytes(newer)
    assert "--accept-diverged" in home.refusal(ALARM, "get", "u.token")


def test_an_accepting_option_without_an_alarm_changes_nothing(home: Home) -> None:
    home.set("u.token", b"tok")
    options = ("--accept-rolled-back", "--accept-diverged", "--accept-exchanged")
    assert home.output("get", "u.token", *options) == b"tok"
    yesterday(home)
    home.refusal(ALARM, "get", "u.token")


def test_a_reader_remembers_too(home: Home) -> None:
    """Just one change that others made: what was given out is remembered."""
    home.set("u.token", b"yesterday")
    backup = home.vault.read_bytes()
    home.without_memory().set("u.token", b"today")
    assert home.get("u.token") == b"today"
    home.vault.write_bytes(backup)
    home.refusal(ALARM, "get", "u.token")


def test_a_reader_remembers_a_compacted_file_too(home: Home) -> None:
    home.set("u.token", b"yesterday")
    backup = home.vault.read_bytes()
    home.without_memory().set("u.token", b"today")
    home.without_memory().output("compact")
    assert home.get("u.token") == b"today"
    home.vault.write_bytes(backup)
    home.refusal(ALARM, "get", "u.token")


def test_another_machine_that_has_seen_nothing_reads_the_older_file(home: Home) -> None:
    yesterday(home)
    shutil.rmtree(home.memory)
    assert home.get("u.token") == b"yesterday"


@pytest.mark.parametrize("content", [b"", b"torn", b"\0" * 80, b"x" * 200], ids=["empty", "torn", "zeros", "long"])
def test_a_torn_memory_is_no_memory_and_no_alarm(home: Home, content: bytes) -> None:
    home.set("u.token", b"tok")
    for file in home.memory.iterdir():
        file.write_bytes(content)
    assert home.get("u.token") == b"tok"
    home.set("u.token", b"new")
    home.output("verify")
    backup = home.vault.read_bytes()
    home.set("u.token", b"newer")
    home.vault.write_bytes(backup)
    home.refusal(ALARM, "get", "u.token")


def test_a_memory_changed_by_someone_without_the_key_does_not_alarm(home: Home) -> None:
    home.set("u.token", b"tok")
    for file in home.memory.iterdir():
        for offset in range(file.stat().st_size):
            content = bytearray(file.read_bytes())
            content[offset] ^= 0xFF
            file.write_bytes(content)
            assert home.run("get", "u.token").returncode in (0, ALARM) and home.run("ls").stderr.count(b"\n") <= 1
            content[offset] ^= 0xFF
            file.write_bytes(content)


def test_the_memory_holds_neither_names_nor_values(home: Home) -> None:
    home.set("a-name-to-look-for", b"a-value-to-look-for")
    assert all(b"to-look-for" not in file.read_bytes() for file in home.memory.iterdir())


def test_a_vault_that_was_moved_is_quiet_at_its_new_path(home: Home, tmp_path: Path) -> None:
    home.set("u.token", b"tok")
    moved = home.folder / "moved.vault"
    home.vault.rename(moved)
    assert home.output("get", "u.token", "--vault", str(moved)) == b"tok"
    home.output("verify", "--vault", str(moved))


def test_an_older_copy_at_another_path_is_noticed_too(home: Home) -> None:
    home.set("u.token", b"yesterday")
    shutil.copy(home.vault, home.folder / "copy.vault")
    home.set("u.token", b"today")
    home.refusal(ALARM, "get", "u.token", "--vault", "copy.vault")
    assert home.get("u.token") == b"today"
