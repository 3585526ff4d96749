"""The static executable where there is nothing else: no /proc, no /etc, no /dev, no shared library; also as the first process."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from homes import COMMANDS

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the root")
AS_FIRST_PROCESS = ("unshare", "--fork", "--pid")
PATHS = ("--vault", "/data/my.vault", "--key-file", "/keys/my.key")


@pytest.fixture
def root(binary: str, tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    shutil.copy(binary, folder / "vault")
    return folder


def run(root: Path, *words: str, through: Sequence[str] = (), stdin: bytes = b"", **variables: str):
    command = [*through, "chroot", str(root), "/vault", *words]
    return subprocess.run(command, input=stdin, capture_output=True, env={"PATH": os.environ["PATH"]} | variables)


@pytest.mark.parametrize("through", [(), AS_FIRST_PROCESS], ids=["any process", "the first process"])
def test_every_command_works(root: Path, through: Sequence[str]) -> None:
    if subprocess.run([*through, "true"]).returncode != 0:
        pytest.skip("no process namespace can be made here")
    made = run(root, "set", "u.token", *PATHS, through=through, stdin=b"tok")
    assert made.returncode == 0, made
    for words, output in (
        (("version",), None), (("help",), None), (("get", "u.token"), b"tok"), (("ls",), b"u.token\n"), (("info",), None),
        (("doctor",), None), (("man",), None), (("verify",), None), (("compact",), None),
        (("exists", "u.token"), b""), (("rm", "u.token"), b""), (("ls",), b""),
    ):  # fmt: skip
        finished = run(root, *words, *PATHS, through=through)
        assert (finished.returncode, finished.stderr) == (0, b""), (words, finished)
        assert output is None or finished.stdout == output
    assert sorted(path.name for path in root.iterdir()) == ["data", "keys", "vault"]


# Each command, and how it ends where there is no other program, no /proc, no /dev, no HOME and no terminal. The
# vault has the entries a and seed.
RUNS = [
    ("set n", 0), ("get a", 0), ("show a", 0), ("attr a k=v", 0), ("edit a", 8), ("copy a", 8), ("pick", 4),
    ("otp seed", 0), ("generate p --show", 0), ("ls", 0), ("find a", 0), ("exists a", 0), ("rm n", 0), ("mv a b", 0),
    ("cp b a", 0), ("history b", 3), ("restore b", 3), ("undo", 0), ("run --env X=b -- /vault version", 0),
    ("run --file X=b -- /vault version", 125), ("env X=b", 0), ("inject", 0), ("import env -", 0),
    ("export json --plaintext", 0), ("setup git", 1), ("setup docker", 2), ("setup aws b", 1),
    ("setup kube b --user u", 0), ("setup ssh /own.key b", 2), ("setup direnv", 1), ("git-credential get", 0),
    ("docker-credential list", 0), ("aws-credential b", 2), ("kube-credential b", 1), ("askpass Password:", 1),
    ("ssh-add b", 2), ("systemd-credential", 2), ("prefs set k v", 8), ("prefs get k", 8), ("prefs ls", 8),
    ("prefs rm k", 8), ("unlock", 0), ("lock", 0), ("key ls", 0), ("key add --file /second.key", 0), ("key rm 2", 0),
    ("key check", 0), ("key rotate", 0), ("key show", 0), ("key split 2 of 3", 0), ("key join /joined.key", 2),
    ("drop d --to age1 -o /d.drop", 2), ("collect /d.drop", 8), ("backup /copy.vault", 0), ("merge /copy.vault", 0),
    ("clone /copy.vault /cloned.vault", 0),
    ("setup git-merge", 1), ("init", 4), ("info", 0), ("doctor", 0), ("log", 8), ("verify", 0), ("compact", 0),
    ("salvage /saved.vault", 0), ("help", 0), ("completions bash", 0), ("man", 0), ("version", 0),
    ("member ls", 0), ("member device", 5), ("member add mia", 5), ("member rm mia", 2),
    ("key replace /third.key", 0),
]  # fmt: skip


def test_every_command_ends_as_it_should_where_there_is_nothing(root: Path) -> None:
    named = {max((name for name in COMMANDS if run.startswith(name)), key=len) for run, _ in RUNS}
    assert named == set(COMMANDS)
    for name, value in (("a", b"tok"), ("seed", b"GEZDGNBVGY3TQOJQ")):
        assert run(root, "set", name, *PATHS, stdin=value).returncode == 0
    inputs = {"inject": b"{{ vault:b }}\n", "import": b"A=x\n", "set": b"x", "git-credential": b"protocol=https\nhost=a\n"}
    failed = []
    for line, code in RUNS:
        words = line.split()
        finished = run(root, *PATHS, *words, stdin=inputs.get(words[0], b""))
        said = finished.stderr.decode()
        if finished.returncode != code or (code != 0 and not said.startswith("vault: ")):
            failed.append((line, code, finished.returncode, said or finished.stdout[-200:]))
    assert not failed, "\n".join(map(str, failed))


@pytest.mark.parametrize("setting", ["enable=no", "enable=yes", "nonsense", "timeout=x", "swift-backtrace=/nowhere", ""])
def test_what_the_environment_asks_of_the_runtime_adds_no_line(root: Path, binary: str, setting: str) -> None:
    assert run(root, "version", SWIFT_BACKTRACE=setting).stderr == b""
    finished = subprocess.run([binary, "version"], capture_output=True, env={"SWIFT_BACKTRACE": setting})
    assert finished.returncode == 0 and finished.stderr == b""


def test_doctor_warns_of_libraries_that_are_older_than_the_machines(root: Path) -> None:
    """Where dpkg lists nothing, nothing is said."""
    assert run(root, "set", "u.token", *PATHS, stdin=b"tok").returncode == 0
    if json.loads(run(root, "version", "--json").stdout)["libraries"] is None:
        pytest.skip("the build does not say what is linked")

    def check() -> dict | None:
        checks = json.loads(run(root, "doctor", "--json", *PATHS).stdout)["checks"]
        return next((check for check in checks if check["name"] == "libraries"), None)

    assert check() is None
    status = root / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    entry = "Package: libexpat1\nStatus: install ok installed\nSource: expat\nVersion: {}\n"
    status.write_text(entry.format("0.1"))
    assert check()["state"] == "ok"
    status.write_text(entry.format("999:1-1"))
    found = check()
    assert found["state"] == "warning" and "(here 999:1-1)" in found["message"] and found["fix"]


def test_a_home_is_not_needed_and_its_lack_is_said(root: Path) -> None:
    finished = run(root, "ls")
    assert finished.returncode == 8 and b"VAULT_FILE. Or use --vault" in finished.stderr


def test_a_docker_secret_serves_as_key_file_without_proc(root: Path) -> None:
    secret = root / "run/secrets/vault.key"
    secret.parent.mkdir(parents=True)
    secret.write_bytes(b"a secret that docker has put there")
    secret.chmod(0o444)
    assert run(root, "set", "u.token", "--vault", "/v", stdin=b"tok").returncode == 0
    assert run(root, "get", "u.token", "--vault", "/v").stdout == b"tok"
    elsewhere = root / "elsewhere.key"
    shutil.copy2(secret, elsewhere)
    finished = run(root, "get", "u.token", "--vault", "/v", "--key-file", "/elsewhere.key")
    assert finished.returncode == 5 and b"others can read it" in finished.stderr


def test_a_static_program_that_uses_the_library_needs_proc_and_no_file(root: Path, benchmark_tool: str) -> None:
    shutil.copy(benchmark_tool, root / "program")
    (root / "proc").mkdir()
    filling = ("chroot", str(root), "/program", "fill", "/data/my.vault", "/keys/my.key", "10")
    # The mount is gone with its namespace.
    with_proc = ("unshare", "--mount", "sh", "-c", 'mount -t proc proc "$2/proc" && exec "$@"', "sh", *filling)
    environment = {"PATH": os.environ["PATH"]}
    assert subprocess.run(filling, env=environment, capture_output=True).returncode == -signal.SIGABRT
    finished = subprocess.run(with_proc, env=environment, capture_output=True)
    assert finished.returncode == 0, finished
    assert len(run(root, "ls", *PATHS).stdout.splitlines()) == 10
    assert sorted(path.name for path in root.iterdir()) == ["data", "keys", "proc", "program", "vault"]
