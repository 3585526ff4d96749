"""What the attacks need of a store of secrets: its commands, its files, and the state to go back to."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# A daemon that never answers counts as a failure.
PATIENCE = 20
TOO_LONG = -1


@dataclass(frozen=True)
class Command:
    words: Sequence[str]
    stdin: bytes = b""


@dataclass(frozen=True)
class Finished:
    code: int
    output: bytes
    errors: bytes


class Peer:
    """A store in a home folder of its own."""

    title: str
    # The unit in which an attacker exchanges parts of a single file.
    block = 512
    # The length of a value that does not fit into what room a replaced one leaves.
    large = 20_000

    def __init__(self, home: Path, store: Path) -> None:
        home.mkdir(mode=0o700, parents=True)
        (home / "tmp").mkdir()
        self.home = home
        # The folder that an attacker reads and writes. Keys are elsewhere.
        self.store = store

    @property
    def variables(self) -> dict[str, str]:
        return {}

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the person who runs this: no key, no agent, no session bus."""
        own = {"HOME": str(self.home), "TMPDIR": str(self.home / "tmp")}
        own |= {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        return own | self.variables

    @property
    def state(self) -> list[Path]:
        """The folders that `set` writes, in and beside the store."""
        return [self.store]

    # Commands

    def version(self) -> str:
        raise NotImplementedError

    def create(self) -> None:
        """Creates an empty store, and the keys."""
        raise NotImplementedError

    def setting(self, name: str, value: bytes) -> Command:
        raise NotImplementedError

    def getting(self, name: str) -> Command:
        raise NotImplementedError

    def listing(self) -> Command:
        raise NotImplementedError

    def verifying(self) -> Command | None:
        """The command that checks the whole store, if there is one."""
        return None

    def is_sound(self, finished: Finished) -> bool:
        """Whether the check found nothing."""
        return finished.code == 0

    def value(self, finished: Finished) -> bytes:
        """Returns the value that a successful `get` printed."""
        return finished.output.removesuffix(b"\n")

    def says_absent(self, finished: Finished) -> bool:
        """Whether a `get` said that there is no such entry, as it does of a name that was never set."""
        raise NotImplementedError

    def names(self, finished: Finished) -> set[str]:
        return set(finished.output.decode(errors="replace").split())

    # Files

    def sealed_files(self) -> list[Path]:
        """The files that hold the entries."""
        return sorted(path for path in self.store.rglob("*") if path.is_file())

    def entry_file(self, name: str) -> Path | None:
        """The file of one entry, or None if all entries are in one file."""
        return None

    def counted(self) -> int | None:
        """The number of entries, counted in the files without a key; None if this tool has no way to."""
        return None

    # Running

    def run(self, command: Command, through: Sequence[str] = ()) -> Finished:
        try:
            finished = subprocess.run(
                [*through, *command.words],
                input=command.stdin,
                env=self.environment,
                cwd=self.home,
                capture_output=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return Finished(TOO_LONG, b"", b"no answer")
        return Finished(finished.returncode, finished.stdout, finished.stderr)

    def output(self, *words: str, stdin: bytes = b"") -> str:
        """Standard output of a run that has to succeed."""
        finished = self.run(Command(words, stdin))
        if finished.code != 0:
            raise RuntimeError(f"{words} ended with {finished.code}: {finished.errors.decode(errors='replace')}")
        return finished.output.decode(errors="replace")

    def set(self, name: str, value: bytes) -> Finished:
        return self.run(self.setting(name, value))

    def must_set(self, name: str, value: bytes) -> None:
        finished = self.set(name, value)
        if finished.code != 0:
            raise RuntimeError(f"set ended with {finished.code}: {finished.errors.decode(errors='replace')}")

    def set_at_once(self, values: dict[str, bytes]) -> list[int]:
        """Starts a process for each entry, then gives all of them their input; returns the exit codes."""
        running = []
        for name, value in values.items():
            command = self.setting(name, value)
            process = subprocess.Popen(
                command.words,
                env=self.environment,
                cwd=self.home,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            running.append((process, command.stdin))
        for process, stdin in running:
            assert process.stdin
            try:
                process.stdin.write(stdin)
                process.stdin.close()
            except BrokenPipeError:
                pass  # Its exit code tells.
        return [process.wait(PATIENCE * 3) for process, _ in running]

    def stop(self) -> None:
        """Ends what was started in the background."""


@dataclass(frozen=True)
class Snapshot:
    """A copy of all that `set` writes."""

    peer: Peer
    folder: Path

    @staticmethod
    def of(peer: Peer, label: str) -> "Snapshot":
        folder = peer.home.with_name(f"{peer.home.name}-{label}")
        shutil.rmtree(folder, ignore_errors=True)
        for index, path in enumerate(peer.state):
            if path.exists():
                shutil.copytree(path, folder / str(index), symlinks=True)
        return Snapshot(peer, folder)

    def restore(self) -> None:
        for index in range(len(self.peer.state)):
            self.restore_folder(index)

    def restore_store(self) -> None:
        """Puts the store back, and nothing else: the attacker does not reach the rest."""
        self.restore_folder(0)

    def restore_folder(self, index: int) -> None:
        path = self.peer.state[index]
        shutil.rmtree(path, ignore_errors=True)
        if (self.folder / str(index)).exists():
            shutil.copytree(self.folder / str(index), path, symlinks=True)

    def file(self, path: Path) -> bytes:
        """Returns what a file of the store was then."""
        return (self.folder / "0" / path.relative_to(self.peer.store)).read_bytes()
