"""A vault that the command writes too: read, appended to and compacted by the rules of Format.md, "Writing".

The reader tells what is there, and the writer adds to it; only this file knows both.
"""

import fcntl
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reading.entries import Entry as ReadEntry
from reading.entries import EarlierVersion, StoredVersion
from reading.signatures import Signature as ReadSignature
from reading.slots import SLOT_SIZE, SLOTS_OFFSET
from reading.vault import Vault, open_image
from writing.builder import VaultBuilder
from writing.changes import CheckpointChanges
from writing.draft import HEADER_SIZE, HINT_OFFSET
from writing.entries import Entry, Value
from writing.members import Change, Changes, Device, Position, Signature
from writing.primitives import counted, varint

GROWTH = 16 << 10
SECTOR = 512
CHAIN_LENGTH = 1024
DAY = 86_400_000
VERSIONS, DAYS = 3, 30  # the history of a new vault
MOST_ENTRY_BYTES = 8000
OFFSET_AND_NONCE = 24 + 9  # what an entry grows by at most once its value is sealed


@dataclass(frozen=True)
class KeptSlot:
    """A key slot whose bytes stay as they are, and so do those of all slots before it."""

    kind: int
    data: bytes
    parameters: bytes

    def sealed(self, data_key: bytes, offset: int) -> bytes:
        return self.data


class ContinuedVault(VaultBuilder):
    """A builder that goes on behind the last record of a file."""

    def __init__(self, image: bytes, vault: Vault) -> None:
        super().__init__(secrets.token_hex(32))
        self.slots = []
        for number, slot in enumerate(vault.header.slots):
            start = SLOTS_OFFSET + SLOT_SIZE * number
            self.slots.append(KeptSlot(slot.kind, image[start : start + SLOT_SIZE], slot.parameters))
        self.history = vault.header.history.versions, vault.header.history.days
        self.is_access_logged = vault.header.is_access_logged
        changes = [change.encoded for change in vault.manifest.members]
        self.members = Changes(changes, vault.members.heads, vault.manifest.known_to_key)
        self.read_keys = vault.keys
        self.vault_id, self.header_authenticator = vault.header.vault_id, vault.header.authenticator
        last = vault.log.records[-1] if vault.log.records else vault.header
        self.sequence, self.authenticator = last.sequence, last.authenticator
        self.dead_bytes = (vault.log.records[-1] if vault.log.records else vault.manifest).totals.dead_bytes
        self.data = bytearray(image[: vault.log.end])
        entries = {name: written(entry, vault.contents) for name, entry in vault.current.items()}
        self.present = {name: entry for name, entry in entries.items() if entry.value}
        self.removed = {name: entry for name, entry in entries.items() if entry.earlier and not entry.value}
        self.since = {name: entries[name] for name in vault.since}

    def key(self, identifier: int) -> bytes:
        keys = self.read_keys
        return {1: keys.record, 2: keys.page, 3: keys.value, 4: keys.header}[identifier]

    def seal_values(self, entries: list[Entry], offset: int) -> bytes:
        """In the order of their former places, which says nothing about their names."""
        return super().seal_values(sorted(entries, key=former_offset), offset)


def former_offset(entry: Entry) -> int:
    return min((value.offset or 0 for value in entry.values), default=0)


def written(entry: ReadEntry, contents: dict[StoredVersion, bytes]) -> Entry:
    """What the reader found, as the writer states it."""

    def value(state: ReadEntry | EarlierVersion) -> Value:
        version = state.version
        return Value(
            contents[version], version.kind, state.modified, version.nonce, version.offset, expiry=state.expiry,
            attributes=list(state.attributes), signature=kept(state.signature),
        )  # fmt: skip

    return Entry(
        entry.name, value(entry) if entry.version else None, entry.modified, entry.created, entry.expiry,
        [value(old) for old in entry.earlier], list(entry.attributes), entry.sequence, entry.forgotten, entry.joined,
        kept(entry.signature),
    )  # fmt: skip


def kept(signature: ReadSignature | None) -> Signature | None:
    return Signature(signature.encoded, {}) if signature else None


class LiveVault:
    """A vault file under its lock. A call that changes it returns once that is durable.

    With a device, it signs what it sets and removes.
    """

    def __init__(self, file: int, path: Path, key_file: bytes, device: Device | None = None) -> None:
        self.file, self.path, self.key_file, self.device = file, path, key_file, device
        self.image = read_whole(file)
        self.vault = open_image(self.image, key_file)
        self.clear_behind()
        self.flush_newest()
        synchronize_folder(path.parent)

    # Changes

    def set(self, name: str, content: bytes) -> None:
        self.commit([self.entry(name, content)])

    def remove(self, name: str) -> None:
        self.commit([self.tombstone(name)])

    def rename(self, name: str, to: str) -> None:
        """The value gets a box of its own under the new name: two names never share one."""
        found = self.vault.entries[name]
        moved = Entry(to, Value(found.value, found.kind), now(), found.created, found.expiry)
        moved.attributes = list(found.attributes.items())
        self.commit([self.tombstone(name), self.with_history(moved)])

    def entry(self, name: str, content: bytes) -> Entry:
        """Keeps what the name has but its value and expiry."""
        old = self.vault.entries.get(name)
        attributes = list(old.attributes.items()) if old else []
        created = old.created if old else now()
        return self.with_history(Entry(name, Value(content, 0), now(), created, attributes=attributes))

    def tombstone(self, name: str) -> Entry:
        return self.with_history(Entry(name, None, now()))

    def with_history(self, entry: Entry) -> Entry:
        """Gives a new entry of a name the versions that it had, as many as the header says and as have room."""
        old, limits = self.vault.current.get(entry.name_bytes), self.vault.header.history
        entry.sequence = self.next_sequence()
        if old:
            entry.modified = max(entry.modified, old.modified + 1)
            entry.forgotten, entry.joined = old.forgotten, old.joined
        replaced_at = entry.modified
        for version in written(old, self.vault.contents).values[: limits.versions] if old else []:
            if entry.modified - replaced_at > limits.days * DAY:
                break
            entry.earlier.append(version)
            replaced_at = version.modified
        if self.device:
            self.builder().signed(entry, self.device)
        while len(entry.encoded()) + OFFSET_AND_NONCE > MOST_ENTRY_BYTES:
            entry.earlier.pop()
        return entry

    def next_sequence(self) -> int:
        newest = self.vault.log.records[-1].sequence if self.vault.log.records else self.vault.header.sequence
        return newest + 1

    def commit(self, entries: list[Entry]) -> None:
        self.write(self.builder().set(*entries))

    def add_minor_checkpoint(self) -> None:
        builder = self.builder().minor_checkpoint().hint()
        self.write(builder)
        os.pwrite(self.file, builder.data[HINT_OFFSET:HEADER_SIZE], HINT_OFFSET)

    @property
    def position(self) -> Position:
        return self.builder().position

    def compact(self, *changes: Change) -> None:
        """Appends a notice, and replaces the file by one of the entries alone, with changes of the members."""
        self.write(self.builder().notice())
        image = compacted(self.image, self.vault, changes)
        temporary = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        new = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        # Before it gets its name: no other process may write before the name is durable.
        fcntl.flock(new, fcntl.LOCK_EX)
        write_whole(new, image + bytes(padding_ahead(len(image))), 0)
        os.fsync(new)
        temporary.rename(self.path)
        synchronize_folder(self.path.parent)
        os.close(self.file)
        self.file, self.image, self.vault = new, image, open_image(image, self.key_file)

    # The file

    def builder(self) -> ContinuedVault:
        return ContinuedVault(self.image, self.vault)

    def write(self, builder: ContinuedVault) -> None:
        """Writes what the builder has appended, over zeros, and flushes it."""
        start, size = self.vault.log.end, os.fstat(self.file).st_size
        end = len(builder.data)
        if end > size:
            write_whole(self.file, bytes(end + padding_ahead(end) - size), size)
        write_whole(self.file, builder.data[start:], start)
        os.fdatasync(self.file)
        self.image = read_whole(self.file)
        self.vault = open_image(self.image, self.key_file)

    def clear_behind(self) -> None:
        """Overwrites what is behind the log's end from the back to the front, its first sector last and alone."""
        start, end = self.vault.log.end, len(self.image)
        if not any(self.image[start:]):
            return
        first = min(end, start - start % SECTOR + SECTOR)
        for offset in reversed(range(first, end, GROWTH)):
            write_whole(self.file, bytes(min(end - offset, GROWTH)), offset)
        os.fdatasync(self.file)
        write_whole(self.file, bytes(first - start), start)
        os.fdatasync(self.file)

    def flush_newest(self) -> None:
        """Writes the newest record again: its writer may have died before it flushed it."""
        if self.vault.log.records:
            frame = self.vault.log.records[-1].frame
            write_whole(self.file, self.image[frame.offset : frame.end], frame.offset)
        os.fdatasync(self.file)


@contextmanager
def opened(path: Path, key_file: bytes, device: Device | None = None) -> Iterator[LiveVault]:
    """The vault at the path, under the lock of the file that is there."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.samestat(os.fstat(file), os.stat(path)):
            break
        os.close(file)
    live = LiveVault(file, path, key_file, device)
    try:
        yield live
    finally:
        os.close(live.file)


def create(path: Path, key_path: Path) -> None:
    """A new vault without entries, and its generated key file: the key first."""
    builder = VaultBuilder(secrets.token_hex(32))
    builder.history = VERSIONS, DAYS
    builder.begin()
    for target, content in ((key_path, builder.key_file), (path, bytes(builder.data))):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        write_whole(file, content, 0)
        os.fsync(file)
        os.close(file)
        os.link(temporary, target)
        temporary.unlink()
        synchronize_folder(target.parent)


def compacted(image: bytes, vault: Vault, changes: Iterable[Change] = ()) -> bytes:
    """A file with the same entries, behind whose header nothing stands; `vault` ends with a notice."""
    builder = ContinuedVault(image, vault).change_members(*changes)
    entries = [written(entry, vault.contents) for entry in vault.current.values()]
    builder.data.clear()
    builder.sequence, builder.dead_bytes = builder.sequence + 1, 0
    authenticators = [vault.header.authenticator, *(record.authenticator for record in vault.log.records)]
    chain = (vault.manifest.chain + authenticators)[-CHAIN_LENGTH:]
    keys, removed, merged = vault.manifest.former_memory_keys, vault.manifest.removed_keys, vault.manifest.merged
    labels = [label.encoded for label in vault.manifest.labels]
    settings = [text(key) + text(value) for key, value in vault.manifest.settings]
    positions = [varint(position.sequence) + position.authenticator for position in merged]
    content = varint(vault.manifest.created) + builder.totals() + listed(chain) + b"".join(labels)
    content += listed(settings) + listed(keys) + listed(removed) + listed(positions)
    content += builder.members.in_manifest
    builder.begin(entries, 40, changes=CheckpointChanges(edit_manifest=lambda _: content))
    return bytes(builder.data)


def text(content: str) -> bytes:
    return counted(content.encode())


def listed(items: list[bytes]) -> bytes:
    return varint(len(items)) + b"".join(items)


def now() -> int:
    return int(time.time() * 1000)


def padding_ahead(end: int) -> int:
    """The zeros between the end of the log and a multiple of 16 KiB behind it."""
    return GROWTH - end % GROWTH


def read_whole(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def write_whole(file: int, data: bytes | bytearray, offset: int) -> None:
    assert os.pwrite(file, data, offset) == len(data)


def synchronize_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(folder)
    os.close(folder)
