"""Root in another user's environment: what it believes is root's own, what it reads may be the user's."""

import os
import shutil
from pathlib import Path

import pytest

from homes import NOBODY, Home, device
from key_slots import fingerprint, lose_key_file, new_identity, private_file
from postgres import Cluster

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
LOCKED, ALARM = 5, 9
# What a message tells root to do.
ADVICE = "run this with root's own HOME, as `sudo -H` does, and without that user's XDG variables"


@pytest.fixture
def user(ordinary: Home) -> Home:
    """A user with a value, and a memory of it."""
    ordinary.set("u.token", b"tok")
    return ordinary


def root_of(user: Home) -> Home:
    """Root in the user's environment, as `sudo -E` starts it."""
    return Home(user.binary, user.folder, user.variables)


def root_as_told(user: Home, folder: Path) -> Home:
    """Root that follows the advice: a HOME of its own, and the paths of the vault and its key file."""
    return Home(user.binary, folder, {"VAULT_FILE": str(user.vault), "VAULT_KEY_FILE": str(user.key)})


def owners(folder: Path) -> set[int]:
    return {path.lstat().st_uid for path in [folder, *folder.rglob("*")]}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def give(path: Path, owner: int = NOBODY) -> Path:
    os.chown(path, owner, owner)
    return path


# The memory


def test_root_neither_uses_nor_writes_a_users_memory(user: Home) -> None:
    older = user.vault.read_bytes()
    user.set("u.token", b"new")
    before = tree(user.memory)
    user.vault.write_bytes(older)
    for words in (("get", "u.token"), ("set", "u.token"), ("compact",), ("verify",)):
        finished = root_of(user).run(*words, stdin=b"by root")
        assert finished.returncode == 0, finished
        assert f"{user.memory} belongs to another user" in finished.stderr.decode()
        assert ADVICE in finished.stderr.decode()
    assert tree(user.memory) == before and owners(user.folder) == {NOBODY}
    user.refusal(ALARM, "get", "u.token")


def test_root_leaves_no_memory_of_its_own_in_a_users_folder(user: Home) -> None:
    shutil.rmtree(user.memory)
    for words in (("set", "u.token"), ("get", "u.token")):
        finished = root_of(user).run(*words, stdin=b"new")
        assert finished.returncode == 0 and f"{user.memory.parent} belongs to another user" in finished.stderr.decode()
    assert not user.memory.exists() and owners(user.folder) == {NOBODY}
    finished = user.run("get", "u.token")
    assert (finished.stdout, finished.stderr) == (b"new", b"")


def test_root_has_a_memory_if_it_does_what_the_message_says(user: Home, tmp_path: Path) -> None:
    root = root_as_told(user, tmp_path / "root")
    older = user.vault.read_bytes()
    finished = root.run("set", "u.token", stdin=b"new")
    assert (finished.returncode, finished.stderr) == (0, b"")
    user.vault.write_bytes(older)
    root.refusal(ALARM, "get", "u.token")
    assert owners(user.folder) == {NOBODY}


def test_one_file_of_a_users_in_a_folder_of_roots_is_not_believed(home: Home) -> None:
    home.set("u.token", b"tok")
    (seen,) = home.memory.glob("*.seen")
    give(seen)
    before = seen.read_bytes()
    finished = home.run("set", "u.token", stdin=b"new")
    assert finished.returncode == 0 and f"{seen} belongs to another user" in finished.stderr.decode()
    assert seen.read_bytes() == before


def test_a_read_by_root_is_recorded_in_the_users_log(user: Home) -> None:
    user.output("log", "--on")
    assert root_of(user).output("get", "u.token") == b"tok"
    assert b"user 0" in user.output("log") and owners(user.folder) == {NOBODY}


# What a person has agreed to


def agreed(user: Home) -> Path:
    """Lets the user agree to a command, which alone opens the vault, and returns what it leaves a trace in."""
    ran = user.folder / "ran"
    give(private_file(user.folder / "device", b"what a device prints"))
    user.output("key", "add", "--command", f"id -u >> {ran}; cat {user.folder}/device")
    lose_key_file(user)
    assert user.get("u.token") == b"tok" and set(ran.read_text().split()) == {str(NOBODY)}
    ran.unlink()
    return ran


def test_root_runs_no_command_that_a_user_has_agreed_to(user: Home, tmp_path: Path) -> None:
    ran = agreed(user)
    sentence = root_of(user).refusal(LOCKED, "get", "u.token")
    assert f"{user.memory} belongs to another user" in sentence and ADVICE in sentence
    assert not ran.exists() and owners(user.folder) == {NOBODY}
    as_told = root_as_told(user, tmp_path / "root")
    assert "was not agreed to on this machine" in as_told.refusal(LOCKED, "get", "u.token")
    assert not ran.exists()
    command = f"id -u >> {ran}; cat {user.folder}/device"
    for _ in range(2):
        assert as_told.output("get", "u.token", "--key-command", command) == b"tok"
    assert as_told.output("get", "u.token") == b"tok", "now root has agreed"


def test_root_trusts_no_fingerprint_that_a_user_does(user: Home, tmp_path: Path) -> None:
    identity = user.folder / "id"
    user.output("key", "add", "--recipient", new_identity(identity))
    give(identity)
    pin = fingerprint(user)
    lose_key_file(user)
    with_identity = ("get", "u.token", "--identity", str(identity))
    assert user.output(*with_identity) == b"tok"
    assert f"{user.memory} belongs to another user" in root_of(user).refusal(LOCKED, *with_identity)
    as_told = root_as_told(user, tmp_path / "root")
    assert "does not know it" in as_told.refusal(LOCKED, *with_identity)
    # A fingerprint in the file is the user's word too; the identity is only read.
    identity.write_text(f"# vault: {pin}\n{identity.read_text()}")
    assert user.output(*with_identity) == b"tok"
    sentence = as_told.refusal(LOCKED, *with_identity)
    assert f"{identity} belongs to another user" in sentence and ADVICE in sentence
    assert as_told.output(*with_identity, "--vault-fingerprint", pin) == b"tok"
    give(identity, 0)
    assert Home(user.binary, tmp_path / "other", as_told.variables).output(*with_identity) == b"tok"


# The configuration, and what else is in the user's folders


def test_root_reads_no_configuration_of_a_users_and_says_what_to_do(user: Home, tmp_path: Path) -> None:
    config = give(private_file(user.folder / ".config/vault/config", b"[default]\nkey-command = id -u >> ran\n"))
    sentence = root_of(user).refusal(LOCKED, "get", "u.token")
    assert str(config) in sentence and ADVICE in sentence and "chown" not in sentence
    assert root_as_told(user, tmp_path / "root").output("get", "u.token") == b"tok"
    assert owners(user.folder) == {NOBODY} and not (user.folder / "ran").exists()


def test_root_signs_with_no_key_of_a_users(user: Home) -> None:
    key = user.folder / ".config/vault/device.key"
    sentence = root_of(user).refusal(LOCKED, "member", "device")
    assert f"{key.parent} belongs to another user" in sentence and not key.exists()
    assert device(user)
    sentence = root_of(user).refusal(LOCKED, "member", "device")
    assert f"{key} belongs to another user" in sentence and ADVICE in sentence
    assert owners(user.folder) == {NOBODY}


# A vault in a database


@pytest.fixture
def shared(binary: str, user: Home, cluster: Cluster, vault_name: str) -> Home:
    shutil.copy(Path(binary).with_name("vault-shared"), Path(user.binary).parent)
    shared = user.with_variables(VAULT_FILE=cluster.url(vault_name))
    shared.set("a", b"1")
    assert shared.get("a") == b"1"
    return shared


def test_root_uses_no_copy_of_a_database_that_a_user_has_kept(shared: Home) -> None:
    cache = shared.folder / ".cache/vault"
    before = tree(cache)
    assert before
    for words in (("get", "a"), ("set", "a")):
        finished = root_of(shared).run(*words, stdin=b"2")
        assert finished.returncode == 0, finished
    assert f"{cache} belongs to another user" in root_of(shared).refusal(LOCKED, "get", "--offline", "a")
    assert tree(cache) == before and owners(shared.folder) == {NOBODY}
    assert shared.get("a") == b"2"


def test_root_brings_in_no_change_that_a_user_has_made_offline(shared: Home) -> None:
    shared.output("set", "--offline", "a", stdin=b"offline")
    [pending] = shared.memory.glob("*-offline.vault")
    kept = pending.read_bytes()
    finished = root_of(shared).run("get", "a")
    assert finished.stdout == b"1" and f"{pending} belongs to another user" in finished.stderr.decode()
    for words in (("get", "a"), ("set", "b")):
        sentence = root_of(shared).refusal(LOCKED, *words, "--offline", stdin=b"2")
        assert " belongs to another user" in sentence and ADVICE in sentence
    assert pending.read_bytes() == kept and owners(shared.folder) == {NOBODY}
    finished = shared.run("get", "a")
    assert finished.stdout == b"offline" and b"1 changed" in finished.stderr
