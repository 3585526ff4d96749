"""`vault backup`: one moment of the vault in another file, verified before it gets its name."""

import itertools
import json
import os
import re
import shlex
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import interop  # noqa: F401
from histories import History
from homes import VAULT_AND_KEY, Home, mode
from reading.vault import open_image
from tracing import CHANGING, trace, with_fault
from volumes import fill, volume

USAGE, REFUSED, DAMAGED, IO = 2, 4, 6, 8


def values(home: Home, vault: Path) -> dict[str, bytes]:
    """What the independent reader finds in a file."""
    found = open_image(vault.read_bytes(), home.key.read_bytes())
    return {name: entry.value for name, entry in found.entries.items()}


def test_the_copy_has_everything_and_opens_with_the_same_key(twenty: History) -> None:
    home = twenty.home
    home.set("entry-00", b"another")
    told = home.output("backup", "copy.vault").decode()
    assert "copy.vault and verified: 20 entries" in told
    copy = home.folder / "copy.vault"
    assert values(home, copy) == twenty.values | {"entry-00": b"another"} and mode(copy) == 0o600
    other = home.without_memory()
    other.output("verify", "--vault", "copy.vault")
    assert other.output("get", "entry-00", "--vault", "copy.vault") == b"another"
    listed = ("ls", "-l", "--json"), ("history", "entry-00", "--json")
    for words in listed:
        assert other.output(*words, "--vault", "copy.vault") == home.output(*words)
    report = json.loads(home.output("backup", "second.vault", "--json"))
    assert report["entries"] == 20 and report["vault"] == "second.vault"


def test_the_vault_itself_is_not_touched(twenty: History) -> None:
    home = twenty.home
    before, inode = home.vault.read_bytes(), home.vault.stat().st_ino
    home.output("backup", "copy.vault")
    assert (home.vault.read_bytes(), home.vault.stat().st_ino) == (before, inode)
    assert home.files() == sorted([*VAULT_AND_KEY, "copy.vault"])


def test_a_vault_that_may_only_be_read_is_backed_up(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    ordinary.vault.chmod(0o400)
    ordinary.output("backup", "copy.vault")
    assert mode(ordinary.folder / "copy.vault") == 0o600


def test_one_moment_is_copied_while_others_write(home: Home) -> None:
    """Two names change together all the time; no copy has one of a moment and one of another."""
    home.set("large", b"x" * 400_000)
    home.set("left", b"the token")
    is_over, turns = threading.Event(), itertools.count()

    def write() -> None:
        while not is_over.is_set():
            home.output("set", f"turn-{next(turns):04}", stdin=b"x" * 2_000)
            there = home.names()
            home.output("mv", *(("left", "right") if "left" in there else ("right", "left")))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for index in range(8):
            home.output("backup", f"{index}.vault")
    finally:
        is_over.set()
        writer.join()
    counts = []
    for index in range(8):
        found = values(home, home.folder / f"{index}.vault")
        assert len({"left", "right"} & found.keys()) == 1, index
        written = sorted(name for name in found if name.startswith("turn-"))
        assert written == [f"turn-{turn:04}" for turn in range(len(written))], "none between is missing"
        counts.append(len(written))
    assert counts == sorted(counts) and counts[-1] > counts[0], "something was written meanwhile"


def test_an_acknowledged_change_is_in_the_next_backup(home: Home) -> None:
    for index in range(5):
        home.set("u.token", b"%d" % index)
        home.output("backup", "--force", "copy.vault")
        assert values(home, home.folder / "copy.vault") == {"u.token": b"%d" % index}


def test_a_restored_backup_is_asked_about_once(home: Home) -> None:
    home.set("u.token", b"old")
    home.output("backup", "copy.vault")
    home.set("u.token", b"new")
    shutil.copy(home.folder / "copy.vault", home.vault)
    assert "--accept-rolled-back" in home.refusal(9, "get", "u.token")
    assert home.output("get", "u.token", "--accept-rolled-back") == b"old"
    home.set("u.token", b"and on")


def test_a_backup_that_is_looked_at_is_no_alarm_for_the_vault(home: Home) -> None:
    home.set("u.token", b"tok")
    home.output("backup", "copy.vault")
    home.output("verify", "--vault", "copy.vault")
    assert home.get("u.token") == b"tok"
    home.set("u.token", b"new")


# What is there already


@pytest.mark.parametrize("make", ["file", "folder", "link", "broken link"])
def test_what_is_there_is_left_alone(home: Home, make: str) -> None:
    home.set("u.token", b"tok")
    target = home.folder / "copy.vault"
    real = home.folder / "real"
    if make in ("file", "link"):
        real.write_bytes(b"what is there")
    if make == "file":
        real.rename(target)
    elif make == "folder":
        target.mkdir()
    else:
        target.symlink_to(real)
    finished = home.run("backup", "copy.vault")
    if make == "broken link":
        assert finished.returncode in (0, REFUSED)
    else:
        assert finished.returncode in ((REFUSED, USAGE) if make == "folder" else (REFUSED,)), finished
        assert b"copy.vault" in finished.stderr
    if make in ("file", "link"):
        assert target.read_bytes() == b"what is there"
    assert not [path for path in home.folder.iterdir() if "vault-new" in path.name]


def test_force_replaces_an_earlier_copy_and_nothing_else(home: Home) -> None:
    home.set("u.token", b"former")
    home.output("backup", "copy.vault")
    (home.folder / "copy.vault").chmod(0o644)
    home.set("u.token", b"tok")
    home.output("backup", "--force", "copy.vault")
    assert values(home, home.folder / "copy.vault") == {"u.token": b"tok"}
    assert mode(home.folder / "copy.vault") == 0o600
    (home.folder / "folder").mkdir()
    assert home.run("backup", "--force", "folder").returncode == REFUSED
    assert (home.folder / "folder").is_dir() and list((home.folder / "folder").iterdir()) == []
    (home.folder / "text").write_bytes(b"what is there")
    assert "Move it away" in home.refusal(REFUSED, "backup", "--force", "text")
    assert (home.folder / "text").read_bytes() == b"what is there"
    (home.folder / "empty").touch()
    home.output("backup", "--force", "empty")
    assert values(home, home.folder / "empty") == {"u.token": b"tok"}


@pytest.mark.parametrize(("make", "kind"), [(os.mkdir, "a folder"), (os.mkfifo, "a named pipe, a socket or a device")])
@pytest.mark.parametrize("is_clone", [False, True])
def test_what_cannot_be_replaced_is_named_and_not_the_vault(
    home: Home, make: Callable[[Path], None], kind: str, is_clone: bool
) -> None:
    home.set("u.token", b"tok")
    make(home.folder / "there")
    words = ("clone", str(home.vault)) if is_clone else ("backup",)
    sentence = home.refusal(REFUSED, *words, "--force", "there")
    assert f"there is {kind}, not a file; it was left alone" in sentence and str(home.vault) not in sentence
    assert not (home.folder / "there").is_file()


def test_force_replaces_no_copy_that_has_more(home: Home) -> None:
    home.set("u.token", b"tok")
    home.output("backup", "copy.vault")
    # On another machine: this one would remember the change.
    home.copy(home.folder.with_name("other")).set("there", b"1", "--vault", str(home.folder / "copy.vault"))
    sentence = home.refusal(REFUSED, "backup", "--force", "copy.vault")
    assert "left alone" in sentence
    [command] = re.findall(r"`vault ([^`]*merge[^`]*)`", sentence)
    home.output(*shlex.split(command))
    home.output("backup", "--force", "copy.vault")
    assert values(home, home.folder / "copy.vault") == {"u.token": b"tok", "there": b"1"}


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "with --force"])
def test_the_vault_and_its_key_file_cannot_be_overwritten_by_a_backup(home: Home, force: tuple[str, ...]) -> None:
    home.set("u.token", b"tok")
    vault, key = home.vault.read_bytes(), home.key.read_bytes()
    (home.folder / "link").symlink_to(home.vault)
    for path in (home.vault, home.key, home.folder / "link", home.vault.parent / "." / home.vault.name):
        home.refusal(USAGE, "backup", str(path), *force)
    for path in ("", "~/copy.vault", "folder/", "."):
        assert home.run("backup", path, *force).returncode in (USAGE, REFUSED, IO)
    assert (home.vault.read_bytes(), home.key.read_bytes()) == (vault, key)


def test_a_folder_that_is_not_there_is_named_and_not_made(home: Home) -> None:
    home.set("u.token", b"tok")
    assert "not/there" in home.refusal(IO, "backup", "not/there/copy.vault")
    assert not (home.folder / "not").exists()


# Failures


def test_a_damaged_vault_makes_no_backup(twenty: History) -> None:
    home = twenty.home
    data = bytearray(home.vault.read_bytes())
    good = Path(shutil.copy(home.vault, home.folder / "copy.vault")).read_bytes()
    data[8_192 + 40] ^= 1
    home.vault.write_bytes(data)
    home.refusal(DAMAGED, "backup", "--force", "copy.vault")
    assert (home.folder / "copy.vault").read_bytes() == good
    home.refusal(DAMAGED, "backup", "new.vault")
    assert home.files() == sorted([*VAULT_AND_KEY, "copy.vault"])


def test_a_full_disk_leaves_nothing(home: Home, tmp_path: Path) -> None:
    home.set("small", b"1")
    home.output("backup", "good.vault")
    home.set("large", os.urandom(300_000))
    with volume(tmp_path / "small", "1m") as folder:
        good = Path(shutil.copy(home.folder / "good.vault", folder / "copy.vault")).read_bytes()
        fill(folder)
        os.truncate(folder / "filler", (folder / "filler").stat().st_size - 100_000)
        for words in (("backup", f"{folder}/new.vault"), ("backup", "--force", f"{folder}/copy.vault")):
            assert "No space left on device" in home.refusal(IO, *words)
            assert sorted(path.name for path in folder.iterdir()) == ["copy.vault", "filler"]
        assert (folder / "copy.vault").read_bytes() == good


def test_killed_at_any_call_the_file_is_whole_or_what_it_was(twenty: History, tmp_path: Path) -> None:
    template, words = twenty.home, ("backup", "--force", "backups/copy.vault")
    (template.folder / "backups").mkdir()
    template.output("backup", "backups/copy.vault")
    former = (template.folder / "backups/copy.vault").read_bytes()
    template.set("later", b"1")
    wanted = template.values()
    traced = template.copy(tmp_path / "traced")
    calls = [call for call in trace(traced, *words, names=CHANGING) if f"{traced.folder}/backups" in call.line]
    assert len(calls) > 5
    home = template.copy(tmp_path / "killed")
    target = home.folder / "backups/copy.vault"
    ends = set()
    for call in calls:
        home.restore(template)
        finished = with_fault(home, call.name, f"signal=KILL:when={call.ordinal}", *words)
        assert finished.returncode == -signal.SIGKILL, (call, finished)
        is_former = target.read_bytes() == former
        assert is_former or values(home, target) == wanted, call
        ends.add(is_former)
        home.output(*words)
        assert [path.name for path in target.parent.iterdir()] == ["copy.vault"], "the next one cleans up"
        assert values(home, target) == home.values() == wanted
    assert ends == {True, False}
