"""`vault merge`: two copies that went apart come to the same, and no value of either is lost."""

import json
import re
import shlex
import shutil
import signal
import threading
from pathlib import Path

import pytest

from copies import Copies, all_values, copies, dropping, leaving_out
from homes import VAULT_AND_KEY, Home
from key_slots import keys, lose_key_file
from terminals import on_terminal
from tracing import CHANGING, trace, with_fault

CHECKPOINT_START = 8192
USAGE, NOT_FOUND, LOCKED, DAMAGED, ALARM = 2, 3, 5, 6, 9
CANARIES = [b"canary-base", b"canary-left", b"canary-right"]
KEYS = ("keys_added", "keys_lost", "keys_removed", "keys_here_alone", "keys_there_alone")
MEMBERS = ("removed_members", "members_here_alone", "members_there_alone")
NO_KEYS = {name: [] for name in (*KEYS, *MEMBERS)}
NOTHING = {"changed": [], "conflicts": [], "dropped": [], "keys": "same", "refused": []} | NO_KEYS


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
    assert count == "Merged: 3 changed." and title.startswith("Changed in both copies; ") and names == ["  both"]
    shown = on_terminal(apart.right, "merge", str(apart.left.vault))
    assert b"Merged: 2 changed." in shown and not any(canary in shown for canary in CANARIES)


def test_the_report(apart: Copies) -> None:
    changed = {"changed": ["both", "gone", "right"], "conflicts": ["both"], "dropped": [], "keys": "same", "refused": []}
    assert merge(apart.left, apart.right.vault) == changed | NO_KEYS
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


def test_the_merged_file_replaces_both_without_a_complaint(apart: Copies) -> None:
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


def test_a_copy_elsewhere_is_merged_detached_from_what_this_machine_remembers(apart: Copies) -> None:
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
    assert base.left.output("merge", str(other)) == b"The other copy has nothing new.\n"
    assert vault.read_bytes() == before


def test_the_other_copy_is_only_read(apart: Copies) -> None:
    before = apart.right.vault.read_bytes()
    apart.left.output("merge", str(apart.right.vault))
    assert apart.right.vault.read_bytes() == before and apart.right.files() == VAULT_AND_KEY


def test_a_damaged_copy_changes_nothing_and_is_named(apart: Copies) -> None:
    other, sound, before = apart.left.folder / "other", apart.right.vault.read_bytes(), apart.left.vault.read_bytes()
    paths = [0, 40, 300, 8_200, 8_400, *range(8_500, len(sound.rstrip(b"\0")), 101)]
    for content in (b"", b"no vault", sound[:5_000], *(damaged(sound, offset) for offset in paths)):
        other.write_bytes(content)
        assert str(other) in apart.left.refusal(DAMAGED, "merge", str(other))
    assert apart.left.vault.read_bytes() == before


def damaged(content: bytes, offset: int) -> bytes:
    return content[:offset] + bytes([content[offset] ^ 1]) + content[offset + 1 :]


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
    assert f"does not open {apart.right.vault}." in apart.left.refusal(LOCKED, "merge", str(apart.right.vault))
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
    assert "predates the rotation of the data key here" in failed
    assert "\nThese changes were not accepted:\n  both\n  right\nThese removals were not accepted:\n  gone\nIf you know" in failed
    assert all_values(apart.left) == before
    advice = failed.splitlines()[-1].split("accept it: vault ", 1)[1].replace("NAME", "right")
    finished = apart.left.run(*shlex.split(advice))
    assert finished.returncode == ALARM and finished.stdout.startswith(b"Merged: 1 changed.\n")
    assert all_values(apart.left) == before | {"right": [b"canary-right"]}
    assert apart.left.output("merge", "--from-former-key", "both", "--from-former-key", "gone", str(apart.right.vault))
    assert all_values(apart.left) == MERGED
    assert merge(apart.left, apart.right.vault) == NOTHING | {"keys": "of-this-copy"}


@pytest.mark.parametrize(("changes", "option"), [(0, "--accept-diverged"), (5, "--accept-rolled-back")])
def test_what_a_rotation_has_shut_out_is_left_out_the_other_way(apart: Copies, changes: int, option: str) -> None:
    """As the message says. It accepts nothing: the alarm that this machine then raises names its option."""
    for number in range(changes):
        apart.left.set("left", b"%d" % number)
    left = all_values(apart.left)["left"]
    apart.right.output("key", "rotate")
    right = all_values(apart.right)
    failed = apart.left.refusal(ALARM, "merge", str(apart.right.vault))
    assert "--accept" not in failed
    exchange, merge_rest, look = leaving_out(failed)
    assert apart.left.shell(exchange).returncode == 0
    finished = apart.left.shell(merge_rest)
    assert finished.returncode == ALARM and b"These changes were not accepted:\n  both\n  left\n" in finished.stderr
    finished = apart.left.shell(look)
    assert finished.returncode == ALARM and option.encode() in finished.stderr
    assert apart.left.shell(f"{look} {option}").stdout == b"both\nright\nstays\n"
    assert all_values(apart.left) == right and apart.left.values() == {"both": b"canary-right", "right": b"canary-right", "stays": b"canary-base"}
    apart.left.set("afterwards", b"1")
    before = apart.left.vault.with_name(apart.left.vault.name + ".before")
    apart.left.output("merge", "--all-from-former-key", str(before))
    assert all_values(apart.left) == MERGED | {"left": left, "afterwards": [b"1"]}


@pytest.mark.parametrize("is_before", [True, False], ids=["before the advice", "after it"])
def test_leaving_out_never_ends_with_the_file_that_is_to_be_left_out(apart: Copies, is_before: bool) -> None:
    """Somebody with access to a synchronized folder may put a file where the vault is to be moved."""
    before = apart.left.vault.with_name(apart.left.vault.name + ".before")
    apart.right.output("key", "rotate")
    right = all_values(apart.right)
    if is_before:
        before.write_bytes(b"planted")
    failed = apart.left.refusal(ALARM, "merge", str(apart.right.vault))
    before.write_bytes(b"planted")
    exchange, merge_rest, look = leaving_out(failed)
    own = apart.left.vault.read_bytes()
    finished = apart.left.shell(exchange)
    assert before.read_bytes() == b"planted"
    if is_before:
        assert finished.returncode == 0 and all_values(apart.left) == right
        assert before.with_name(before.name + "-2").read_bytes() == own
        assert apart.left.shell(merge_rest).returncode == ALARM
        assert b"--accept-" in apart.left.shell(look).stderr
    else:
        assert finished.returncode == 1 and b"File exists" in finished.stderr
        assert apart.left.vault.read_bytes() == own and apart.right.vault.exists()


@pytest.mark.parametrize("first", ["old.key", "new.key"])
@pytest.mark.parametrize("is_here", [False, True])
def test_a_key_that_was_replaced_in_one_copy_is_added_to_the_other_as_the_message_says(
    apart: Copies, first: str, is_here: bool
) -> None:
    """No command line has both keys."""
    old, new = apart.left.key.rename(apart.left.folder / "old.key"), apart.left.folder / "new.key"
    apart.right.output("key", "replace", str(new))
    copy = apart.right.vault
    if is_here:
        # As a file synchronization exchanges them, this machine's copy is beside the vault.
        copy = apart.left.vault.rename(apart.left.folder / "own.vault")
        shutil.copy(apart.right.vault, apart.left.vault)
    # The vault opens with the new key, and its alarm is told first.
    code = ALARM if is_here and first == "new.key" else LOCKED
    words = ("merge", str(copy), "--key-file", str(apart.left.folder / first), "--vault", str(apart.left.vault))
    failed = apart.left.refusal(code, *words)
    adding = re.findall(r"^  (vault .* key add .*)$", failed, re.MULTILINE)
    (merging,) = [line.split("the new key: ", 1)[1] for line in failed.splitlines() if "the new key: " in line]
    assert [f"--vault '{vault}'" in line for vault, line in zip((apart.left.vault, copy), adding, strict=True)] == [True, True]
    for line in (adding[is_here], merging):
        finished = apart.left.shell(line.replace("OLD", str(old)).replace("NEW", str(new)))
        assert finished.returncode == 0, (line, finished)
    shutil.copy(new, apart.left.key)
    assert all_values(apart.left) == MERGED


def test_a_backup_from_before_a_key_was_replaced_does_not_bring_the_key_back(home: Home) -> None:
    """As the message says: without --detached, this machine takes the backup for the vault, and its keys count."""
    home.set("base", b"1")
    backup = Path(shutil.copy(home.vault, home.folder / "a backup.vault"))
    home.output("key", "replace", "new.key")
    new = home.with_variables(VAULT_KEY_FILE=str(home.folder / "new.key"))
    new.set("later", b"2")
    failed = new.refusal(LOCKED, "merge", str(backup))
    adding = re.findall(r"^  (vault .* key add .*)$", failed, re.MULTILINE)[1]
    merging = failed.split("the new key: ", 1)[1]
    for line in (adding, merging):
        finished = new.shell(line.replace("OLD", str(home.key)).replace("NEW", "new.key"))
        assert finished.returncode == 0, (line, finished)
    assert home.run("get", "later").returncode == LOCKED
    assert new.get("later") == b"2" and new.get("base") == b"1" and b"intact" in new.output("verify")


@pytest.fixture
def with_bob(home: Home, tmp_path: Path) -> Copies:
    """Two laptops, and Bob's key opens both copies."""
    home.set("base", b"canary-base")
    home.output("key", "add", "--file", "bob.key", "--label", "bob")
    both = copies(home, tmp_path / "right")
    shutil.copy(both.left.folder / "bob.key", both.right.folder)
    return both


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_key_that_was_dropped_in_another_rotation_is_named_before_anything_is_merged(
    with_bob: Copies, is_kept: bool
) -> None:
    """Two laptops rotated apart, and one of them has shut Bob out by that."""
    left, right = with_bob.left, with_bob.right
    right.output("key", "rotate", "--drop", "2")
    right.set("since", b"canary-right")
    left.output("key", "rotate", "--file", "2=bob.key")
    before = left.vault.read_bytes()
    for words in ((), ("--from-former-key", "since"), ("--all-from-former-key",)):
        failed = left.refusal(ALARM, "merge", str(right.vault), *words)
        assert '2  key file "bob"' in failed and '1  key file' not in failed and left.vault.read_bytes() == before
    if is_kept:
        (command,) = [line.split("keep them: ", 1)[1] for line in failed.splitlines() if "keep them: " in line]
        assert "--keep 2" in command and left.shell(command).returncode == 0
    else:
        assert [left.shell(command).returncode for command in dropping(failed)] == [0, 0]
    assert left.values() == {"base": b"canary-base", "since": b"canary-right"}
    assert (left.run("--key-file", "bob.key", "get", "since").returncode == 0) == is_kept
    assert left.refusal(NOT_FOUND, "merge", "--keep", "9", str(right.vault))


def test_a_key_in_use_that_has_another_name_in_the_copy_is_kept_as_the_message_says(apart: Copies) -> None:
    left, right = apart.left, apart.right
    left.output("key", "rotate")
    right.output("key", "replace", "new.key")
    right.output("--key-file", "new.key", "key", "rotate")
    shutil.copy(right.folder / "new.key", left.folder)
    left.output("key", "add", "--file", "new.key")
    failed = left.refusal(ALARM, "--key-file", "new.key", "merge", "--all-from-former-key", str(right.vault))
    assert "  1  key file, since 2" in failed and "* 2  key file, since 2" in failed
    drop, again = dropping(failed)
    assert "--drop 1" in drop and "--drop 2" not in drop and left.shell(drop).returncode == 0
    finished = left.shell(again)
    failed = finished.stderr.decode()
    assert finished.returncode == ALARM and "leave them out, open the vault with another key, and merge again." in failed
    (keep,) = [line.split("keep them: ", 1)[1] for line in failed.splitlines() if "keep them: " in line]
    assert left.shell(keep).returncode == 0
    shutil.copy(left.folder / "new.key", left.key)
    assert all_values(left) == MERGED


def test_a_key_that_was_removed_does_not_come_back_with_the_other_copys_rotation(with_bob: Copies) -> None:
    left, right = with_bob.left, with_bob.right
    left.output("key", "rm", "2")
    right.output("key", "rotate", "--file", "2=bob.key")
    right.set("since", b"canary-right")
    told = left.output("merge", str(right.vault)).decode()
    assert "removed in one of the copies, so they no longer open this vault:\n  key file \"bob\", since 2" in told
    assert "data key. Rotate it: `vault key rotate`\n" in told and left.get("since") == b"canary-right"
    left.refusal(LOCKED, "--key-file", "bob.key", "get", "since")
    # Nor into the other copy, by the way that the message there names.
    left.set("later", b"canary-left")
    told = right.output("merge", str(left.vault)).decode()
    assert "key file \"bob\"" in told
    right.refusal(LOCKED, "--key-file", "bob.key", "get", "since")


def test_a_key_that_a_copy_from_before_the_rotation_has_removed_is_asked_about(with_bob: Copies) -> None:
    left, right = with_bob.left, with_bob.right
    left.output("key", "rm", "2")
    right.output("key", "rotate", "--file", "2=bob.key")
    failed = right.refusal(ALARM, "merge", str(left.vault))
    assert '2  key file "bob"' in failed and "You may delete" not in failed
    for command in dropping(failed):
        assert right.shell(command).returncode == 0, command
    right.refusal(LOCKED, "--key-file", "bob.key", "get", "base")


def test_a_key_that_was_dropped_here_is_left_out_of_a_file_at_the_vaults_path(with_bob: Copies) -> None:
    """A file synchronization has put the other laptop's file there, and this one's beside it."""
    left, right = with_bob.left, with_bob.right
    left.output("key", "rotate", "--drop", "2")
    left.set("since", b"canary-left")
    right.output("key", "rotate", "--file", "2=bob.key")
    beside = left.vault.with_name("default.sync-conflict-20260101-120000-ABCDEFG.vault")
    left.vault.rename(beside)
    shutil.copy(right.vault, left.vault)
    failed = left.refusal(ALARM, "merge")
    assert '2  key file "bob"' in failed
    for command in leaving_out(failed):
        assert left.shell(command).returncode == 0, command
    assert left.values() == {"base": b"canary-base", "since": b"canary-left"}
    left.refusal(LOCKED, "--key-file", "bob.key", "get", "base")


def test_the_only_intact_copy_is_not_to_be_deleted(home: Home, tmp_path: Path) -> None:
    """Nobody has noticed the damage yet: it is in a value that both copies have."""
    home.set("base", b"canary-base")
    home.output("compact")
    both = copies(home, tmp_path / "right")
    both.right.set("since", b"canary-right")
    image = bytearray(both.left.vault.read_bytes())
    image[CHECKPOINT_START + 20] ^= 1
    both.left.vault.write_bytes(image)
    finished = both.left.run("merge", str(both.right.vault))
    assert finished.returncode == DAMAGED and finished.stdout == b"Merged: 1 changed.\n"
    assert b"is damaged" in finished.stderr and both.right.get("base") == b"canary-base"


def test_the_keys_that_come_and_go_are_told(with_bob: Copies) -> None:
    left, right = with_bob.left, with_bob.right
    left.output("key", "add", "--file", "late.key", "--label", "late")
    right.output("key", "rotate", "--replace", "2=new.key")
    told = left.output("merge", str(right.vault)).decode()
    assert '\nThese keys no longer open this vault. The new data key was created without them:\n  key file "bob"' in told
    assert '  key file "late"' in told and "Add those that should open it, except keys of users without access: `vault key add`\n" in told
    assert '\nThese keys of the other copy now open this vault:\n  key file "bob"' in told


def test_the_keys_that_open_one_of_the_copies_alone_are_told(with_bob: Copies) -> None:
    """A key that both have added has another name in each: a removal in one copy does not remove it here."""
    left, right = with_bob.left, with_bob.right
    left.output("key", "add", "--file", "late.key", "--label", "late")
    shutil.copy(left.folder / "late.key", right.folder)
    right.output("key", "add", "--file", "late.key", "--label", "late")
    right.output("key", "add", "--file", "other.key", "--label", "other")
    right.output("key", "rm", "3")
    told = left.output("merge", str(right.vault)).decode()
    here, there = "These keys open only this copy:\n", "These keys open only the other copy:\n"
    assert here + '  3  key file "late", since 2' in told and there + '  key file "other", since 2' in told
    assert "drop it: `vault key rotate --drop NUMBER`\n" in told and "bob" not in told
    report = merge(left, right.vault)
    assert [key["label"] for key in report["keys_here_alone"]] == ["late"]
    assert [key["label"] for key in report["keys_there_alone"]] == ["other"]
    # What a copy has that was rotated counts, and nothing is left to tell.
    right.output("key", "rotate", "--replace", "2=new.key", "--replace", "3=newer.key")
    assert "alone" not in left.output("merge", str(right.vault)).decode()


def test_what_was_kept_by_name_already_is_in_the_next_advice(apart: Copies) -> None:
    """Otherwise two names would send to each other."""
    apart.right.output("key", "rotate")
    failed = apart.left.refusal(ALARM, "merge", str(apart.right.vault), "--from-former-key", "left")
    (command,) = [line.split("keep them: ", 1)[1] for line in failed.splitlines() if "keep them: " in line]
    assert apart.left.shell(command).returncode == 0 and all_values(apart.left) == MERGED


def test_two_names_that_look_the_same_are_told_apart(base: Copies) -> None:
    names = ["x\u202e", "x\\u{202e}", "\u00e9", "e\u0301"]
    for name in names:
        base.right.set(name, name.encode())
    base.left.output("key", "rotate")
    failed = base.left.refusal(ALARM, "merge", str(base.right.vault))
    words = [line.split(" as ", 1)[1] for line in failed.splitlines() if line.startswith("Write ")]
    assert len(set(words)) == len(names)
    taking = " ".join(f"--from-former-key={word}" for word in words)
    assert base.left.shell(f"vault merge {taking} {shlex.quote(str(base.right.vault))}").returncode == 0
    assert {name: base.left.get(name) for name in names} == {name: name.encode() for name in names}


# Names that the shell, the parser or the terminal would take for something else

HOSTILE = ["-x", "-y\u200b", "--json", "a=b", "$HOME", "it's", "a\u202eb%s\\n'\"", "ü"]


def test_names_of_any_form_are_kept_as_the_message_says(apart: Copies) -> None:
    for name in HOSTILE:
        apart.left.output("set", "--", name, stdin=b"of left")
    apart.right.output("key", "rotate")
    finished = apart.left.run("merge", str(apart.right.vault))
    assert finished.returncode == ALARM and "\u202e" not in finished.stderr.decode()
    (command,) = [line.split("keep them: ", 1)[1] for line in finished.stderr.decode().splitlines() if "keep them: " in line]
    assert apart.left.shell(command).returncode == 0
    assert all_values(apart.left) == MERGED | {name: [b"of left"] for name in HOSTILE}


@pytest.mark.parametrize("name", ["-x", "a\u202eb%s\\n'\""])
def test_a_name_of_any_form_is_taken_over_as_the_message_says(base: Copies, name: str) -> None:
    base.right.output("set", "--", name, stdin=b"of right")
    base.left.output("key", "rotate")
    failed = base.left.run("merge", str(base.right.vault)).stderr.decode()
    (command,) = [line.split("accept it: ", 1)[1] for line in failed.splitlines() if "accept it: " in line]
    hidden = [line.split(" as ", 1)[1] for line in failed.splitlines() if line.startswith("Write ")]
    assert len(hidden) == (name != "-x")
    assert base.left.shell(command.replace("NAME", *(hidden or [name]))).returncode == 0
    assert base.left.output("get", "--", name) == b"of right"


def test_removals_that_are_not_taken_over_are_told_apart_from_values(base: Copies) -> None:
    """Taking one over removes the name. No name can pass for another kind by its own words."""
    marked = "plain (removed there)"
    for name in ("away", "plain", "purged"):
        base.left.set(name, b"1")
    shutil.copy(base.left.vault, base.right.vault)
    base.left.output("key", "rotate")
    base.right.output("rm", "away")
    base.right.output("rm", "--purge", "purged")
    base.right.set("plain", b"2")
    base.right.set(marked, b"3")
    failed = base.left.refusal(ALARM, "merge", str(base.right.vault))
    assert (
        f"\nThese changes were not accepted:\n  plain\n  {marked}\n"
        "These removals were not accepted:\n  away\n  purged\nIf you know that one of these changes is right") in failed
    # The other way, they are this machine's own.
    failed = base.right.refusal(ALARM, "merge", str(base.left.vault))
    vault = base.right.vault
    assert (
        f"\nThey may have written these in {vault}:\n  plain\n  {marked}\n"
        f"They may have removed these in {vault}:\n  away\n  purged\nIf you know that these changes are right") in failed
    assert base.left.run("merge", "--from-former-key", "away", str(base.right.vault)).returncode == ALARM
    assert "away" not in base.left.names() and "purged" in base.left.names()


def test_a_copy_whose_path_begins_with_a_dash_is_named_as_a_path(apart: Copies) -> None:
    shutil.copy(apart.right.vault, apart.left.folder / "-x.vault")
    apart.left.output("key", "rotate")
    failed = apart.left.refusal(ALARM, "merge", "--", "-x.vault")
    assert failed.endswith("merge --from-former-key=NAME './-x.vault'\n")


@pytest.mark.parametrize("name", ["rihgt", "right\u202e", "a" * 2000], ids=["slip", "hidden", "invalid"])
def test_a_name_that_no_copy_has_is_an_error_before_anything_is_merged(apart: Copies, name: str) -> None:
    apart.left.output("key", "rotate")
    before = apart.left.vault.read_bytes()
    words = ("merge", str(apart.right.vault), "--from-former-key", "both", "--from-former-key")
    assert "Nothing was merged." in apart.left.refusal(NOT_FOUND, *words, name)
    assert apart.left.vault.read_bytes() == before
    finished = apart.left.run("merge", str(apart.right.vault), "--from-former-key", "gone")
    assert finished.stdout.startswith(b"Merged: 1 changed.\n"), "a name that was removed there is known"


def test_an_alarm_that_stays_after_a_merge_ends_as_the_message_says(apart: Copies) -> None:
    """Both were rotated apart, and the other machine has taken over by name all that is here."""
    left, right = apart.left, apart.right
    for home in apart.both:
        home.output("key", "rotate")
    own = left.vault.with_name("own.vault")
    shutil.copy(left.vault, own)
    options = ("--from-former-key", "both", "--from-former-key", "left")
    right.output("merge", str(own), *options)
    left.vault.unlink()
    shutil.copy(right.vault, left.vault)
    finished = left.run("merge", str(own))
    (command,) = re.findall(rb"accept all of them: `(vault [^`]+)`", finished.stderr)
    assert finished.returncode == ALARM and b"You may delete" not in finished.stdout
    assert left.shell(command.decode()).returncode == 0
    assert all_values(left) == MERGED


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
