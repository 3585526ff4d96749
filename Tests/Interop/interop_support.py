"""What the interop tests share: the vectors, what the reader makes of them, and the built command in a fresh home."""

import base64
import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from reading import memory
from reading.errors import Damaged, Refusal
from reading.members import device_text
from reading.vault import Vault, open_vault
from vault_reader import described
from writing.vector import Vector

HERE = Path(__file__).parent
VECTORS = HERE / "Vectors"
SEALING_VECTORS = HERE.parent / "SealingTests" / "Vectors"
LARGEST_IN_JSON = 2**63 - 1
ALARM = 9
EXIT_CODES = {"ok": 0, "locked": 5, "damaged": 6, "newer": 1}


@dataclass(frozen=True)
class StoredVector:
    """A vector as it lies in a folder."""

    name: str
    expectation: dict
    folder: Path = VECTORS

    @classmethod
    def read(cls, file: Path) -> "StoredVector":
        return cls(file.stem, json.loads(file.read_text(encoding="utf-8")), file.parent)

    @classmethod
    def written(cls, vector: Vector, folder: Path) -> "StoredVector":
        """The vector, once it has been written into the folder."""
        vector.write(folder)
        return cls.read(folder / f"{vector.name}.json")

    @property
    def vault(self) -> Path:
        return self.folder / f"{self.name}.vault"

    @property
    def key(self) -> Path:
        return self.folder / f"{self.name}.key"

    @property
    def is_for_a_key_file(self) -> bool:
        """Whether a key file alone is to open the vault."""
        return not {"passphrase", "identity"} & self.expectation.keys()

    @property
    def expect(self) -> str:
        return self.expectation["expect"]

    @property
    def entries(self) -> dict[str, dict]:
        return self.expectation["entries"]

    @property
    def removed(self) -> dict[str, dict]:
        """The names without a value whose earlier versions are kept."""
        return self.expectation.get("removed", {})

    @property
    def exit_code_of_verify(self) -> int:
        """The command reports values that share a nonce, states from another history, and those of non-members."""
        if self.expectation.get("sharing_nonces"):
            return EXIT_CODES["damaged"]
        return ALARM if self.expectation.get("foreign") or self.has_states_of_non_members else EXIT_CODES[self.expect]

    @property
    def has_states_of_non_members(self) -> bool:
        names = [*self.expectation.get("entries", {}).values(), *self.removed.values()]
        states = [state for name in names for state in (name, *name.get("earlier", []))]
        return any(not state["author"]["was_member"] for state in states if "author" in state)

    @property
    def values(self) -> dict[str, bytes]:
        return {name: base64.b64decode(entry["value_base64"]) for name, entry in self.entries.items()}

    def found(self) -> str | dict[str, dict]:
        """What the independent reader makes of it."""
        return outcome(self.read_by_the_reader)

    def reason_found(self) -> str | None:
        """Why the independent reader refuses it."""
        try:
            self.read_by_the_reader()
        except Refusal as refusal:
            return refusal.reason
        return None

    def read_by_the_reader(self) -> Vault:
        fingerprint = self.expectation.get("fingerprint")
        return open_vault(
            self.vault,
            self.key.read_bytes() if self.key.exists() else None,
            self.expectation.get("passphrase"),
            self.expectation.get("identity"),
            None if fingerprint is None else bytes.fromhex(fingerprint),
        )

    def names_in_order(self) -> list[str]:
        return sorted(self.entries, key=lambda name: name.encode())


def outcome(read: Callable[[], Vault]) -> str | dict[str, dict]:
    """The entries, or the name of the error."""
    try:
        return {name: described(entry) for name, entry in read().entries.items()}
    except Damaged:
        return "damaged"
    except Refusal as refusal:
        return type(refusal).__name__.lower()


def stated(vault: Vault) -> dict:
    """What header and manifest say, as a vector that is about that writes it."""
    return {
        "history": [vault.header.history.versions, vault.header.history.days],
        "name": vault.header.name.hash.hex() if vault.header.name else None,
        "is_access_logged": vault.header.is_access_logged,
        "parameters": [slot.parameters.decode(errors="replace") for slot in vault.header.slots],
        "recipients": [label.recipient for label in vault.manifest.labels],
        "former_memory_keys": [key.hex() for key in vault.manifest.former_memory_keys],
        "removed_keys": [key.hex() for key in vault.manifest.removed_keys],
        "members": [[name, device_text(device)] for name, device in vault.members.present],
        "known_to_key": [identifier.hex() for identifier in vault.manifest.known_to_key],
        "foreign": foreign(vault),
        "sharing_nonces": sharing_nonces(vault),
        "merged": [[position.sequence, position.authenticator.hex()] for position in vault.manifest.merged],
    }


def changes(vault: Vault) -> list[dict]:
    """The states of all names that the vault has still, oldest first, as `vault log --changes` shows them."""
    found = []
    for name, entry in vault.current.items():
        authors = vault.members.authors(entry, vault.contents)
        for state, author in zip([entry, *entry.earlier], authors, strict=True):
            known = {"author": None, "author_was_member": None, "seen": None}
            if author:
                seen = min(author.seen, LARGEST_IN_JSON)
                known = {"author": author.name, "author_was_member": author.was_member, "seen": seen}
            change = {"name": name.decode(), "time": state.modified, "removed": state.version is None}
            found.append(change | known)
    return sorted(found, key=in_order)


def foreign(vault: Vault) -> list[str]:
    """The names with a state whose author knew a log position that is not part of this history."""
    found = []
    for name, entry in vault.current.items():
        signatures = [state.signature for state in (entry, *entry.earlier) if state.signature]
        if not all(memory.is_part_of(signature.seen, vault) for signature in signatures):
            found.append(name.decode())
    return found


def sharing_nonces(vault: Vault) -> list[str]:
    """The names of values whose boxes differ and share a nonce."""
    owners = defaultdict(lambda: defaultdict(set))
    for name, entry in vault.current.items():
        for version in entry.versions:
            owners[version.nonce][vault.contents[version]].add(name.decode())
    groups = [contents.values() for contents in owners.values() if len(contents) > 1]
    return sorted(set().union(*(names for group in groups for names in group)))


def in_order(change: dict) -> tuple:
    return change["time"], change["name"], str(change["author"])


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def each_vector(*expectations: str, by_key_file: bool = False, having: str = "expect") -> pytest.MarkDecorator:
    """Runs a test once for every stored vector, or every one with one of these expectations.

    `by_key_file` leaves out the vectors for which the command would need a passphrase or an identity, `having` those
    whose expectation lacks this field.
    """
    vectors = [StoredVector.read(file) for file in sorted(VECTORS.glob("*.json"))]
    vectors = [vector for vector in vectors if vector.is_for_a_key_file or not by_key_file]
    vectors = [vector for vector in vectors if having in vector.expectation]
    chosen = [vector for vector in vectors if not expectations or vector.expect in expectations]
    return pytest.mark.parametrize("vector", chosen, ids=lambda vector: vector.name)


@dataclass(frozen=True)
class Command:
    """The built `vault` in a fresh home; a vault or key named by `options` instead of the standard ones."""

    binary: str
    home: Path
    options: tuple[str, ...] = ()

    def finished(self, *arguments: str, standard_input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [self.binary, *self.options, *arguments],
            input=standard_input,
            capture_output=True,
            check=False,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no"},
            timeout=60,
        )

    def run(self, *arguments: str, standard_input: bytes = b"", expecting: int | None = 0, saying: str = "") -> bytes:
        """Standard output, after checking the exit code (None: any will do), and that standard error says something."""
        finished = self.finished(*arguments, standard_input=standard_input)
        errors = finished.stderr.decode(errors="replace")
        if expecting is not None:
            assert finished.returncode == expecting, f"vault {' '.join(arguments)}: {finished.returncode}\n{errors}"
        assert saying in errors
        return finished.stdout

    def set(self, name: str, value: bytes, *options: str) -> None:
        self.run("set", *options, name, standard_input=value)

    def changes(self) -> list[dict]:
        """As `changes` above."""
        shown = json.loads(self.run("log", "--changes", "--json"))["changes"]
        return sorted((change | {"time": milliseconds(change["time"])} for change in shown), key=in_order)

    def members(self) -> list[list[str]]:
        """The names of the members and their devices."""
        shown = json.loads(self.run("member", "ls", "--json"))["members"]
        return [[member["name"], device["device"]] for member in shown for device in member["devices"]]

    def names(self) -> list[str]:
        return self.run("ls").decode().split("\n")[:-1]

    def over(self, vector: StoredVector) -> "Command":
        """The same command over copies of a vector, whose modes git does not keep."""
        copies = [Path(shutil.copyfile(file, self.home / f"copy{file.suffix}")) for file in (vector.vault, vector.key)]
        for copy in copies:
            copy.chmod(0o600)
        if "device_key" in vector.expectation:
            self.use_device(f"{vector.expectation['device_key']}\n".encode())
        return Command(self.binary, self.home, ("--vault", str(copies[0]), "--key-file", str(copies[1])))

    def use_device(self, key_file: bytes) -> None:
        """Lets the command sign as that device."""
        self.device_key.parent.mkdir(parents=True, exist_ok=True)
        self.device_key.write_bytes(key_file)
        self.device_key.chmod(0o600)

    @property
    def device_key(self) -> Path:
        return self.home / ".config/vault/device.key"

    @property
    def paths(self) -> tuple[Path, Path]:
        """Where the vault and its key file are."""
        if self.options:
            return Path(self.options[1]), Path(self.options[3])
        return self.home / ".local/share/vault/default.vault", self.home / ".config/vault/default.key"

    def vault(self) -> Vault:
        """The vault as the independent reader sees it."""
        file, key = self.paths
        return open_vault(file, key.read_bytes())

    def values(self) -> dict[str, bytes]:
        return {name: entry.value for name, entry in self.vault().entries.items()}
