"""Earlier values of a name: listed, restored, undone, and purged so that nothing of them is left."""

import json
import secrets
import time
from datetime import datetime, timezone

import pytest

import interop  # noqa: F401
from homes import Home
from key_slots import private_file
from reading.vault import open_image
from terminals import on_terminal
from tracing import with_fault
from writing.builder import VaultBuilder
from writing.entries import Entry, Value

pytestmark = pytest.mark.both_paths

USAGE, NOT_FOUND, DAMAGED, IO = 2, 3, 6, 8
DAY = 86_400_000


def history(home: Home, name: str = "u.token") -> list[dict]:
    report = json.loads(home.output("history", name, "--json"))
    assert report["name"] == name
    return report["versions"]


def set_in_turn(home: Home, *values: bytes, name: str = "u.token") -> None:
    for value in values:
        home.set(name, value)


# Listing


def test_the_earlier_values_are_listed_newest_first_with_time_and_size_and_never_the_value(home: Home) -> None:
    before = datetime.now(timezone.utc)
    set_in_turn(home, b"secret-1", b"secret-22", b"secret-333")
    after = datetime.now(timezone.utc)
    versions = history(home)
    assert [(version["version"], version["size"]) for version in versions] == [(1, 9), (2, 8)]
    times = [datetime.fromisoformat(version["modified"]) for version in versions]
    assert before.timestamp() - 0.001 <= times[1].timestamp() < times[0].timestamp() <= after.timestamp()
    shown = home.output("history", "u.token").decode()
    lines = [line.split() for line in shown.splitlines()]
    assert lines == [["1", versions[0]["modified"], "9", "bytes"], ["2", versions[1]["modified"], "8", "bytes"]]
    assert "secret" not in shown


def test_ten_earlier_values_are_kept(home: Home) -> None:
    set_in_turn(home, *(b"%d" % index for index in range(14)))
    assert len(history(home)) == 10
    home.output("compact")
    assert len(history(home)) == 10
    home.output("restore", "u.token", "--version", "10")
    assert home.get("u.token") == b"3"


def test_the_help_names_no_option_that_is_not_there(home: Home) -> None:
    home.set("u.token", b"tok")
    if "--keep" in home.output("help", "history").decode():
        assert b"no option" not in home.run("history", "--keep", "3").stderr


def test_a_name_without_a_history_is_exit_3(home: Home) -> None:
    home.set("u.token", b"tok")
    assert '"u.token" has no earlier value' in home.refusal(NOT_FOUND, "history", "u.token")
    assert 'No entry named "u.tokem". Did you mean "u.token"?' in home.refusal(NOT_FOUND, "history", "u.tokem")
    for words in (("restore", "u.token"), ("restore", "u.tokem")):
        home.refusal(NOT_FOUND, *words)
    home.output("rm", "u.token")
    assert len(history(home)) == 1, "also of one that was removed"


@pytest.mark.in_a_file
@pytest.mark.parametrize("words", [("restore", "u.token"), ("restore", "u.token", "--version", "1"), ("undo",)], ids=str)
def test_an_earlier_value_that_does_not_open_is_not_put_back(home: Home, words: tuple[str, ...]) -> None:
    home.set("u.token", b"former")
    home.output("compact")
    content = bytearray(home.vault.read_bytes())
    content[8_192] ^= 1
    home.vault.write_bytes(content)
    home.set("u.token", b"present")
    told = home.refusal(DAMAGED, *words)
    assert "a value at byte 8192. Nothing was repaired." in told and "vault salvage" in told
    assert home.get("u.token") == b"present" and len(history(home)) == 1


@pytest.mark.in_a_file
def test_a_value_that_was_replaced_more_than_90_days_ago_goes_with_the_next_compaction(home: Home) -> None:
    now = int(time.time() * 1000)
    vault = VaultBuilder(secrets.token_hex(16))
    vault.history = 10, 90
    earlier = [Value(b"replaced yesterday", 0, now - 200 * DAY), Value(b"replaced long ago", 0, now - 300 * DAY)]
    current = Value(b"current", 0, now - DAY)
    vault.begin([Entry("u.token", current, modified=now - DAY, earlier=earlier)])
    for path, content in ((home.vault, bytes(vault.data)), (home.key, vault.key_file)):
        path.parent.mkdir(parents=True)
        private_file(path, content)
    assert len(history(home)) == 2
    home.output("compact")
    assert [version["size"] for version in history(home)] == [len(b"replaced yesterday")]
    home.output("restore", "u.token")
    assert home.get("u.token") == b"replaced yesterday"


# Restoring


def test_an_earlier_value_is_restored_and_the_present_one_becomes_history(home: Home) -> None:
    set_in_turn(home, b"1", b"2", b"3")
    home.output("restore", "u.token")
    assert home.get("u.token") == b"2"
    home.output("restore", "u.token")
    assert home.get("u.token") == b"3"
    assert json.loads(home.output("restore", "u.token", "--version", "2", "--json")) == {
        "name": "u.token",
        "version": 2,
    }
    assert home.get("u.token") == b"1" and len(history(home)) == 2
    home.output("verify")
    home.output("compact")
    assert home.get("u.token") == b"1" and len(history(home)) == 2


def test_a_removed_name_is_restored_with_what_it_was(home: Home) -> None:
    home.output("set", "u.token", "-a", "host=example.org", "--type", "int", stdin=b"42")
    home.output("rm", "u.token")
    home.refusal(NOT_FOUND, "get", "u.token")
    home.output("restore", "u.token")
    (item,) = json.loads(home.output("ls", "-l", "--json"))["items"]
    assert home.get("u.token") == b"42" and item["kind"] == "integer"


def test_a_version_that_is_not_kept_is_exit_3(home: Home) -> None:
    set_in_turn(home, b"1", b"2", b"3")
    before = home.vault.read_bytes()
    assert "1 to 2" in home.refusal(NOT_FOUND, "restore", "u.token", "--version", "3")
    for text in ("0", "-1", "x", ""):
        home.refusal(USAGE, "restore", "u.token", f"--version={text}")
    assert home.vault.read_bytes() == before


# Undoing


def test_the_newest_change_is_taken_back_and_made_again(home: Home) -> None:
    set_in_turn(home, b"old", b"new")
    assert json.loads(home.output("undo", "--json")) == {"names": ["u.token"]}
    assert home.get("u.token") == b"old"
    assert b"u.token" in home.run("undo").stderr
    assert home.get("u.token") == b"new"


def test_a_first_value_is_taken_back_by_removing_it(home: Home) -> None:
    home.set("a", b"1")
    home.set("b", b"2")
    home.output("undo")
    assert home.values() == {"a": b"1"}
    home.output("undo")
    assert home.values() == {"a": b"1", "b": b"2"}


def test_what_was_changed_together_is_taken_back_together(home: Home) -> None:
    for name in ("a", "b", "c"):
        home.set(name, name.encode())
    home.output("rm", "a", "b")
    assert json.loads(home.output("undo", "--json"))["names"] == ["a", "b"]
    assert home.values() == {"a": b"a", "b": b"b", "c": b"c"}
    home.output("mv", "--force", "a", "b")
    home.output("undo")
    assert home.values() == {"a": b"a", "b": b"b", "c": b"c"}
    home.output("verify")


@pytest.mark.parametrize("earlier", [(), (b"older",), (b"oldest", b"older")], ids=len)
def test_a_second_undo_of_a_removal_removes_the_name_again(home: Home, earlier: tuple[bytes, ...]) -> None:
    """An older value must not come back in the place of the one that is removed."""
    set_in_turn(home, *earlier, b"present")
    home.output("rm", "u.token")
    home.output("undo")
    assert home.values() == {"u.token": b"present"}
    home.output("undo")
    assert home.values() == {}
    home.output("undo")
    assert home.values() == {"u.token": b"present"}


def test_undo_of_a_value_that_was_set_after_a_removal_removes_it(home: Home) -> None:
    """Before the change there was none: what had been removed does not come back."""
    home.set("u.token", b"removed on purpose")
    home.output("rm", "u.token")
    home.set("u.token", b"by mistake")
    home.output("undo")
    assert home.values() == {}


def test_undo_after_a_compaction_and_from_another_machine(home: Home) -> None:
    set_in_turn(home, b"old", b"new")
    home.output("compact")
    home.without_memory().output("undo")
    assert home.get("u.token") == b"old"


def test_without_a_change_undo_is_exit_3(home: Home) -> None:
    home.output("init")
    before = home.vault.read_bytes()
    home.refusal(NOT_FOUND, "undo")
    assert home.vault.read_bytes() == before


def test_names_with_control_characters_for_the_terminal_cannot_be_there(home: Home) -> None:
    home.set("u.t\u202eoken", b"tok")
    shown = on_terminal(home, "undo")
    assert "\u202e".encode() not in shown and b"u.t" in shown


# Purging


def boxes(home: Home) -> list[bytes]:
    """What the values of u.token are sealed in."""
    image = home.vault.read_bytes()
    vault = open_image(image, home.key.read_bytes())
    return [image[version.offset : version.end] for version in vault.current[b"u.token"].versions]


@pytest.mark.parametrize("is_removed", [False, True], ids=["present", "removed before"])
def test_purge_leaves_no_byte_of_any_value_and_no_earlier_version(home: Home, is_removed: bool) -> None:
    set_in_turn(home, *(b"secret %d " % index * 20 for index in range(5)))
    home.set("other", b"stays")
    set_in_turn(home, b"other's own", name="other")
    sealed = boxes(home)
    assert len(sealed) == 5
    if is_removed:
        home.output("rm", "u.token")
    report = json.loads(home.output("rm", "--purge", "u.token", "--json"))
    image = home.vault.read_bytes()
    for box in sealed:
        assert all(box[offset : offset + 16] not in image for offset in range(0, len(box), 16))
    for words in (("get", "u.token"), ("history", "u.token"), ("restore", "u.token")):
        home.refusal(NOT_FOUND, *words)
    vault = open_image(image, home.key.read_bytes())
    assert "u.token" not in vault.removed or vault.removed["u.token"].earlier == []
    assert home.values() == {"other": b"other's own"} and len(history(home, "other")) == 1
    home.run("undo")
    assert "u.token" not in home.names(), "there is nothing to bring back"
    home.output("verify")
    assert report == {"removed": ["u.token"]}


def test_purge_removes_all_or_none(home: Home) -> None:
    set_in_turn(home, b"1", b"2")
    home.set("b", b"3")
    home.refusal(NOT_FOUND, "rm", "--purge", "u.token", "nothing")
    assert home.values() == {"u.token": b"2", "b": b"3"} and len(history(home)) == 1
    home.output("rm", "--purge", "--force", "u.token", "nothing", "b")
    assert home.values() == {}
    for name in ("u.token", "b"):
        home.refusal(NOT_FOUND, "history", name)


@pytest.mark.in_a_file
def test_a_purge_whose_compaction_fails_says_what_was_done_and_what_is_left_to_do(home: Home) -> None:
    """The name is gone by then, and its bytes are still in the file: `vault compact` does the rest."""
    set_in_turn(home, b"1", b"2")
    finished = with_fault(home, "rename", "error=EIO:when=1", "rm", "--purge", "u.token")
    assert finished.returncode == IO and home.names() == []
    assert b"removed" in finished.stderr.lower() and b"vault compact" in finished.stderr, finished


def test_an_ordinary_rm_can_be_taken_back_and_purge_cannot(home: Home) -> None:
    set_in_turn(home, b"1")
    home.set("b", b"2")
    home.output("rm", "u.token")
    home.output("restore", "u.token")
    home.output("rm", "--purge", "u.token")
    home.refusal(NOT_FOUND, "restore", "u.token")
