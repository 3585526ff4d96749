"""A vault file so far: its keys and bytes, what is present in it, and what a test does to it once it is finished."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from .entries import MADE, Entry, Value
from .keys import AnySlot, generated_key_file, generated_slot
from .members import Change, Changes, Device, Position, Signature
from .primitives import Randomness, hash256, seal, subkey, u64, varint

HEADER_SIZE = 4096
CHECKPOINT_START = 2 * HEADER_SIZE
MAC_OFFSET, HINT_OFFSET = 4032, 4064
NAME_OFFSET, NAME_SIZE = 140, 72


@dataclass(frozen=True)
class WrittenRecord:
    offset: int
    end: int
    sequence: int
    payload_offset: int


class Draft:
    """`key_seed` apart from `seed` gives two vaults the same id, data key and key file.

    `key_file` is None, and `passphrase` or `identity` is there, if a vector opens its vault by that. `file_key` is what
    the identity unwraps. `device_key` is that of a member's device, by which tests go on in the vault. `stated` is what
    a reader has to find in header and manifest, where a vector is about that.
    """

    def __init__(self, seed: str, sequence: int = 1, key_seed: str | None = None) -> None:
        keys = Randomness(f"{key_seed or seed} keys")
        self.random = Randomness(seed)
        self.vault_id, self.data_key, self.secret = keys.take(16), keys.take(32), keys.take(32)
        self.key_file: bytes | None = generated_key_file(self.secret)
        self.passphrase: str | None = None
        self.identity: bytes | None = None
        self.file_key: bytes | None = None
        self.known_fingerprint: bytes | None = None
        self.slots: list[AnySlot] = [generated_slot(self.secret, keys.take(16), keys.take(24))]
        self.sequence = sequence
        self.history = (0, 0)
        self.is_access_logged = False
        # In a database: the vault's name, and the number of the last record from before it was copied there.
        self.name: str | None = None
        self.copied = 0
        self.chain: list[bytes] = []
        self.recipients: dict[int, str] = {}
        self.former_memory_keys: list[bytes] = []
        self.removed_keys: list[bytes] = []
        self.merged: list[Position] = []
        self.members = Changes()
        self.device_key: bytes | None = None
        self.data = bytearray()
        self.authenticator = self.header_authenticator = b""
        self.present: dict[bytes, Entry] = {}
        self.since: dict[bytes, Entry] = {}
        self.records: list[WrittenRecord] = []
        self.removed: dict[bytes, Entry] = {}
        self.dead_bytes = 0
        self.stated: dict = {}

    def twin(self) -> Self:
        """Another one that begins as this one did: to find out where things will lie."""
        return type(self)(self.random.seed.decode())

    def key(self, identifier: int) -> bytes:
        return subkey(self.data_key, identifier)

    def name_hash(self) -> bytes:
        return hash256(f"vault {self.name}".encode())

    def bound_name(self, mac: bytes) -> bytes:
        """What binds the vault to its name, for the header; zeros if it has none."""
        if self.name is None:
            return bytes(NAME_SIZE)
        stated = self.name_hash() + u64(self.copied)
        return stated + hash256(mac + stated, key=self.key(10))

    def mark(self) -> bytes:
        """What a record states of the name."""
        return self.name_hash()[:16] if self.name else b""

    def renamed(self, name: str | None) -> Self:
        """Copies the vault to another name, behind its newest record."""
        mac = bytes(self.data[MAC_OFFSET:HINT_OFFSET])
        self.name, self.copied = name, self.sequence
        for start in (0, HEADER_SIZE):
            offset = start + NAME_OFFSET
            self.data[offset : offset + NAME_SIZE] = self.bound_name(mac)
        return self

    def fingerprint(self) -> bytes:
        return hash256(self.vault_id, key=self.key(6))[:16]

    # Values and totals

    def seal_values(self, entries: list[Entry], offset: int) -> bytes:
        """Boxes of the values that have none in the file yet, as they lie from `first_byte` on."""
        values = dict.fromkeys(value for entry in entries for value in entry.values)
        boxes = b""
        for value in values:
            if value.offset is None or value.offset >= len(self.data):
                value.nonce = value.nonce or self.random.take(24)
                value.offset = offset + len(boxes)
                boxes += seal(value.plain, value.nonce, self.key(3))
        return boxes

    def note(self, entries: Iterable[Entry]) -> None:
        """Keeps count of what is present, and of removed names with earlier versions; the rest counts as dead."""
        for entry in entries:
            name = entry.name_bytes
            old = self.present.pop(name, None) or self.removed.pop(name, None)
            if old:
                offsets = {value.offset for value in entry.values} - {None}
                kept = {value for value in old.values if value.offset in offsets}
                self.dead_bytes += old.live_bytes - sum(value.box_size for value in kept)
            self.since[name] = entry
            if entry.values:
                (self.present if entry.value else self.removed)[name] = entry

    def totals(self) -> bytes:
        live = sum(entry.live_bytes for entry in (*self.present.values(), *self.removed.values()))
        return varint(len(self.present)) + varint(live) + varint(self.dead_bytes)

    # Members

    @property
    def position(self) -> Position:
        """What is signed now follows this log position: the newest one, or the last one of the chain."""
        return (self.sequence, self.authenticator) if self.data else (self.sequence - 1, self.chain[-1])

    def change_members(self, *changes: Change, seen: Position | None = None) -> Self:
        """Adds changes of the members, which the checkpoint's manifest is to hold."""
        for change in changes:
            self.members.add(change, self.vault_id, seen or self.position)
        return self

    def signed(self, entry: Entry, author: Device, **how) -> Entry:
        """The entry, signed by a device."""
        entry.signature = self.signature(entry.statement(), author, **how)
        return entry

    def signed_version(self, name: str, value: Value, author: Device, **how) -> Value:
        """An earlier version of a name, signed by the device that set it."""
        value.signature = self.signature(value.statement(name.encode()), author, **how)
        return value

    def signature(
        self, statement: bytes, author: Device, seen: Position | None = None, was_member: bool = True,
        known_as: str | None = None,
    ) -> Signature:  # fmt: skip
        """`known_as` and `was_member` say what a reader has to find of the author."""
        seen = seen or self.position
        described = {"name": known_as or author.member, "was_member": was_member, "seen": seen[0]}
        return Signature(author.sign(statement, self.vault_id, seen), described)

    # What a test does with the finished file

    def hint(self, record: int = -1, offset: int | None = None, sequence: int | None = None) -> Self:
        """Points the hint at a record, or at anything else."""
        written = self.records[record]
        offset = written.offset if offset is None else offset
        sequence = written.sequence if sequence is None else sequence
        self.data[HINT_OFFSET:HEADER_SIZE] = u64(offset) + u64(sequence) + bytes(16)
        return self

    def zero(self, start: int, end: int) -> Self:
        self.data[start:end] = bytes(end - start)
        return self

    def flip(self, offset: int) -> Self:
        self.data[offset] ^= 1
        return self

    def flip_in_both_headers(self, offset: int) -> Self:
        return self.flip(offset).flip(HEADER_SIZE + offset)

    def described(self) -> dict[str, dict]:
        """What a reader has to find: what has not expired when the vector was made."""
        lasting = (name for name, entry in self.present.items() if entry.expiry is None or entry.expiry > MADE)
        return {name.decode(): self.present[name].described() for name in sorted(lasting)}

    def described_removed(self) -> dict[str, dict]:
        """The removed names whose earlier versions a reader has to find."""
        return {name.decode(): self.removed[name].described() for name in sorted(self.removed)}
