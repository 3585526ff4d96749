"""What the system does not let a user read or write. As an ordinary user: root reads everything."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from homes import NOBODY, Home, mode

EXIT_LOCKED, EXIT_IO = 5, 8
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


def test_an_unreadable_key_is_exit_5_and_its_own_sentence(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    ordinary.key.chmod(0)
    for words in (("get", "u.token"), ("set", "u.token"), ("verify",)):
        sentence = ordinary.refusal(EXIT_LOCKED, *words, stdin=b"new")
        assert "cannot be read" in sentence and "Permission denied" in sentence and str(ordinary.key) in sentence
    ordinary.key.chmod(0o600)
    assert ordinary.get("u.token") == b"tok"


@as_root
def test_the_key_of_another_user_is_exit_5(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    os.chown(ordinary.key, 0, 0)
    assert "cannot be read" in ordinary.refusal(EXIT_LOCKED, "get", "u.token")


@pytest.mark.parametrize("bits", [0o644, 0o640, 0o604, 0o660, 0o602, 0o610, 0o601])
def test_a_key_that_others_can_use_is_refused_with_the_chmod_that_mends_it(ordinary: Home, bits: int) -> None:
    ordinary.set("u.token", b"tok")
    ordinary.key.chmod(bits)
    sentence = ordinary.refusal(EXIT_LOCKED, "get", "u.token")
    assert f"chmod 600 {ordinary.key}" in sentence
    assert mode(ordinary.key) == bits, "it is not mended in silence"
    ordinary.key.chmod(0o600)
    assert ordinary.get("u.token") == b"tok"


def test_a_key_behind_a_link_is_judged_by_the_file_itself(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    real = ordinary.key.with_name("real.key")
    ordinary.key.rename(real)
    ordinary.key.symlink_to(real)
    assert ordinary.get("u.token") == b"tok"
    real.chmod(0o644)
    ordinary.refusal(EXIT_LOCKED, "get", "u.token")


def test_a_folder_of_the_key_that_cannot_be_entered_is_exit_5_and_not_a_missing_key(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    ordinary.key.parent.chmod(0)
    sentence = ordinary.refusal(EXIT_LOCKED, "get", "u.token")
    assert "cannot be read" in sentence
    ordinary.refusal(EXIT_LOCKED, "set", "u.token", stdin=b"new")
    ordinary.key.parent.chmod(0o700)
    assert ordinary.get("u.token") == b"tok"


def test_an_unreadable_vault_is_exit_8_and_never_an_empty_or_absent_one(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    for path, bits in ((ordinary.vault, 0o600), (ordinary.vault.parent, 0o700)):
        path.chmod(0)
        for words in (("get", "u.token"), ("ls",), ("set", "u.token"), ("exists", "u.token"), ("init",)):
            finished = ordinary.run(*words, stdin=b"new")
            allowed = (EXIT_IO, 4) if words[0] == "init" else (EXIT_IO,)
            assert finished.returncode in allowed, (path, words, finished)
            assert b"Permission denied" in finished.stderr or finished.returncode == 4
        path.chmod(bits)
        assert ordinary.values() == {"u.token": b"tok"}


def test_a_vault_that_may_only_be_read_is_read(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    ordinary.vault.chmod(0o400)
    assert ordinary.get("u.token") == b"tok"
    ordinary.output("verify")
    sentence = ordinary.refusal(EXIT_IO, "set", "u.token", stdin=b"new")
    assert "Permission denied" in sentence
    assert ordinary.get("u.token") == b"tok"


def test_a_memory_that_may_not_be_written_keeps_nobody_from_the_vault(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    for file in ordinary.memory.iterdir():
        file.chmod(0o400)
    ordinary.memory.chmod(0o500)
    ordinary.set("u.token", b"new")
    assert ordinary.get("u.token") == b"new"
    ordinary.memory.chmod(0)
    assert ordinary.get("u.token") == b"new"
    ordinary.memory.chmod(0o700)


def test_a_home_that_may_not_be_written_is_exit_8_for_the_first_set(ordinary: Home) -> None:
    ordinary.folder.chmod(0o500)
    assert "Permission denied" in ordinary.refusal(EXIT_IO, "set", "u.token", stdin=b"tok")
    ordinary.refusal(3, "get", "u.token")
    ordinary.folder.chmod(0o700)


# Keys that the system hands out


@as_root
@pytest.mark.parametrize(
    ("bits", "code"), [(0o440, 0), (0o444, 0), (0o400, 0), (0o460, EXIT_LOCKED), (0o446, EXIT_LOCKED)]
)
def test_a_key_of_systemd_may_be_readable_but_not_writable(ordinary: Home, bits: int, code: int) -> None:
    ordinary.set("u.token", b"tok")
    credentials = ordinary.folder / "credentials"
    credentials.mkdir(mode=0o755)
    key = Path(shutil.move(ordinary.key, credentials / "vault.key"))
    os.chown(key, 0, NOBODY if bits & 0o040 else 0)
    key.chmod(bits)
    home = ordinary.with_variables(CREDENTIALS_DIRECTORY=str(credentials))
    if bits == 0o400:
        home.through = ()  # Only root itself can read this one.
    finished = home.run("get", "u.token")
    assert finished.returncode == code, finished
    assert finished.stdout == (b"tok" if code == 0 else b"")


@as_root
def test_a_key_elsewhere_is_not_excused_by_the_variable_of_systemd(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    credentials = ordinary.folder / "credentials"
    credentials.mkdir(mode=0o755)
    os.chown(ordinary.key, 0, 0)
    ordinary.key.chmod(0o444)
    (credentials / "vault.key").symlink_to(ordinary.key)
    ordinary.with_variables(CREDENTIALS_DIRECTORY=str(credentials)).refusal(EXIT_LOCKED, "get", "u.token")
    lookalike = ordinary.folder / "credentials-not"
    lookalike.mkdir(mode=0o755)
    key = Path(shutil.move(ordinary.key, lookalike / "vault.key"))
    home = ordinary.with_variables(CREDENTIALS_DIRECTORY=str(credentials), VAULT_KEY_FILE=str(key))
    home.refusal(EXIT_LOCKED, "get", "u.token")


@as_root
@pytest.mark.parametrize(("bits", "code"), [("0444", 0), ("0446", EXIT_LOCKED)])
def test_a_secret_of_docker_may_be_readable_but_not_writable(ordinary: Home, bits: str, code: int) -> None:
    ordinary.set("u.token", b"tok")
    script = (
        'mount -t tmpfs none /run && mkdir /run/secrets && cp "$0" /run/secrets/vault.key && rm "$0" &&'
        f' chmod {bits} /run/secrets/vault.key && exec "$@"'
    )
    home = ordinary.started_through("unshare", "--mount", "sh", "-c", script, str(ordinary.key), *ordinary.through)
    finished = home.run("get", "u.token")
    assert finished.returncode == code, finished
    assert finished.stdout == (b"tok" if code == 0 else b"")


@as_root
def test_root_and_a_user_can_share_a_vault_that_root_compacts(ordinary: Home) -> None:
    ordinary.set("u.token", b"tok")
    as_root_itself = Home(ordinary.binary, ordinary.folder).without_memory()
    as_root_itself.output("compact")
    ordinary.set("u.token", b"new")
    assert ordinary.get("u.token") == b"new"
    assert ordinary.vault.stat().st_uid == NOBODY


def test_the_command_runs_where_nothing_else_is_readable(ordinary: Home) -> None:
    """An executable that may be run and not read."""
    os.chmod(ordinary.binary, 0o711)
    ordinary.set("u.token", b"tok")
    assert subprocess.run([ordinary.binary, "version"], env={}, capture_output=True).returncode == 0
