"""The built command in a home of its own, as a person would run it."""

import copy
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
# No folder can be made below it: where the state is to be kept there, nothing is remembered.
NO_MEMORY = {"XDG_STATE_HOME": "/dev/null/nowhere"}


@dataclass
class Home:
    """A fresh home folder. The environment holds nothing of the person who runs the tests."""

    binary: str
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    # What the command is started through: strace, setpriv and the like.
    through: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)

    @property
    def vault(self) -> Path:
        return self.folder / ".local/share/vault/default.vault"

    @property
    def key(self) -> Path:
        return self.folder / ".config/vault/default.key"

    @property
    def memory(self) -> Path:
        return self.folder / ".local/state/vault"

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no"}
        return own | self.variables

    def with_variables(self, **variables: str) -> "Home":
        return self.changed(variables=self.variables | variables)

    def without_memory(self) -> "Home":
        return self.with_variables(**NO_MEMORY)

    def started_through(self, *words: str) -> "Home":
        return self.changed(through=words)

    def changed(self, **fields: object) -> "Home":
        """The same but for some fields."""
        other = copy.copy(self)
        vars(other).update(fields)
        return other

    # Running

    def command(self, *arguments: str | bytes) -> list[str | bytes]:
        return [*self.through, self.binary, *arguments]

    def run(self, *arguments: str | bytes, stdin: bytes = b"", **options) -> subprocess.CompletedProcess:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.run(
            self.command(*arguments), input=stdin, env=self.environment, timeout=60, cwd=self.folder, **streams
        )

    def output(self, *arguments: str | bytes, stdin: bytes = b"") -> bytes:
        """Standard output of a run that has to succeed."""
        finished = self.run(*arguments, stdin=stdin)
        assert finished.returncode == 0, told(finished)
        return finished.stdout

    def refusal(self, code: int, *arguments: str | bytes, stdin: bytes = b"") -> str:
        """What a run says on standard error that has to end with `code`."""
        finished = self.run(*arguments, stdin=stdin)
        assert finished.returncode == code, told(finished)
        assert finished.stdout == b"", "a failing command has no result"
        sentence = finished.stderr.decode()
        assert sentence.startswith("vault: ") and "\nvault: " not in sentence
        return sentence

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        streams = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")} | options
        return subprocess.Popen(self.command(*arguments), env=self.environment, cwd=self.folder, **streams)

    def shell(self, line: str) -> subprocess.CompletedProcess:
        """Runs what a message advises, letter by letter. `vault` is the tested command."""
        name = self.folder.parent / f"{self.folder.name}-commands" / "vault"
        name.parent.mkdir(exist_ok=True)
        if not name.is_symlink():
            name.symlink_to(self.binary)
        environment = self.environment | {"PATH": f"{name.parent}:{os.environ['PATH']}"}
        words = [*self.through, "sh", "-c", line]
        return subprocess.run(words, env=environment, cwd=self.folder, capture_output=True, timeout=60)

    # What most tests do

    def keep_no_history(self) -> None:
        """What is replaced is outdated at once: a compaction is due after a few changes."""
        if not self.vault.exists():
            self.output("init")
        self.output("history", "--keep", "0,0")

    def set(self, name: str, value: bytes, *options: str) -> None:
        self.output("set", "--exact", *options, "--", name, stdin=value)

    def get(self, name: str) -> bytes:
        return self.output("get", "--", name)

    def names(self) -> list[str]:
        return self.output("ls").decode().split("\n")[:-1]

    def values(self) -> dict[str, bytes]:
        return {name: self.get(name) for name in self.names()}

    def copy(self, folder: Path) -> "Home":
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        return self.changed(folder=folder)

    def restore(self, template: "Home") -> None:
        """Puts everything back to what it is in another home."""
        shutil.rmtree(self.folder)
        shutil.copytree(template.folder, self.folder, symlinks=True)

    def files(self) -> list[str]:
        """All files below the home but those of the rollback memory."""
        found = [path for path in self.folder.rglob("*") if path.is_file() and self.memory not in path.parents]
        return sorted(str(path.relative_to(self.folder)) for path in found)


# All that the command can do, in the order of its help.
COMMANDS = [
    "set",
    "get",
    "show",
    "attr",
    "edit",
    "copy",
    "pick",
    "otp",
    "generate",
    "ls",
    "find",
    "exists",
    "rm",
    "mv",
    "cp",
    "history",
    "restore",
    "undo",
    "run",
    "env",
    "inject",
    "import",
    "export",
    "setup git",
    "setup docker",
    "setup aws",
    "setup kube",
    "setup ssh",
    "setup direnv",
    "git-credential",
    "docker-credential",
    "aws-credential",
    "kube-credential",
    "askpass",
    "ssh-add",
    "systemd-credential",
    "prefs get",
    "prefs set",
    "prefs ls",
    "prefs rm",
    "unlock",
    "lock",
    "key ls",
    "key add",
    "key rm",
    "key check",
    "key replace",
    "key rotate",
    "key show",
    "key split",
    "key join",
    "member ls",
    "member add",
    "member rm",
    "member device",
    "drop",
    "collect",
    "backup",
    "clone",
    "merge",
    "setup git-merge",
    "init",
    "info",
    "doctor",
    "log",
    "verify",
    "compact",
    "salvage",
    "help",
    "completions",
    "man",
    "version",
]
VAULT_AND_KEY = [".config/vault/default.key", ".local/share/vault/default.vault"]


def told(finished: subprocess.CompletedProcess) -> str:
    """A run for the message of a failed assertion."""
    output = (finished.stdout or b"")[-300:]
    return f"{finished.args} ended with {finished.returncode}: {output!r} {(finished.stderr or b'').decode()}"


def device(home: Home) -> str:
    """The device by which a machine signs, as people pass it on."""
    return home.output("member", "device").decode().strip()


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def goes_on(home: Home, *expected: dict[str, bytes]) -> None:
    """The vault verifies, has one of the expected states, and takes another value."""
    home.output("verify")
    found = home.values()
    assert found in expected, f"neither old nor new: {sorted(found)}"
    home.set("afterwards", b"kept")
    home.output("compact")
    home.output("verify")
    assert home.names() == sorted([*found, "afterwards"]) and home.get("afterwards") == b"kept"
    assert home.files() == VAULT_AND_KEY, "nothing is left behind"
