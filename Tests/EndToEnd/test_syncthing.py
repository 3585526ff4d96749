"""Two laptops whose vault a file synchronization copies: what it leaves is merged, and nothing of either is lost."""

import json
import os
import re
import shlex
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from copies import Copies, copies
from homes import Home
from key_slots import keys
from layout import records
from tracing import CHANGING, trace, with_fault

LOCKED, DAMAGED, ALARM = 5, 6, 9
CONFLICT = "default.sync-conflict-20260101-120000-ABCDEFG.vault"
BOTH = {"base": b"0", "left": b"1", "right": b"2"}


@pytest.fixture
def apart(home: Home, tmp_path: Path) -> Copies:
    """Each has a change that the other one lacks."""
    home.set("base", b"0")
    both = copies(home, tmp_path / "right")
    both.left.set("left", b"1")
    both.right.set("right", b"2")
    return both


def leave(home: Home, other: Path, name: str = CONFLICT) -> Path:
    """The other one's file takes the place of the vault, whose own file is renamed: as where the other's is newer."""
    conflict = home.vault.with_name(name)
    home.vault.rename(conflict)
    shutil.copy(other, home.vault)
    return conflict


def beside(home: Home, other: Path, name: str = CONFLICT) -> Path:
    """The other one's file is renamed."""
    return Path(shutil.copy(other, home.vault.with_name(name)))


def advised(home: Home, text: str) -> bytes:
    """Runs the first command that a message advises, letter by letter."""
    command = re.search(r"`(vault .*?)`", text, re.DOTALL)
    assert command, text
    return home.output(*shlex.split(command[1])[1:])


def deleted(home: Home, shown: bytes) -> Path:
    [path] = re.findall(r"You may delete (.*)\.\n", shown.decode())
    Path(path).unlink()
    return Path(path)


@pytest.mark.parametrize("command", [("ls",), ("get", "base"), ("verify",), ("find", "x=y")])
def test_the_alarm_names_the_merge_before_it_speaks_of_accepting(apart: Copies, command: tuple[str, ...]) -> None:
    conflict = leave(apart.left, apart.right.vault)
    sentence = apart.left.refusal(ALARM, *command)
    assert sentence.index(f"`vault merge {shlex.quote(str(conflict))}`".replace(str(conflict), f"'{conflict}'")) < (
        sentence.index("ccept"))
    assert "--accept-diverged" in sentence and "come back" not in sentence


def test_an_older_vault_brings_back_what_was_removed_whatever_is_beside_it(apart: Copies) -> None:
    """Whoever was shut out can put both files there."""
    left, old = apart.left, apart.left.vault.read_bytes()
    left.output("key", "rotate")
    left.vault.write_bytes(old)
    told = "keys and members removed since then will come back"
    assert told in left.refusal(ALARM, "ls")
    conflict = left.vault.with_name(CONFLICT)
    conflict.write_bytes(old)
    for words in (("ls",), ("merge",), ("merge", str(conflict))):
        sentence = left.refusal(ALARM, *words)
        assert sentence.index(told) < sentence.index("--accept-rolled-back")
        assert "loses nothing" not in sentence
    assert left.vault.read_bytes() == old


def test_the_alarm_says_what_the_merge_refuses(apart: Copies) -> None:
    left, old = apart.left, apart.left.vault.read_bytes()
    left.set("later", b"1")
    left.vault.write_bytes(old)
    beside(left, apart.right.vault)
    sentence = left.refusal(ALARM, "ls")
    assert "This merge helps only if one of the copies has the changes that this machine has seen." in sentence
    command = re.search(r"`(vault merge .*?)`", sentence)[1]
    assert "Nothing was merged" in left.refusal(ALARM, *shlex.split(command)[1:])
    assert left.vault.read_bytes() == old


@pytest.mark.parametrize("ahead", [0, 1, 3])
def test_what_it_advises_loses_nothing(apart: Copies, ahead: int) -> None:
    for number in range(ahead):
        apart.right.set("right", b"2")
    conflict = leave(apart.left, apart.right.vault)
    shown = advised(apart.left, apart.left.refusal(ALARM, "ls"))
    assert deleted(apart.left, shown) == conflict
    assert apart.left.values() == BOTH
    apart.left.output("verify")
    # The merged file comes to the other one.
    shutil.copy(apart.left.vault, apart.right.vault)
    assert apart.right.values() == BOTH
    apart.right.set("right", b"3")


def test_in_the_other_order_there_is_no_alarm(apart: Copies) -> None:
    conflict = beside(apart.left, apart.right.vault)
    assert apart.left.output("ls") == b"base\nleft\n"
    assert deleted(apart.left, apart.left.output("merge")) == conflict
    assert apart.left.values() == BOTH


def test_an_older_file_at_its_path_is_merged_too(apart: Copies) -> None:
    left = apart.left
    older = Path(shutil.copy(left.vault, left.folder / "older"))
    left.set("left", b"1")
    left.set("later", b"1")
    leave(left, older)
    sentence = left.refusal(ALARM, "ls")
    assert "older copy" in sentence
    advised(left, sentence)
    assert left.values() == {"base": b"0", "left": b"1", "later": b"1"}


def test_a_key_that_was_removed_does_not_come_back_with_an_older_file(apart: Copies) -> None:
    left = apart.left
    left.output("key", "add", "--file", "lost.key")
    left.set("left", b"1")
    older = Path(shutil.copy(left.vault, left.folder / "older"))
    left.output("key", "rm", "2")
    left.output("history", "--keep", "3,30")
    left.set("later", b"4")
    leave(left, older)
    shown = advised(left, left.refusal(ALARM, "ls"))
    assert b"Those of the other copy were adopted" in shown
    assert len(keys(left)) == 1
    for number in range(5):
        left.set("often", f"{number}".encode())
    assert len(json.loads(left.output("history", "often", "--json"))["versions"]) == 3
    left.refusal(LOCKED, "ls", "--key-file", "lost.key")
    assert left.values() == {"base": b"0", "left": b"1", "later": b"4", "often": b"4"}


def test_a_file_that_ends_within_a_change_is_kept(apart: Copies) -> None:
    conflict = beside(apart.left, apart.right.vault)
    content = conflict.read_bytes()
    last = records(apart.right.vault)[-1]
    conflict.write_bytes(content[: last.offset + 100])
    shown = apart.left.output("merge")
    assert b"is incomplete" in shown and b"delete" not in shown
    conflict.write_bytes(content)
    assert deleted(apart.left, apart.left.output("merge")) == conflict
    assert apart.left.values() == BOTH


def test_the_alarm_stays_if_no_copy_has_what_is_remembered(apart: Copies, tmp_path: Path) -> None:
    left = apart.left
    third = left.copy(tmp_path / "third")
    third.set("third", b"3")
    kept = Path(shutil.copy(left.vault, left.folder / "kept.vault"))
    left.set("left", b"of left alone")
    newest = Path(shutil.copy(left.vault, left.folder / "newest.vault"))
    shutil.copy(apart.right.vault, left.vault)
    conflict = beside(left, third.vault)
    before = left.vault.read_bytes()
    for words in (("merge",), ("merge", str(conflict)), ("merge", str(kept))):
        sentence = left.refusal(ALARM, *words)
        assert "Nothing was merged" in sentence and left.vault.read_bytes() == before
        # Not what has just failed.
        assert f"`vault {shlex.join(words)}`".replace(str(words[-1]), f"'{words[-1]}'") not in sentence
    left.refusal(ALARM, "ls")
    assert deleted(left, left.output("merge", str(newest))) == newest
    left.output("merge")
    assert left.values() == BOTH | {"left": b"of left alone", "third": b"3"}


@pytest.mark.parametrize("names", [(0, 1), (1, 0)])
def test_two_copies_are_merged_whichever_has_what_is_remembered(
    apart: Copies, tmp_path: Path, names: tuple[int, int]
) -> None:
    left = apart.left
    third = left.copy(tmp_path / "third")
    third.set("third", b"3")
    left.set("later", b"4")
    paths = [CONFLICT, CONFLICT.replace("2026", "2027")]
    leave(left, apart.right.vault, paths[names[0]])
    beside(left, third.vault, paths[names[1]])
    sentence = left.refusal(ALARM, "ls")
    shown = advised(left, sentence)
    assert len(re.findall(rb"You may delete ", shown)) == 2
    assert left.values() == BOTH | {"third": b"3", "later": b"4"}
    left.output("verify")


@pytest.mark.parametrize(
    "name", [
        "default.sync-conflict-20260101-120000-A B.vault", "default.sync-conflict-20260101\n`x`-'A'.vault",
        "default (mia's conflicted copy 2026-01-01).vault", "default (conflicted copy 2026-01-01 120000).vault",
    ])
def test_any_name_can_be_copied_from_the_message(apart: Copies, name: str) -> None:
    leave(apart.left, apart.right.vault, name)
    sentence = apart.left.refusal(ALARM, "ls")
    if "`x`" in name:
        # A line feed would begin a line of its own.
        command = re.search(r"`(vault merge \"\$\(printf '.*?'\)\")`", sentence)
        assert command, sentence
        done = apart.left.shell(command[1])
        assert done.returncode == 0, done.stderr
    else:
        advised(apart.left, sentence)
    assert apart.left.values() == BOTH


def test_a_file_that_is_under_way_is_waited_for(apart: Copies) -> None:
    left = apart.left
    shutil.copy(apart.right.vault, left.vault)
    for name in (f".syncthing.{CONFLICT}.tmp", "~syncthing~default.vault.tmp"):
        path = left.vault.with_name(name)
        path.touch()
        sentence = left.refusal(ALARM, "ls")
        assert f"{path} may be incomplete" in sentence
        assert sentence.index("incomplete") < sentence.index("ccept") and "merge" not in sentence
        path.unlink()
    assert "incomplete" not in left.refusal(ALARM, "ls")


def test_other_files_are_no_copies(apart: Copies) -> None:
    left = apart.left
    shutil.copy(apart.right.vault, left.vault)
    for name in ("other.sync-conflict-20260101-120000-ABCDEFG.vault", "default.vault.old", "default (copy).vault"):
        beside(left, apart.right.vault, name)
    assert "merge" not in left.refusal(ALARM, "ls")
    left.output("ls", "--accept-diverged")
    assert b"No other copy found" in left.output("merge")
    assert json.loads(left.output("merge", "--json")) == {"copies": [], "files": []}


def test_a_vault_that_is_named_is_named_in_the_advice(apart: Copies) -> None:
    left = apart.left
    vault = left.folder / "my team.vault"
    left.vault.rename(vault)
    left.output("ls", "--vault", str(vault))
    conflict = vault.with_name("my team.sync-conflict-20260101-120000-ABCDEFG.vault")
    vault.rename(conflict)
    shutil.copy(apart.right.vault, vault)
    advised(left, left.refusal(ALARM, "ls", "--vault", str(vault)))
    assert left.output("ls", "--vault", str(vault)) == b"base\nleft\nright\n"


def test_a_merge_of_git_that_waits_is_named(apart: Copies) -> None:
    left = apart.left
    git = left.vault.parent / ".git"
    git.mkdir()
    shutil.copy(apart.right.vault, left.vault)
    assert "unfinished merge" not in left.refusal(ALARM, "ls")
    (git / "MERGE_HEAD").touch()
    sentence = left.refusal(ALARM, "ls")
    assert "show --no-textconv 'MERGE_HEAD:./default.vault'" in sentence and sentence.index("vault merge") < sentence.index("ccept ")


def test_a_merge_that_is_killed_leaves_the_alarm_or_everything(apart: Copies, tmp_path: Path) -> None:
    template = apart.left
    third = template.copy(tmp_path / "third")
    third.set("third", b"3")
    leave(template, apart.right.vault, CONFLICT.replace("2026", "2027"))
    beside(template, third.vault)
    traced = template.copy(tmp_path / "traced")
    calls = [call for call in trace(traced, "merge", names=CHANGING) if str(traced.folder) in call.line]
    assert len(calls) > 5
    wanted = BOTH | {"third": b"3"}
    home = template.copy(tmp_path / "killed")
    ends = set()
    for call in calls:
        home.restore(template)
        finished = with_fault(home, call.name, f"signal=KILL:when={call.ordinal}", "merge")
        assert finished.returncode == -signal.SIGKILL, (call, finished)
        listed = home.run("ls")
        ends.add(listed.returncode)
        assert listed.returncode == ALARM or home.values() == wanted, call
        home.output("merge")
        assert home.values() == wanted, call
    assert ends == {0, ALARM}


def test_a_copy_of_which_something_is_refused_is_not_to_be_deleted(apart: Copies) -> None:
    left = apart.left
    left.output("key", "rotate")
    refused = left.run("merge", str(apart.right.vault))
    assert refused.returncode == ALARM and b"You may delete" not in refused.stdout + refused.stderr


# Copies that cannot be merged

USAGE, LOCKED, DAMAGED, INPUT_OUTPUT = 2, 5, 6, 8
NAMES = [CONFLICT.replace("20260101", f"2026010{number}") for number in range(1, 4)]


def half(path: Path, other: Home) -> None:
    path.write_bytes(other.vault.read_bytes()[:6_000])


def damaged(path: Path, other: Home) -> None:
    content = bytearray(other.vault.read_bytes())
    content[8_300] ^= 1
    path.write_bytes(content)


def of_somebody_else(path: Path, other: Home) -> None:
    strange = other.copy(other.folder.with_name("strange"))
    for file in (strange.vault, strange.key):
        file.unlink()
    strange.output("init", "--force")
    shutil.copy(strange.vault, path)


def another_of_the_same_key(path: Path, other: Home) -> None:
    strange = other.copy(other.folder.with_name("strange"))
    strange.vault.unlink()
    strange.output("init", "--force")
    shutil.copy(strange.vault, path)


UNUSABLE = [
    ("empty", lambda path, other: path.touch(), DAMAGED, "still being copied"),
    ("half of it", half, DAMAGED, "still being copied"),
    ("zeros", lambda path, other: path.write_bytes(bytes(20_000)), DAMAGED, "still being copied"),
    ("damaged", damaged, DAMAGED, "still being copied"),
    ("a named pipe", lambda path, other: os.mkfifo(path), INPUT_OUTPUT, "named pipe"),
    ("a folder", lambda path, other: path.mkdir(), INPUT_OUTPUT, "is a folder"),
    ("a link to nothing", lambda path, other: path.symlink_to("nothing"), 3, "no vault at"),
    ("somebody else's", of_somebody_else, LOCKED, "has been replaced or removed"),
    ("another one of the same key", another_of_the_same_key, USAGE, "is another vault, not a copy"),
]


@pytest.mark.parametrize("is_named", [False, True])
@pytest.mark.parametrize(("break_it", "code", "words"), [row[1:] for row in UNUSABLE], ids=[row[0] for row in UNUSABLE])
def test_a_copy_that_cannot_be_merged_does_not_stop_the_others(
    apart: Copies, tmp_path: Path, break_it: Callable[[Path, Home], object], code: int, words: str, is_named: bool
) -> None:
    left = apart.left
    third = left.copy(tmp_path / "third")
    third.set("third", b"3")
    good = [beside(left, apart.right.vault, NAMES[0]), beside(left, third.vault, NAMES[2])]
    bad = left.vault.with_name(NAMES[1])
    break_it(bad, apart.right)
    named = [str(path) for path in sorted([*good, bad])] if is_named else []
    finished = left.run("merge", *named)
    shown, sentence = finished.stdout.decode(), finished.stderr.decode()
    assert finished.returncode == code, finished
    assert str(bad) in sentence and words in sentence and str(left.vault) not in sentence
    for path in good:
        assert f"You may delete {path}." in shown and str(path) not in sentence
    assert str(bad) not in shown and left.values() == BOTH | {"third": b"3"}
    left.output("verify")
    # The others are gone then, and what is left is told again.
    for path in good:
        path.unlink()
    assert left.refusal(code, "merge") == sentence
    if code == DAMAGED:
        assert f"`vault --vault '{bad}' salvage OUT`" in sentence


def test_of_a_bad_copy_and_a_good_one_json_has_both(apart: Copies) -> None:
    bad, good = apart.left.vault.with_name(NAMES[0]), beside(apart.left, apart.right.vault, NAMES[1])
    bad.touch()
    finished = apart.left.run("merge", "--json")
    report, error = json.loads(finished.stdout), json.loads(finished.stderr)["error"]
    assert (report["files"], report["copies"][0]["changed"]) == ([str(good)], ["right"])
    assert finished.returncode == error["exit"] == DAMAGED and str(bad) in error["message"]


def test_a_bad_copy_does_not_keep_the_alarm_from_being_explained(apart: Copies) -> None:
    """The other machine's file is in the vault's place, this machine's beside it, and another one is half copied."""
    left = apart.left
    conflict = leave(left, apart.right.vault, NAMES[1])
    bad = left.vault.with_name(NAMES[0])
    half(bad, apart.right)
    finished = left.run("merge")
    assert finished.returncode == DAMAGED and f"You may delete {conflict}." in finished.stdout.decode()
    assert left.values() == BOTH
    left.set("afterwards", b"1")


def test_an_alarm_that_only_a_bad_copy_could_explain_says_what_is_wrong_with_that(apart: Copies) -> None:
    left = apart.left
    conflict = leave(left, apart.right.vault)
    whole = conflict.read_bytes()
    conflict.write_bytes(whole[:6_000])
    for words in (("merge",), ("merge", str(conflict))):
        sentence = left.refusal(ALARM, *words)
        assert "Nothing was merged. The vault " in sentence and "still being copied" in sentence
        assert sentence.index("still being copied") < sentence.index("--accept-diverged")
        assert "vault merge" not in sentence
    conflict.write_bytes(whole)
    left.output("merge")
    assert left.values() == BOTH


def test_damage_of_a_copy_that_has_what_is_remembered_is_told_as_its_own(apart: Copies, tmp_path: Path) -> None:
    """The copy that has what this machine remembers opens: a value in it is damaged."""
    left = apart.left
    third = left.copy(tmp_path / "third")
    third.set("third", b"3")
    left.set("large", bytes(8_000))
    left.set("later", b"4")
    other = leave(left, apart.right.vault, NAMES[1])
    beside(left, third.vault, NAMES[0])
    content = bytearray(other.read_bytes())
    end = len(bytes(content).rstrip(b"\0"))
    content[end - 4_000] ^= 1
    other.write_bytes(content)
    finished = left.run("merge")
    sentence = finished.stderr.decode()
    assert finished.returncode == ALARM and f"not in {left.vault.with_name(NAMES[0])} either" in sentence, finished
    assert f"`vault --vault '{other}' salvage OUT`" in sentence and f"{left.vault} is damaged" not in sentence
    assert "`vault merge" not in sentence
    left.refusal(ALARM, "ls")


def test_the_advice_names_the_vault_and_the_key_of_the_command(apart: Copies) -> None:
    left = apart.left
    key = left.key.rename(left.folder / "my key")
    conflict = leave(left, apart.right.vault)
    for words in (("ls",), ("backup", "backup.vault"), ("key", "ls")):
        sentence = left.refusal(ALARM, *words, "--key-file", str(key))
        assert f"`vault --key-file '{key}' merge '{conflict}'`" in sentence
    vault = left.vault.rename(left.vault.with_name("moved.vault"))
    moved = conflict.rename(conflict.with_name(conflict.name.replace("default", "moved")))
    sentence = left.refusal(ALARM, "clone", str(vault), "clone.vault", "--key-file", str(key))
    assert f"`vault --vault '{vault}' --key-file '{key}' merge '{moved}'`" in sentence
    assert left.shell(re.search(r"`(vault .*?)`", sentence)[1]).returncode == 0
    assert left.output("ls", "--vault", str(vault), "--key-file", str(key)) == b"base\nleft\nright\n"


# A vault that does not open, and a copy that does


def damage(home: Home, how: str) -> bytes | None:
    content = home.vault.read_bytes()
    match how:
        case "junk": home.vault.write_bytes(os.urandom(20_000))
        case "cut": home.vault.write_bytes(content[:8_192])
        case _: home.vault.unlink()
    return home.vault.read_bytes() if home.vault.exists() else None


@pytest.mark.parametrize("how", ["junk", "cut", "gone", "never seen"])
def test_an_intact_copy_replaces_a_vault_that_does_not_open(apart: Copies, how: str) -> None:
    left = apart.left
    home = left.without_memory() if how == "never seen" else left
    conflict = beside(left, left.vault)
    intact, damaged = conflict.read_bytes(), damage(left, how)
    sentence = home.refusal({"gone": 4, "never seen": 3}.get(how, DAMAGED), "ls")
    assert sentence.index(f"which may be intact: {conflict}") < min(
        [sentence.find(word) for word in ("Restore", "salvage") if word in sentence] or [len(sentence)])
    look, exchange = re.findall(r"`((?:vault [^`]* verify|ln) ?[^`]*)`", sentence)
    assert home.shell(look).returncode == 0
    assert home.shell(exchange).returncode == 0
    assert left.vault.read_bytes() == intact and not conflict.exists()
    assert home.values() == {"base": b"0", "left": b"1"}
    before = left.vault.with_name(left.vault.name + ".before")
    assert (before.read_bytes() if before.exists() else None) == damaged


def test_a_copy_never_replaces_what_was_put_there_meanwhile(apart: Copies) -> None:
    conflict = beside(apart.left, apart.left.vault)
    content = apart.left.vault.read_bytes()
    apart.left.vault.unlink()
    exchange = re.search(r"`(ln [^`]*)`", apart.left.refusal(4, "ls"))[1]
    apart.left.vault.write_bytes(b"come meanwhile")
    assert apart.left.shell(exchange).returncode != 0
    assert apart.left.vault.read_bytes() == b"come meanwhile" and conflict.read_bytes() == content


def test_a_look_at_an_older_copy_raises_an_alarm(apart: Copies) -> None:
    beside(apart.left, apart.left.vault)
    apart.left.set("later", b"1")
    damage(apart.left, "junk")
    look = re.search(r"`(vault [^`]* verify)`", apart.left.refusal(DAMAGED, "ls"))[1]
    finished = apart.left.shell(look)
    assert finished.returncode == ALARM and b"come back" in finished.stderr


def test_salvage_does_not_advise_itself(apart: Copies) -> None:
    conflict = beside(apart.left, apart.left.vault)
    damage(apart.left, "junk")
    sentence = apart.left.refusal(DAMAGED, "salvage", "out.vault")
    assert "Nothing in" in sentence and "can be salvaged" in sentence and "salvage OUT" not in sentence
    assert str(conflict) in sentence
    conflict.unlink()
    sentence = apart.left.refusal(DAMAGED, "salvage", "out.vault")
    assert sentence.rstrip().endswith("Restore the vault from a backup.")
    assert not (apart.left.folder / "out.vault").exists()


def test_doctor_names_the_copies(apart: Copies) -> None:
    conflict = beside(apart.left, apart.right.vault)
    assert str(conflict).encode() in apart.left.run("doctor").stdout
