"""`vault merge`: two copies that went apart come to the same, and no value of either is lost."""

import json
import shlex
import shutil
import signal
import threading
from pathlib import Path

import pytest

from copies import Copies, all_values, copies
from homes import VAULT_AND_KEY, Home
from key_slots import keys, lose_key_file
from terminals import on_terminal
from tracing import CHANGING, trace, with_fault

USAGE, NOT_FOUND, LOCKED, DAMAGED, ALARM = 2, 3, 5, 6, 9
CANARIES = [b"canary-base", b"canary-left", b"canary-right"]
NOTHING = {"changed": [], "conflicts": [], "dropped": [], "keys": "same", "refused": []}


@pytest.fixture
def base(home: Home, tmp_path: Path) -> Copies:
    """Two copies that have the same still."""
    for name in ("both", "gone", "stays"):
        home.set(name, b"canary-base")
    return copies(home, tmp_path / "right")


@pytest.fixture
def apart(base: Copies) -> Copies:
    """Both have changed one name, last on the right, and each has another one of its own; the right has removed one."""
    for home, value, own in ((base.left, b"canary-left", "left"), (base.right, b"canary-right", "right")):
        home.set("both", value)
        home.set(own, value)
    base.right.output("rm", "gone")
    return base


MERGED = {
    "both": [b"canary-right", b"canary-left", b"canary-base"],
    "gone": [None, b"canary-base"],
    "left": [b"canary-left"],
    "right": [b"canary-right"],
    "stays": [b"canary-base"],
}


def merge(home: Home, other: Path, *options: str) -> dict:
    return json.loads(home.output("merge", "--json", str(other), *options))


# What becomes of the names


def test_the_later_value_counts_and_the_other_one_is_in_the_history(apart: Copies) -> None:
    apart.left.output("merge", str(apart.right.vault))
    assert all_values(apart.left) == MERGED
    assert apart.left.values() == {name: values[0] for name, values in MERGED.items() if values[0]}
    apart.left.output("restore", "both")
    assert apart.left.get("both") == b"canary-left"
    apart.left.output("restore", "gone")
    assert apart.left.get("gone") == b"canary-base"
    apart.left.output("verify")


def test_both_directions_come_to_the_same(apart: Copies) -> None:
    before = apart.left.copy(apart.left.folder.with_name("before")).vault
    apart.left.output("merge", str(apart.right.vault))
    apart.right.output("merge", str(before))
    assert all_values(apart.left) == all_values(apart.right) == MERGED
    listed = [home.output("ls", "-l", "--json") for home in apart.both]
    assert listed[0] == listed[1]


def test_a_value_that_was_set_after_a_removal_counts(base: Copies) -> None:
    base.right.output("rm", "gone")
    base.left.set("gone", b"canary-left")
    assert merge(base.left, base.right.vault)["conflicts"] == ["gone"]
    assert merge(base.right, base.left.vault)["changed"] == ["gone"]
    assert all_values(base.left) == all_values(base.right)
    assert base.right.get("gone") == b"canary-left"


def test_the_attributes_of_the_later_value_come_with_it(base: Copies) -> None:
    base.left.set("both", b"canary-left", "-a", "host=left")
    base.right.set("both", b"canary-right", "-a", "host=right")
    base.left.output("merge", str(base.right.vault))
    assert base.left.output("find", "host=right") == b"both\n" and base.left.output("find", "host=left") == b""


def test_a_purged_value_does_not_come_back_from_the_other_copy(apart: Copies) -> None:
    apart.left.output("merge", str(apart.right.vault))
    apart.right.output("merge", str(apart.left.vault))
    former = shutil.copy(apart.right.vault, apart.right.folder / "former.vault")
    apart.left.output("rm", "--purge", "both")
    for other in (former, apart.right.vault):
        assert merge(apart.left, other) == NOTHING
    assert merge(apart.right, apart.left.vault)["changed"] == ["both"]
    for home in apart.both:
        for words in (("get", "both"), ("history", "both"), ("restore", "both")):
            home.refusal(NOT_FOUND, *words)
        assert all_values(home)["both"] == [None]


# What is told


def test_conflicts_are_told_by_name_and_never_by_value(apart: Copies) -> None:
    finished = apart.left.run("merge", str(apart.right.vault))
    assert finished.returncode == 0 and finished.stderr == b""
    count, title, *names, last = finished.stdout.decode().splitlines()
    assert last == f"You may delete {apart.right.vault}."
    assert count == "Merged: 3 changed." and title.startswith("Changed on both sides; ") and names == ["  both"]
    shown = on_terminal(apart.right, "merge", str(apart.left.vault))
    assert b"Merged: 2 changed." in shown and not any(canary in shown for canary in CANARIES)


def test_the_report(apart: Copies) -> None:
    changed = {"changed": ["both", "gone", "right"], "conflicts": ["both"], "dropped": [], "keys": "same", "refused": []}
    assert merge(apart.left, apart.right.vault) == changed
    assert merge(apart.left, apart.right.vault) == NOTHING, "once"


def test_a_vault_without_a_history_names_what_it_drops(apart: Copies) -> None:
    apart.left.output("history", "--keep", "0,0")
    shown = apart.left.output("merge", str(apart.right.vault)).decode()
    assert shown.endswith("not kept:\n  both\n")
    assert all_values(apart.left)["both"] == [b"canary-right"]


def test_a_name_in_conflict_cannot_command_the_terminal(base: Copies) -> None:
    for home in base.both:
        home.set("a\u202eb", home.folder.name.encode())
    shown = on_terminal(base.left, "merge", str(base.right.vault))
    assert b"a\\u{202e}b" in shown and "\u202e".encode() not in shown


# What machines remember


def test_the_merged_file_takes_the_place_of_both_without_a_complaint(apart: Copies) -> None:
    older = shutil.copy(apart.right.vault, apart.right.folder / "older.vault")
    apart.left.output("merge", str(apart.right.vault))
    shutil.copy(apart.left.vault, apart.right.vault)
    for home in apart.both:
        assert home.get("both") == b"canary-right"
        home.output("verify")
    apart.right.set("both", b"and on")
    shutil.copy(older, apart.right.vault)
    assert "--accept-rolled-back" in apart.right.refusal(ALARM, "get", "both"), "a file from before is noticed still"


def test_a_third_copy_that_was_not_merged_has_diverged(apart: Copies, tmp_path: Path) -> None:
    third = apart.left.copy(tmp_path / "third")
    third.set("both", b"canary-third")
    apart.left.output("merge", str(apart.right.vault))
    shutil.copy(apart.left.vault, third.vault)
    assert "--accept-diverged" in third.refusal(ALARM, "get", "both")


def test_a_copy_in_another_place_is_merged_detached_from_what_this_machine_remembers(apart: Copies) -> None:
    """As git does it: the file is older than what was seen, and that is no alarm."""
    left = apart.left
    copy = ("--vault", shutil.copy(left.vault, left.folder / "copy.vault"))
    left.set("later", b"not in the copy")
    left.refusal(ALARM, "merge", str(apart.right.vault), *copy)
    assert merge(left, apart.right.vault, "--detached", *copy)["conflicts"] == ["both"]
    assert all_values(left, Path(copy[1])) == MERGED
    assert left.get("later") == b"not in the copy" and left.get("both") == b"canary-left"


# The other copy


@pytest.mark.parametrize("make", ["path", "link", "second name"])
def test_the_vault_itself_has_nothing_new(base: Copies, make: str) -> None:
    vault = base.left.vault
    other = vault if make == "path" else base.left.folder / "other"
    if make == "link":
        other.symlink_to(vault)
    elif make == "second name":
        other.hardlink_to(vault)
    before = vault.read_bytes()
    assert base.left.output("merge", str(other)) == b"Nothing new in the other copy.\n"
    assert vault.read_bytes() == before


def test_the_other_copy_is_only_read(apart: Copies) -> None:
    before = apart.right.vault.read_bytes()
    apart.left.output("merge", str(apart.right.vault))
    assert apart.right.vault.read_bytes() == before and apart.right.files() == VAULT_AND_KEY


def test_a_damaged_copy_changes_nothing_and_is_named(apart: Copies) -> None:
    other, sound, before = apart.left.folder / "other", apart.right.vault.read_bytes(), apart.left.vault.read_bytes()
    places = [0, 40, 300, 8_200, 8_400, *range(8_500, len(sound.rstrip(b"\0")), 101)]
    for content in (b"", b"no vault", sound[:5_000], *(damaged(sound, place) for place in places)):
        other.write_bytes(content)
        assert str(other) in apart.left.refusal(DAMAGED, "merge", str(other))
    assert apart.left.vault.read_bytes() == before


def damaged(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(("path", "code"), [("nothing", NOT_FOUND), (".", USAGE), ("", USAGE), ("~/x.vault", USAGE)])
def test_a_copy_that_is_not_there_is_an_error(base: Copies, path: str, code: int) -> None:
    before = base.left.files()
    sentence = base.left.refusal(code, "merge", path)
    assert (path or "folder") in sentence and base.left.files() == before


def test_another_vault_of_the_same_key_file_is_refused(base: Copies) -> None:
    before = base.left.vault.read_bytes()
    base.left.output("set", "other", "--vault", "other.vault", "--key-file", str(base.left.key), stdin=b"x")
    assert "another vault" in base.left.refusal(USAGE, "merge", "other.vault")
    assert base.left.vault.read_bytes() == before


def test_a_copy_that_the_key_does_not_open_is_exit_5_and_named(apart: Copies) -> None:
    apart.right.output("key", "replace", "new.key")
    assert str(apart.right.vault) in apart.left.refusal(LOCKED, "merge", str(apart.right.vault))
    lose_key_file(apart.left)
    apart.left.refusal(LOCKED, "merge", str(apart.right.vault))


def test_the_keys_of_a_copy_that_was_rotated_count(apart: Copies) -> None:
    """Who was locked out there does not come in again by a merge."""
    for home in apart.both:
        home.output("key", "add", "--file", "second.key")
    apart.right.output("key", "rotate", "--drop", "2")
    before, state = all_values(apart.left), apart.left.vault.read_bytes()
    # Whoever was locked out may have put this file in the vault's place.
    failed = apart.left.refusal(ALARM, "merge", str(apart.right.vault))
    assert "Nothing was merged" in failed and "\n  both\n  left\n" in failed
    assert all_values(apart.left) == before and apart.left.vault.read_bytes() == state
    report = merge(apart.left, apart.right.vault, "--all-from-former-key")
    assert report["keys"] == "of-other-copy" and report["conflicts"] == ["both"]
    assert all_values(apart.left) == MERGED and keys(apart.left) == keys(apart.right)
    apart.left.refusal(LOCKED, "get", "both", "--key-file", "second.key")
    apart.left.output("verify")


def test_a_copy_from_before_a_rotation_does_not_bring_its_keys_back(apart: Copies) -> None:
    apart.right.output("key", "add", "--file", "second.key")
    apart.left.output("key", "rotate")
    report = merge(apart.left, apart.right.vault, "--all-from-former-key")
    assert report["keys"] == "of-this-copy" and all_values(apart.left) == MERGED
    apart.left.refusal(LOCKED, "get", "both", "--key-file", str(apart.right.folder / "second.key"))


def test_a_copy_from_before_a_rotation_is_taken_by_name_alone(apart: Copies) -> None:
    """Whoever was shut out by the rotation may have changed it."""
    apart.left.output("key", "rotate")
    before = all_values(apart.left)
    failed = apart.left.refusal(ALARM, "merge", str(apart.right.vault))
    assert "from before the data key was rotated here" in failed
    assert "were not taken over:\n  both\n  gone\n  right\nIf you know that one is right" in failed
    assert all_values(apart.left) == before
    advice = failed.splitlines()[-1].split("over: vault ", 1)[1].replace("NAME", "right")
    finished = apart.left.run(*shlex.split(advice))
    assert finished.returncode == ALARM and finished.stdout.startswith(b"Merged: 1 changed.\n")
    assert all_values(apart.left) == before | {"right": [b"canary-right"]}
    assert apart.left.output("merge", "--from-former-key", "both", "--from-former-key", "gone", str(apart.right.vault))
    assert all_values(apart.left) == MERGED
    assert merge(apart.left, apart.right.vault) == NOTHING | {"keys": "of-this-copy"}


def test_what_a_rotation_has_shut_out_is_left_out_the_other_way(apart: Copies) -> None:
    """As the message says."""
    apart.right.output("key", "rotate")
    right = all_values(apart.right)
    failed = apart.left.refusal(ALARM, "merge", str(apart.right.vault))
    command = failed.split("in the vault's place: ", 1)[1]
    finished = apart.left.shell(command)
    assert finished.returncode == ALARM and b"These were not taken over:\n  both\n  left\n" in finished.stderr
    assert all_values(apart.left) == right and apart.left.values() == {"both": b"canary-right", "right": b"canary-right", "stays": b"canary-base"}
    apart.left.set("afterwards", b"1")
    before = apart.left.vault.with_name(apart.left.vault.name + ".before")
    apart.left.output("merge", "--all-from-former-key", str(before))
    assert all_values(apart.left) == MERGED | {"afterwards": [b"1"]}


def test_the_other_way_stops_if_the_file_cannot_be_put_aside(apart: Copies) -> None:
    """Otherwise the command would accept the file that was to be left out."""
    apart.right.output("key", "rotate")
    before = apart.left.vault.with_name(apart.left.vault.name + ".before")
    before.write_bytes(b"of an earlier time")
    files = [apart.left.vault.read_bytes(), apart.right.vault.read_bytes()]
    command = apart.left.refusal(ALARM, "merge", str(apart.right.vault)).split("in the vault's place: ", 1)[1]
    finished = apart.left.shell(command)
    assert finished.returncode == 1 and finished.stdout == b"" and b"File exists" in finished.stderr
    assert [apart.left.vault.read_bytes(), apart.right.vault.read_bytes()] == files
    assert before.read_bytes() == b"of an earlier time"


def test_what_this_machine_has_changed_during_a_rotation_is_kept_by_one_command(apart: Copies) -> None:
    """A laptop that was offline: the message has the command, with each name."""
    apart.left.set("it's a \"name\"", b"canary-left")
    apart.right.output("key", "rotate")
    failed = apart.left.refusal(ALARM, "merge", str(apart.right.vault))
    (command,) = [line.split("keep them: ", 1)[1] for line in failed.splitlines() if "keep them: " in line]
    assert apart.left.shell(command).returncode == 0
    assert all_values(apart.left) == MERGED | {"it's a \"name\"": [b"canary-left"]}
    assert keys(apart.left) == keys(apart.right) and b"intact" in apart.left.output("verify")


# While others write, and killed


def test_what_others_write_meanwhile_is_kept_and_two_merges_do_not_wait_for_each_other(apart: Copies) -> None:
    def write() -> None:
        for turn in range(20):
            apart.left.set(f"turn-{turn:02}", b"%d" % turn)

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(4):
        merges = [apart.left.start("merge", str(apart.right.vault)), apart.right.start("merge", str(apart.left.vault))]
        ended = [(process.communicate(timeout=30), process.returncode) for process in merges]
        assert [code for _, code in ended] == [0, 0], ended
    writer.join()
    apart.right.output("merge", str(apart.left.vault))
    turns = {f"turn-{turn:02}": [b"%d" % turn] for turn in range(20)}
    assert all_values(apart.left) == all_values(apart.right) == MERGED | turns


def test_killed_at_any_call_that_changes_something_a_second_merge_comes_to_the_same(
    apart: Copies, tmp_path: Path
) -> None:
    words = ("merge", str(apart.right.vault))
    traced = apart.left.copy(tmp_path / "traced")
    calls = [call for call in trace(traced, *words, names=CHANGING) if str(traced.vault.parent) in call.line]
    changing = [call for call in calls if call.name != "openat" or "O_CREAT" in call.line]
    assert len(changing) > 5
    for index, call in enumerate(changing):
        home = apart.left.copy(tmp_path / f"killed-{index}")
        finished = with_fault(home, call.name, f"signal=KILL:when={call.ordinal}", *words)
        assert finished.returncode == -signal.SIGKILL, (call, finished)
        assert all_values(home)["both"] in (MERGED["both"], [b"canary-left", b"canary-base"]), call
        home.output(*words)
        assert all_values(home) == MERGED and home.files() == VAULT_AND_KEY, call
