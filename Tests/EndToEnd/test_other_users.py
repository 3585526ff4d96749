"""Root in another user's environment: what it believes is root's own, what it reads may be the user's."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from homes import NOBODY, Home, device
from key_slots import fingerprint, lose_key_file, new_identity, private_file
from postgres import Cluster

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
LOCKED, INPUT_OUTPUT, ALARM = 5, 8, 9
# What a message tells root to do.
ADVICE = "run this with root's own HOME, as `sudo -H` does, without that user's XDG variables"


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


def test_a_warning_is_written_once(user: Home) -> None:
    """A rotation opens the memory several times."""
    for words in (("key", "rotate"), ("get", "u.token"), ("key", "add", "--file", "new.key"), ("compact",)):
        finished = root_of(user).run(*words)
        assert finished.returncode == 0 and finished.stderr.decode().count("belongs to another user") == 1, finished


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
    assert "has not been approved on this machine" in as_told.refusal(LOCKED, "get", "u.token")
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


# Files that root writes in a user's folder


def victim(folder: Path) -> Path:
    """A file of root's, where the user's links lead."""
    target = folder / "victim"
    target.write_bytes(b"of root\n")
    return target


def linked(path: Path, target: Path, owner: int = NOBODY) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    os.chown(path, owner, owner, follow_symlinks=False)
    return path


def refused(root: Home, link: Path, *words: str, **options: object) -> None:
    finished = root.run(*words, **options)
    assert finished.returncode == INPUT_OUTPUT and finished.stdout == b"", finished
    assert f"{link} is a symbolic link of another user" in finished.stderr.decode()


OUTPUTS = [
    ("export", "json", "--plaintext", "-o", "OUT"), ("drop", "-o", "OUT", "a", "--to", "BOX"),
    ("inject", "-i", "in", "-o", "OUT", "--force"), ("backup", "OUT"), ("clone", "VAULT", "OUT"), ("salvage", "OUT"),
    ("key", "add", "--file", "OUT"), ("key", "replace", "OUT"), ("key", "rotate", "--replace", "1=OUT"),
    ("init", "--vault", "OUT"), ("init", "--vault", "new.vault", "--key-file", "OUT"),
]


@pytest.mark.parametrize("words", OUTPUTS, ids=" ".join)
@pytest.mark.parametrize("is_there", [True, False])
def test_root_writes_no_output_through_a_users_link(
    user: Home, tmp_path: Path, words: tuple[str, ...], is_there: bool
) -> None:
    root, target = root_as_told(user, tmp_path / "root"), victim(tmp_path)
    (root.folder / "in").write_text("x")
    if not is_there:
        target.unlink()
    elif words[0] not in ("export", "drop", "inject", "backup", "clone", "salvage"):
        pytest.skip("it reads what is there")
    before = target.read_bytes() if is_there else None
    link = linked(user.folder / "out", target)
    box = json.loads(root.output("info", "--json"))["drop_box"]
    given = [word.replace("BOX", box).replace("VAULT", str(user.vault)).replace("OUT", str(link)) for word in words]
    refused(root, link, *given, stdin=b"x")
    assert (target.read_bytes() if target.exists() else None) == before


@pytest.mark.parametrize(("command", "folder", "name"), [("direnv", ".config", "direnv/direnvrc"), ("docker", ".docker", "config.json"), ("aws", ".aws", "config")])
@pytest.mark.parametrize("is_folder", [True, False])
def test_root_sets_up_nothing_through_a_users_link(
    user: Home, tmp_path: Path, command: str, folder: str, name: str, is_folder: bool
) -> None:
    """The last part of the path is a link, or a folder above."""
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / name).parent.mkdir(parents=True)
    target = elsewhere / name
    target.write_text("{}" if command == "docker" else "# of root\n")
    before = target.read_bytes()
    shutil.rmtree(user.folder / folder, ignore_errors=True)
    link = user.folder / folder if is_folder else user.folder / folder / name
    linked(link, elsewhere if is_folder else target)
    words = {"docker": ("setup", "docker", "registry.example.org"), "aws": ("setup", "aws", "work")}
    root = root_of(user).with_variables(VAULT_FILE=str(user.vault), VAULT_KEY_FILE="/nowhere")
    refused(root, link, *words.get(command, ("setup", command)))
    assert target.read_bytes() == before and [path for path in elsewhere.rglob("*") if path.is_file()] == [target]
    # Root follows links of its own.
    os.chown(link, 0, 0, follow_symlinks=False)
    assert b"of another user" not in root.run(*words.get(command, ("setup", command))).stderr


@pytest.mark.parametrize("name", [".gitattributes", ".git/config"])
def test_root_sets_up_no_repository_through_a_users_link(user: Home, tmp_path: Path, name: str) -> None:
    repository = user.folder / "repository"
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    target = victim(tmp_path)
    path = repository / name
    target.write_bytes(path.read_bytes() if path.exists() else b"*.png binary\n")
    before = target.read_bytes()
    path.unlink(missing_ok=True)
    link = linked(path, target)
    trusted = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    environment = root_of(user).with_variables(**trusted).environment
    words = [user.binary, "setup", "git-merge", "--key-command", "true"]
    finished = subprocess.run(words, cwd=repository, env=environment, capture_output=True, text=True)
    assert finished.returncode == INPUT_OUTPUT and f"{link} is a symbolic link of another user" in finished.stderr
    assert target.read_bytes() == before and not (repository / ".git/config.lock").exists()
    assert "vault" not in (repository / ".git/config").read_text()


def test_root_writes_no_preferences_through_a_users_link(user: Home, tmp_path: Path) -> None:
    target = victim(tmp_path)
    file = Path(json.loads(user.output("prefs", "set", "--suite", "mail", "a", "1", "--json"))["file"])
    before = file.read_bytes()
    target.write_bytes(before)
    file.unlink()
    link = linked(file, target)
    refused(root_of(user), link, "prefs", "set", "--suite", "mail", "b", "2")
    assert target.read_bytes() == before
    assert root_of(user).output("prefs", "get", "--suite", "mail", "a").strip() == b"1"


# Files that root would leave in a user's home


def left_alone(root: Home, *words: str, **options: object) -> None:
    finished = root.run(*words, **options)
    sentence = finished.stderr.decode()
    assert finished.returncode == INPUT_OUTPUT and finished.stdout == b"", finished
    assert " was left alone: " in sentence and "sudo -u NAME" in sentence and "sudo -H" in sentence


def fresh(user: Home, folder: Path) -> Home:
    """Root in a user's empty home."""
    folder.mkdir()
    return Home(user.binary, give(folder))


@pytest.mark.parametrize(
    "words",
    [
        ("prefs", "set", "a", "1"), ("set", "a"), ("init",), ("setup", "git"), ("setup", "direnv"),
        ("setup", "docker", "registry.example.org"), ("setup", "aws", "work"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("config", [True, False])
def test_root_leaves_nothing_of_its_own_in_a_users_home(
    user: Home, tmp_path: Path, words: tuple[str, ...], config: bool
) -> None:
    root = fresh(user, tmp_path / "home")
    for name in (".config", ".local") if config else ():
        (root.folder / name).mkdir()
        give(root.folder / name)
    before = sorted(root.folder.rglob("*"))
    left_alone(root, *words, stdin=b"x")
    assert sorted(root.folder.rglob("*")) == before and owners(root.folder) == {NOBODY}


def test_a_users_file_that_root_changes_stays_the_users(user: Home) -> None:
    user.output("prefs", "set", "a", "1")
    user.output("setup", "direnv")
    direnv = user.folder / ".config/direnv/direnvrc"
    direnv.write_text("# of the user's\n")
    root_of(user).output("prefs", "set", "a", "2")
    root_of(user).output("set", "u.token", stdin=b"new")
    root_of(user).with_variables(VAULT_FILE=str(user.vault)).output("setup", "direnv")
    assert "vault" in direnv.read_text() and user.output("prefs", "get", "a").strip() == b"2"
    assert user.get("u.token") == b"new" and owners(user.folder) == {NOBODY}


@pytest.mark.parametrize("name", [".gitconfig", ".config/git/config"])
def test_git_does_not_make_a_users_configuration_roots(user: Home, name: str) -> None:
    configuration = user.folder / name
    configuration.parent.mkdir(exist_ok=True)
    configuration.write_text("[user]\n\tname = u\n")
    for path in (configuration, configuration.parent):
        give(path)
    left_alone(root_of(user), "setup", "git")
    assert owners(user.folder) == {NOBODY} and "vault" not in configuration.read_text()


@pytest.mark.parametrize("words", [("--undo",), ("--local",), ("--local", "--undo")], ids=" ".join)
def test_nor_that_of_a_users_repository(user: Home, words: tuple[str, ...]) -> None:
    repository = user.folder / "repository"
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    for path in (repository, *repository.rglob("*"), private_file(user.folder / ".gitconfig", b"[user]\n\tname = u\n")):
        give(path)
    git = {"GIT_DIR": str(repository / ".git")}
    if "--undo" in words:
        user.with_variables(**git).output("setup", "git", *words[:-1])
    before = [(user.folder / ".gitconfig").read_bytes(), (repository / ".git/config").read_bytes()]
    left_alone(root_of(user).with_variables(**git), "setup", "git", *words)
    assert before == [(user.folder / ".gitconfig").read_bytes(), (repository / ".git/config").read_bytes()]
    assert owners(user.folder) == {NOBODY}


@pytest.mark.needs("kubectl")
@pytest.mark.parametrize("is_named", [True, False])
def test_kubectl_does_not_make_a_users_configuration_roots(user: Home, tmp_path: Path, is_named: bool) -> None:
    configuration = (tmp_path if is_named else user.folder / ".kube") / "config"
    configuration.parent.mkdir(exist_ok=True)
    configuration.write_text("apiVersion: v1\nkind: Config\nusers: []\n")
    for path in (configuration, configuration.parent):
        give(path)
    variables = {"KUBECONFIG": f"{tmp_path}/none:{configuration}"} if is_named else {}
    left_alone(root_of(user).with_variables(**variables), "setup", "kube", "u.token", "--user", "mia")
    assert configuration.stat().st_uid == NOBODY and "vault" not in configuration.read_text()


@pytest.mark.parametrize("name", [".config", ".config/vault", ".config/vault/device.key"])
def test_root_makes_no_device_key_behind_a_users_link(user: Home, tmp_path: Path, name: str) -> None:
    root, elsewhere = fresh(user, tmp_path / "home"), tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    link = linked(root.folder / name, elsewhere / "key" if name.endswith("key") else elsewhere)
    assert f"{link} belongs to another user" in root.refusal(LOCKED, "member", "device")
    assert list(elsewhere.iterdir()) == []
    os.chown(link, 0, 0, follow_symlinks=False)
    if name.endswith("key"):
        os.chown(link.parent, 0, 0)
    assert device(root) and len(list(elsewhere.rglob("*"))) > 0


@pytest.mark.parametrize("name", [".local/state", ".local/state/vault"])
def test_root_keeps_no_state_behind_a_users_link(user: Home, tmp_path: Path, name: str) -> None:
    user.output("log", "--on")
    shutil.rmtree(user.folder / ".local/state")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    link = linked(user.folder / name, elsewhere)
    give(link.parent)
    finished = root_of(user).run("set", "u.token", stdin=b"new")
    assert f"{link} belongs to another user" in finished.stderr.decode()
    # Its read cannot be recorded.
    finished = root_of(user).run("get", "u.token")
    assert finished.returncode != 0 and f"{link} belongs to another user" in finished.stderr.decode()
    assert list(elsewhere.iterdir()) == []


# Where a secret is for a moment


@pytest.fixture
def runtime() -> Iterator[Path]:
    """The folder in memory of the user's session."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="vault-test-"))
    yield give(folder)
    shutil.rmtree(folder)


def test_root_edits_no_value_in_a_users_folder(user: Home, runtime: Path) -> None:
    seen = user.folder / "seen"
    editor = user.folder / "editor"
    editor.write_text(f'#!/bin/sh\ndirname "$1" > {seen}\n')
    editor.chmod(0o755)
    seen.touch()
    give(seen)
    variables = {"XDG_RUNTIME_DIR": str(runtime), "EDITOR": str(editor)}
    root_of(user).with_variables(**variables).run("edit", "u.token")
    assert seen.read_text().startswith("/dev/shm/vault-edit-")
    give(runtime, 0)
    runtime.chmod(0o777)
    root_of(user).with_variables(**variables).run("edit", "u.token")
    assert seen.read_text().startswith("/dev/shm/vault-edit-")
    give(runtime)
    runtime.chmod(0o700)
    user.with_variables(**variables).output("edit", "u.token")
    assert seen.read_text().startswith(f"{runtime}/vault-edit-") and list(runtime.iterdir()) == []


def test_root_lets_no_program_copy_a_value_into_a_users_folder(user: Home, runtime: Path) -> None:
    folder, seen = user.folder / "bin", user.folder / "seen"
    folder.mkdir()
    (folder / "wl-copy").write_text(f'#!/bin/sh\ncat > /dev/null; echo "$TMPDIR" > {seen}\n')
    (folder / "wl-copy").chmod(0o755)
    variables = {"XDG_RUNTIME_DIR": str(runtime), "WAYLAND_DISPLAY": "x", "PATH": f"{folder}:{os.environ['PATH']}"}
    root_of(user).with_variables(**variables).run("copy", "u.token", "--clear-after", "0")
    assert seen.read_text() == "\n"
    give(seen)
    user.with_variables(**variables).run("copy", "u.token", "--clear-after", "0")
    assert seen.read_text() == f"{runtime}\n"


def test_root_hands_no_key_to_a_users_agent(user: Home, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    user.output("set", "ssh", stdin=key.read_bytes())
    socket = user.folder / "agent"
    agent = subprocess.Popen([*user.through, "ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        while not socket.exists():
            time.sleep(0.01)
        variables = {"SSH_AUTH_SOCK": str(socket)}
        sentence = root_of(user).with_variables(**variables).run("ssh-add", "ssh").stderr.decode()
        assert f"The SSH agent at {socket} belongs to another user" in sentence
        listed = subprocess.run(["ssh-add", "-l"], env=os.environ | variables, capture_output=True, text=True)
        assert "no identities" in listed.stdout
        user.with_variables(**variables).output("ssh-add", "ssh")
    finally:
        agent.terminate()
        agent.wait()


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


@pytest.mark.parametrize("name", [".cache", ".cache/vault"])
def test_root_keeps_no_copy_of_a_database_behind_a_users_link(shared: Home, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    shutil.rmtree(shared.folder / ".cache")
    link = linked(shared.folder / name, elsewhere)
    assert root_of(shared).run("get", "a").stdout == b"1"
    assert f"{link} belongs to another user" in root_of(shared).refusal(LOCKED, "get", "--offline", "a")
    assert list(elsewhere.iterdir()) == []


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
    assert finished.stdout == b"offline" and b"Entries changed: 1" in finished.stderr
