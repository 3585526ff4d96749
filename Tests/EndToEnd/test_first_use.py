"""What a newcomer does first: store a token, and get it back."""

import os
import subprocess
from pathlib import Path

import pytest

from homes import VAULT_AND_KEY, Home, mode
from layout import records


def test_a_token_set_by_one_process_is_read_by_another(home: Home) -> None:
    home.output("set", "u.token", stdin=b"tok\n")
    assert home.output("get", "u.token") == b"tok"


def test_the_shell_line_of_the_readme_works(home: Home) -> None:
    line = 'echo tok | "$0" set u.token; "$0" get u.token'
    shell = subprocess.run(["sh", "-c", line, home.binary], env=home.environment, capture_output=True, check=True)
    assert shell.stdout == b"tok"


def test_the_vault_file_contains_neither_name_nor_value(home: Home) -> None:
    home.set("a-name-to-look-for", b"a-value-to-look-for", "-a", "host=an-attribute-to-look-for")
    home.output("compact")
    home.set("a-name-to-look-for", b"another-value-to-look-for")
    content = home.vault.read_bytes()
    assert b"to-look-for" not in content and b"to-look" not in content
    assert b"host" not in content


def test_the_vault_file_does_not_tell_a_values_exact_length(home: Home) -> None:
    sizes = set()
    for length in (1, 9, 16):
        home.set(f"u.token {length:2}", b"x" * length)
        record = records(home.vault)[-1]
        sizes.add(record.end - record.offset)
    assert len(sizes) == 1
    home.set("u.token 17", b"x" * 17)
    record = records(home.vault)[-1]
    assert record.end - record.offset not in sizes, "the sizes can be told apart where they should"


def test_the_first_set_makes_one_vault_and_one_key_for_the_user_alone(home: Home) -> None:
    home.set("u.token", b"tok")
    assert home.files() == VAULT_AND_KEY
    assert [mode(home.vault), mode(home.key)] == [0o600, 0o600]
    assert {mode(folder) for folder in (home.vault.parent, home.key.parent, home.memory)} == {0o700}


def test_files_are_for_the_user_alone_whatever_the_umask(home: Home) -> None:
    finished = home.run("set", "u.token", stdin=b"tok", umask=0)
    assert finished.returncode == 0
    assert {mode(path) for path in home.folder.rglob("*") if path.is_file()} == {0o600}
    assert {mode(path) for path in home.folder.rglob("*") if path.is_dir()} == {0o700}


def test_the_first_set_says_where_both_files_are_and_to_back_up_the_key(home: Home) -> None:
    finished = home.run("set", "u.token", stdin=b"tok")
    words = finished.stderr.decode()
    assert finished.stdout == b""
    assert str(home.vault) in words and str(home.key) in words
    assert "back up the key" in words.lower()
    assert home.run("set", "u.token", stdin=b"new").stderr == b"", "it is said once"


def test_init_makes_an_empty_vault_and_says_where(home: Home) -> None:
    finished = home.run("init", "--label", "laptop")
    assert finished.returncode == 0 and str(home.key) in finished.stderr.decode()
    assert home.files() == VAULT_AND_KEY
    assert home.names() == []
    assert b"laptop" in home.output("info") and b"laptop" not in home.vault.read_bytes()


def test_a_second_init_is_refused_and_changes_nothing(home: Home) -> None:
    home.set("u.token", b"tok")
    before = home.vault.read_bytes(), home.key.read_bytes()
    assert str(home.vault) in home.refusal(4, "init")
    assert (home.vault.read_bytes(), home.key.read_bytes()) == before


@pytest.mark.parametrize("command", [("get", "x"), ("ls",), ("exists", "x"), ("rm", "x"), ("verify",), ("info",)])
def test_reading_where_there_is_no_vault_makes_none(home: Home, command: tuple[str, ...]) -> None:
    assert home.run(*command).returncode == 3
    assert list(home.folder.iterdir()) == []


def test_an_ssh_key_that_was_stored_and_written_back_still_loads(home: Home, tmp_path: Path) -> None:
    original, back = tmp_path / "id_ed25519", tmp_path / "back"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", original], check=True)
    with original.open("rb") as key:
        subprocess.run(home.command("set", "ssh/key"), stdin=key, env=home.environment, check=True)
    back.touch(mode=0o600)
    with back.open("wb") as key:
        subprocess.run(home.command("get", "ssh/key"), stdout=key, env=home.environment, check=True)
    assert back.read_bytes() == original.read_bytes()
    public = subprocess.run(["ssh-keygen", "-y", "-f", back], capture_output=True, check=True).stdout
    assert public.split()[:2] == original.with_suffix(".pub").read_bytes().split()[:2]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has users to change to")
def test_an_ordinary_user_needs_nothing_but_a_home(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    assert ordinary.get("u.token") == b"tok"
    assert ordinary.vault.stat().st_uid != 0
