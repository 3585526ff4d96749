"""A home whose vault is in a database, for tests that were written for homes whose vault is in a file."""

import hashlib
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from executables import executable
from homes import Home
from postgres import Cluster

def keep_password(home: Home, role: str, password: str) -> None:
    """Puts a role's password where libpq looks for it."""
    file = home.folder / ".pgpass"
    file.write_text(f"localhost:*:*:{role}:{password}\n")
    file.chmod(0o600)


def advised_clone(sentence: str) -> list[str]:
    """The words of the one `vault clone --offline` that a sentence names, behind `vault`."""
    [command] = re.findall(r"`vault (clone --offline [^`]*)`", sentence)
    return shlex.split(command)


TABLES = ("head", "generation", "extent")


class Setters:
    """Processes that have the vault open and set `sets` names each, all at once: `p0/0`, `p0/1` and so on."""

    def __init__(self, home: Home, processes: int, sets: int, threads: int = 1, prefix: str = "p"):
        example = executable("VAULT_SHARED_EXAMPLE", "the built `VaultSharedExample`")
        self.sets = sets
        self.names = sorted(f"{prefix}{one}/{other}" for one in range(processes) for other in range(sets))
        self.running = [
            subprocess.Popen(
                [example, home.variables["VAULT_FILE"], home.key, f"{prefix}{number}", str(sets), str(threads)],
                env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for number in range(processes)
        ]

    def finish(self, timeout: float | None = None) -> None:
        for process in self.running:
            finished = process.communicate(timeout=timeout)
            assert finished == (b"Set %d.\n" % self.sets, b""), finished


@dataclass
class SharedVault:
    """A vault in a database, with as much of a path as the tests of vault files ask for."""

    cluster: Cluster
    name: str
    # What the tables had for the bytes that were read, to be put back.
    read: dict[bytes, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.cluster.url(self.name)

    def __fspath__(self) -> str:
        return str(self)

    @property
    def hash(self) -> str:
        """The vault's name as the database knows it."""
        return f"'\\x{hashlib.blake2b(f'vault {self.name}'.encode(), digest_size=32).hexdigest()}'"

    @property
    def has_tables(self) -> bool:
        """They are made with the first vault of a database."""
        if not self.cluster.has_tables:
            self.cluster.has_tables = self.cluster.sql("SELECT to_regclass('vault.head')") != [""]
        return self.cluster.has_tables

    def exists(self) -> bool:
        return self.has_tables and self.cluster.sql(f"SELECT 1 FROM vault.head WHERE name = {self.hash}") != []

    def stat(self) -> SimpleNamespace:
        return SimpleNamespace(st_size=len(self.read_bytes()))

    def read_bytes(self) -> bytes:
        tables = self.dump()
        if not tables:
            raise FileNotFoundError(str(self))
        image = b"".join(bytes.fromhex(row.rpartition("\\x")[2]) for row in tables[-1].splitlines())
        self.read[image] = tables
        return image

    def write_bytes(self, image: bytes) -> None:
        """Puts back what was read before, or changes bytes of what was read last."""
        tables = self.read.get(bytes(image))
        self.put_back(tables or self.changed(list(self.read.values())[-1], image))

    @staticmethod
    def changed(tables: list[str], image: bytes) -> list[str]:
        rows = []
        for row in tables[-1].splitlines():
            generation, first_byte, content = row.split("\t")
            size = len(content.rpartition("x")[2]) // 2
            piece, image = image[:size], image[size:]
            rows.append(f"{generation}\t{first_byte}\t\\\\x{piece.hex()}\n")
        assert not image, "only bytes are changed, never their number"
        return [*tables[:-1], "".join(rows)]

    def dump(self) -> list[str]:
        """The rows of its present generation, as COPY writes them; none if there is no such vault."""
        if not self.has_tables:
            return []
        mine = f"WHERE generation = (SELECT generation FROM vault.head WHERE name = {self.hash})"
        copies = (f"COPY (SELECT * FROM vault.{table} {mine} ORDER BY {{}}) TO STDOUT;" for table in TABLES)
        orders = ("name", "generation", "first_byte")
        tables = self.cluster.script("\\qecho --\n".join(map(str.format, copies, orders))).split("--\n")
        return tables if tables[0] else []

    def put_back(self, tables: list[str]) -> None:
        if not tables:
            return self.unlink()
        copies = (f"COPY vault.{table} FROM STDIN;\n{rows}\\.\n" for table, rows in zip(TABLES, tables))
        self.cluster.script(f"BEGIN;{self.removal}{''.join(copies)}COMMIT;")

    def unlink(self) -> None:
        if self.has_tables:
            self.cluster.script(self.removal)

    @property
    def removal(self) -> str:
        mine = f"(SELECT generation FROM vault.generation WHERE name = {self.hash})"
        return "".join(
            f"DELETE FROM vault.{table} WHERE {condition};" for table, condition in (
                ("extent", f"generation IN {mine}"), ("generation", f"name = {self.hash}"),
                ("head", f"name = {self.hash}")))


@dataclass
class SharedHome(Home):
    """A home whose vault is in a database, unless a variable says otherwise."""

    cluster: Cluster | None = None
    name: str = "team"
    # What the database had when this was copied.
    tables: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.shared = SharedVault(self.cluster, self.name)

    @property
    def vault(self) -> SharedVault:
        return self.shared

    @property
    def environment(self) -> dict[str, str]:
        return {"VAULT_FILE": str(self.vault)} | super().environment

    def copy(self, folder: Path) -> "SharedHome":
        """The same on another machine, and what the vault is now."""
        return super().copy(folder).changed(tables=self.vault.dump())

    def restore(self, template: "SharedHome") -> None:
        super().restore(template)
        self.vault.put_back(template.tables)

    def files(self) -> list[str]:
        """Without what this machine has kept of the vault."""
        return [path for path in super().files() if not path.startswith(".cache/vault/")]
