"""What the bytes are swept of: small vaults with every structure, their key file and their rollback memory."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from histories import RECORDS_BEFORE_A_MINOR_CHECKPOINT
from homes import Home
from layout import checkpoint_end, log_end, records
from scenarios import base


@dataclass(frozen=True)
class Specimen:
    """Files of which one is changed, and what the vault held at each end of a record."""

    name: str
    home: Home
    # All files of the home, and the one that is changed.
    files: dict[Path, bytes]
    changed: Path
    # What the vault held after its checkpoint and after each record, and where these end.
    states: list[dict[str, bytes]]
    ends: list[int]
    # Other files of vaults, for splices: older and diverged ones of the same vault, and one of another.
    sources: dict[str, bytes] = field(default_factory=dict)
    source_states: tuple[dict[str, bytes], ...] = ()

    @property
    def content(self) -> bytes:
        return self.files[self.changed]

    @property
    def values(self) -> dict[str, bytes]:
        return self.states[-1]

    @property
    def log_end(self) -> int:
        return self.ends[-1]

    def put_back(self) -> None:
        """Restores all files; those that are as they were keep their inodes."""
        for path in self.home.folder.rglob("*"):
            if path not in self.files and path.is_file():
                path.unlink()
        for path, content in self.files.items():
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)


def specimen(
    name: str, home: Home, states: list[dict[str, bytes]], changed: Path | None = None,
    sources: dict[str, bytes] | None = None, source_states: tuple[dict[str, bytes], ...] = ()
) -> Specimen:  # fmt: skip
    # All is read once, so that the memory is as it stays.
    assert home.values() == states[-1]
    files = {path: path.read_bytes() for path in home.folder.rglob("*") if path.is_file()}
    ends = [checkpoint_end(home.vault.read_bytes()), *(record.end for record in records(home.vault))]
    assert ends[-1] == log_end(home.vault) and len(states) == len(ends)
    return Specimen(name, home, files, changed or home.vault, states, ends, sources or {}, source_states)


def log(home: Home) -> Specimen:
    """A checkpoint and four records."""
    history = base(home)
    newest = home.vault.read_bytes()
    sources = {f"older-{index}": data for index, (_, data) in enumerate(history[:-1])}
    other = home.with_variables(VAULT_FILE=str(home.folder / "other.vault")).without_memory()
    for name, value in history[0][0].items():
        other.set(name, value[::-1])
    other.output("compact")
    for name in ("delta", "beta", "removed", "epsilon"):
        other.set(name, b"of another vault")
    sources["other"] = (home.folder / "other.vault").read_bytes()
    other_state = {**{name: value[::-1] for name, value in history[0][0].items()},
                   **{name: b"of another vault" for name in ("delta", "beta", "removed", "epsilon")}}  # fmt: skip
    (home.folder / "other.vault").unlink()
    diverged = home.without_memory()
    home.vault.write_bytes(sources["older-1"])
    # Each record is as long as the one that is there: only the chain tells them apart.
    diverged.set("beta", b"diverged")
    diverged.output("rm", "removed")
    diverged.set("epsilon", b"43", "--type", "int")
    sources["diverged"] = home.vault.read_bytes()
    diverged_states = (diverged.values(),)
    home.vault.write_bytes(newest)
    diverged.output("compact")
    sources["compacted"] = home.vault.read_bytes()
    home.vault.write_bytes(newest)
    return specimen("log", home, [state for state, _ in history], None, sources,
                    (other_state, *diverged_states, *(state for state, _ in history)))  # fmt: skip


def minor(home: Home) -> Specimen:
    """Records, a minor checkpoint that replaces them, and records behind it."""
    state: dict[str, bytes] = {}
    states = [dict(state)]
    sources = {}
    home.output("init")
    for index in range(RECORDS_BEFORE_A_MINOR_CHECKPOINT + 3):
        name = f"entry-{index % 3}"
        home.set(name, b"value %d" % index)
        state[name] = b"value %d" % index
        states.append(dict(state))
        if index in (RECORDS_BEFORE_A_MINOR_CHECKPOINT - 3, RECORDS_BEFORE_A_MINOR_CHECKPOINT + 1):
            sources[f"older-{index}"] = home.vault.read_bytes()
    assert any(home.vault.read_bytes()[4064:4096]), "the hint names a minor checkpoint"
    return specimen("minor", home, states, None, sources, tuple(states))


def key(home: Home) -> Specimen:
    states = [state for state, _ in base(home)]
    return specimen("key", home, states, home.key)


def memory(suffix: str) -> Callable[[Home], Specimen]:
    def build(home: Home) -> Specimen:
        states = [state for state, _ in base(home)]
        if suffix == ".upkeep":
            sound = home.vault.read_bytes()
            home.vault.write_bytes(sound[:8_200] + bytes([sound[8_200] ^ 1]) + sound[8_201:])
            home.refusal(6, "verify")
            home.vault.write_bytes(sound)
        (file,) = home.memory.glob(f"*{suffix}")
        return specimen(f"memory{suffix}", home, states, file)

    return build


SPECIMENS: dict[str, Callable[[Home], Specimen]] = {
    "log": log,
    "minor": minor,
    "key": key,
    "memory.seen": memory(".seen"),
    "memory.path": memory(".path"),
    "memory.upkeep": memory(".upkeep"),
}


def build(name: str, home: Home) -> Specimen:
    shutil.rmtree(home.folder)
    home.folder.mkdir()
    return SPECIMENS[name](home)
