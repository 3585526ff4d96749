"""The rollback memory: used only if nobody else can have written it, and said so at each use if it cannot be used."""

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from homes import Home, mode
from volumes import fill, volume

WORKING = [("get", "u.token"), ("ls",), ("verify",), ("exists", "u.token"), ("set", "u.token"), ("info",)]


def seen(home: Home) -> Path:
    (file,) = home.memory.glob("*.seen")
    return file


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def turned_into_a_file(home: Home) -> None:
    shutil.rmtree(home.memory)
    home.memory.write_bytes(b"not a folder")


UNUSABLE: list[tuple[str, Callable[[Home], object], str]] = [
    ("a named pipe", lambda home: replaced(seen(home), os.mkfifo), "named pipe"),
    ("a folder", lambda home: replaced(seen(home), os.mkdir), "is a folder"),
    ("a symbolic link", lambda home: replaced(seen(home), lambda path: path.symlink_to("/etc/hostname")), "symbolic"),
    ("a file that others can write", lambda home: seen(home).chmod(0o666), "others can write"),
    ("a folder that others can write", lambda home: home.memory.chmod(0o777), "others can write"),
    ("no folder", turned_into_a_file, "not a folder"),
]
each_unusable = pytest.mark.parametrize(("what", "break_it", "words"), UNUSABLE, ids=[row[0] for row in UNUSABLE])


@each_unusable
def test_a_memory_that_cannot_be_used_is_told_at_each_use(
    home: Home, what: str, break_it: Callable[[Home], object], words: str
) -> None:
    home.set("u.token", b"tok")
    break_it(home)
    for command in WORKING:
        finished = home.run(*command, stdin=b"tok")
        warning = finished.stderr.decode()
        assert finished.returncode == 0, (command, warning)
        assert warning.startswith("vault: warning: ") and words in warning and warning.count("\n") == 1
        assert "go unnoticed" in warning
    assert home.output("get", "u.token") == b"tok"
    assert words in home.run("info").stdout.decode()
    finished = home.run("info", "--json")
    (problem,) = json.loads(finished.stdout)["problems"]
    assert words in problem and json.loads(finished.stderr)["warning"]["message"] == problem


def test_a_memory_without_the_right_to_read_it_is_told(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    for path, bits in ((seen(ordinary), 0o200), (ordinary.memory, 0o300), (ordinary.memory, 0)):
        before = mode(path)
        path.chmod(bits)
        finished = ordinary.run("get", "u.token")
        assert (finished.returncode, finished.stdout) == (0, b"tok")
        assert (b"Permission denied" in finished.stderr) == (bits != 0o300), "without reading rights files are found"
        path.chmod(before)
    assert ordinary.run("get", "u.token").stderr == b""


def expect_a_rollback_to_be_warned_of(home: Home, words: str) -> None:
    """What is set cannot be remembered: the older file passes, and that was told."""
    older = home.vault.read_bytes()
    for command in (("set", "u.token"), ("get", "u.token"), ("info",)):
        finished = home.run(*command, stdin=b"new")
        assert finished.returncode == 0 and words in finished.stderr.decode(), (command, finished)
    assert b"not kept" in finished.stdout and words in finished.stdout.decode()
    home.vault.write_bytes(older)
    finished = home.run("get", "u.token")
    assert finished.stdout == b"tok" and words in finished.stderr.decode()


def test_a_memory_that_cannot_be_written_is_told(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    seen(ordinary).chmod(0o400)
    expect_a_rollback_to_be_warned_of(ordinary, "Permission denied")


def test_a_memory_that_another_process_holds_is_told(home: Home) -> None:
    home.set("u.token", b"tok")
    with seen(home).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        finished = home.run("set", "u.token", stdin=b"new")
        assert finished.returncode == 0 and b"locked by another process" in finished.stderr
    assert home.run("set", "u.token", stdin=b"new").stderr == b""


def test_a_memory_that_a_new_vault_cannot_be_added_to_is_told(home: Home, tmp_path: Path) -> None:
    with volume(tmp_path / "state", "64k") as state:
        full = home.with_variables(XDG_STATE_HOME=str(state))
        (state / "vault").mkdir(mode=0o700)
        fill(state)
        for command in (("init",), ("set", "u.token"), ("get", "u.token")):
            finished = full.run(*command, stdin=b"tok")
            assert finished.returncode == 0 and b"No space left" in finished.stderr, (command, finished)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("part", ["folder", "file"])
def test_a_memory_of_another_user_is_told_and_not_written(ordinary: Home, part: str) -> None:
    ordinary.set("u.token", b"tok")
    path = ordinary.memory if part == "folder" else seen(ordinary)
    ordinary.memory.chmod(0o755)
    seen(ordinary).chmod(0o644)
    os.chown(path, 1234, 1234)
    before = seen(ordinary).read_bytes()
    finished = ordinary.run("set", "u.token", stdin=b"new")
    assert finished.returncode == 0 and b"belongs to another user" in finished.stderr
    assert seen(ordinary).read_bytes() == before


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_no_file_that_a_link_in_the_folder_leads_to_is_overwritten(home: Home, link: Callable) -> None:
    home.set("u.token", b"tok")
    victim = home.folder / "victim"
    victim.write_bytes(b"precious" * 100)
    victim.chmod(0o600)
    for file in list(home.memory.iterdir()):
        file.unlink()
        link(victim, file)
    finished = home.run("set", "u.token", stdin=b"new")
    assert finished.returncode == 0 and b"link" in finished.stderr
    assert victim.read_bytes() == b"precious" * 100


def test_a_folder_that_is_a_symbolic_link_of_ones_own_serves(home: Home) -> None:
    home.memory.parent.mkdir(parents=True)
    (home.folder / "elsewhere").mkdir(mode=0o700)
    home.memory.symlink_to(home.folder / "elsewhere")
    home.set("u.token", b"yesterday")
    backup = home.vault.read_bytes()
    home.set("u.token", b"today")
    home.vault.write_bytes(backup)
    home.refusal(9, "get", "u.token")


def test_a_vault_in_the_folder_of_the_memory_is_remembered_too(home: Home) -> None:
    """As where all the variables of XDG name one folder."""
    home = home.with_variables(XDG_STATE_HOME=str(home.folder / "one"), XDG_DATA_HOME=str(home.folder / "one"))
    vault = home.folder / "one/vault/default.vault"
    home.set("u.token", b"yesterday")
    backup = vault.read_bytes()
    home.set("u.token", b"today")
    vault.write_bytes(backup)
    home.refusal(9, "get", "u.token")
