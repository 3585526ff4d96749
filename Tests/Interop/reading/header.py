"""The first 4,096 bytes: what they say, and how a key file opens them."""

import hmac
from dataclasses import dataclass

from .cursor import Cursor
from .errors import Damaged, Locked, Newer
from .keyfile import OTHER, KeyFile
from .sealing import Subkeys, hash256, open_box

SIZE = 4096
CHECKPOINT_START = 2 * SIZE
MAGIC = b"\x89VLT\r\n\x1a\n"
VERSION = 1
SLOT_SIZE, MOST_SLOTS = 160, 16
SLOTS_PLACE, SLOTS_END, MAC_PLACE, HINT_PLACE = 256, 2816, 4032, 4064
SEQUENCE_LIMIT = 1 << 62
KINDS_OF_48_BYTES = range(1, 5)
KINDS_WITHOUT_ARGON2ID = (1, 5)
LEAST_SEALED_BYTES, MOST_PAGE_BYTES, MOST_MANIFEST_BYTES = 32, 16 << 10, 1 << 20
PASSES = range(1, 11)
LARGEST_COST = 768 << 20
MEMORY = range(8 << 10, LARGEST_COST + 1)


@dataclass(frozen=True)
class PageReference:
    place: int
    sealed_length: int
    nonce: bytes

    @classmethod
    def read(cls, cursor: Cursor) -> "PageReference":
        return cls(cursor.fixed(8, "offset"), cursor.fixed(8, "length"), cursor.take(24, "nonce"))

    @property
    def end(self) -> int:
        return self.place + self.sealed_length

    def check(self, most_bytes: int, within: range, field: str) -> None:
        """`Damaged` unless this can be a box of at most so many bytes in these places."""
        what = f"{self.sealed_length} bytes at {self.place}"
        if not LEAST_SEALED_BYTES <= self.sealed_length <= most_bytes or self.sealed_length % 16:
            raise Damaged(f"{field} length: bounds", what)
        if self.place % 16:
            raise Damaged(f"{field} offset: multiple of 16", what)
        if self.place < within.start or self.end > within.stop:
            raise Damaged(f"{field} offset: bounds", what)


@dataclass(frozen=True)
class KeySlot:
    kind: int
    salt: bytes
    passes: int
    memory: int
    nonce: bytes
    wrapped: bytes

    @classmethod
    def read(cls, data: bytes) -> "KeySlot":
        cursor = Cursor(data, "a key slot")
        kind, reserved, salt = cursor.fixed(1, "kind"), cursor.take(7, "reserved"), cursor.take(16, "salt")
        passes, memory = cursor.fixed(8, "passes"), cursor.fixed(8, "memory")
        slot = cls(kind, salt, passes, memory, cursor.take(24, "nonce"), cursor.take(80, "wrapped data key"))
        if any(reserved + cursor.take(16, "reserved")):
            raise cursor.fail("key slot: reserved")
        if kind in KINDS_OF_48_BYTES and any(slot.wrapped[48:]):
            raise cursor.fail("wrapped data key: reserved")
        if kind in KINDS_WITHOUT_ARGON2ID and (slot.passes or slot.memory):
            raise cursor.fail("Argon2id limits: not zero")
        return slot

    def data_key(self, key_file: KeyFile) -> bytes | None:
        """The vault's data key, or None if this slot is not for this key file."""
        if self.kind != key_file.slot_kind:
            return None
        secret = key_file.secret(self.salt, self.passes, self.memory)
        wrapping_key = hash256(b"vault slot %d" % self.kind + self.salt, key=secret)
        try:
            return open_box(self.wrapped[:48], self.nonce, wrapping_key, "wrapped data key: box", "a key slot")
        except Damaged:
            return None


@dataclass(frozen=True)
class Hint:
    place: int
    sequence: int


@dataclass(frozen=True)
class Header:
    vault_id: bytes
    sequence: int
    root: PageReference | None
    manifest: PageReference
    checkpoint_end: int
    slots: list[KeySlot]
    authenticator: bytes
    hint: Hint

    @property
    def checkpoint(self) -> range:
        return range(CHECKPOINT_START, self.checkpoint_end)


def open_header(image: bytes, key_file: KeyFile) -> tuple[Header, Subkeys]:
    """The header and the subkeys; where it fails, its copy tells damage from another key and from a later version."""
    if len(image) < CHECKPOINT_START:
        raise Damaged("header: cut")
    first, copy = image[:SIZE], image[SIZE:CHECKPOINT_START]
    is_copied = copy == first[:HINT_PLACE] + bytes(SIZE - HINT_PLACE)
    try:
        opened = open_one_header(first, key_file, len(image))
    except (Damaged, Locked, Newer):
        if not is_copied and opens(copy, key_file, len(image)):
            raise Damaged("header: its copy holds") from None
        raise
    if not is_copied:
        raise Damaged("copy: differs")
    return opened


def opens(image: bytes, key_file: KeyFile, file_size: int) -> bool:
    try:
        open_one_header(image, key_file, file_size)
    except (Damaged, Locked, Newer):
        return False
    return True


def open_one_header(image: bytes, key_file: KeyFile, file_size: int) -> tuple[Header, Subkeys]:
    header = read_header(image, file_size)
    return header, unlock(image, header, key_file)


def read_header(image: bytes, file_size: int) -> Header:
    """The fields of the header, checked for all that can be checked without a key."""
    cursor = Cursor(image[:SIZE], "the header")
    if cursor.take(8, "magic") != MAGIC:
        raise cursor.fail("header: magic")
    if (version := cursor.fixed(4, "version")) != VERSION:
        raise (Newer if version > VERSION else Damaged)("header: version", f"version {version}")
    count = cursor.fixed(4, "key slots")
    if not 1 <= count <= MOST_SLOTS:
        raise cursor.fail("key slots: number")
    vault_id, sequence = cursor.take(16, "vault id"), cursor.fixed(8, "sequence number")
    root, manifest = PageReference.read(cursor), PageReference.read(cursor)
    checkpoint_end = cursor.fixed(8, "checkpoint end")
    reserved = image[cursor.place : SLOTS_PLACE] + image[SLOTS_PLACE + count * SLOT_SIZE : MAC_PLACE]
    if any(reserved):
        raise cursor.fail("header: reserved")
    starts = range(SLOTS_PLACE, SLOTS_PLACE + count * SLOT_SIZE, SLOT_SIZE)
    slots = [KeySlot.read(image[start : start + SLOT_SIZE]) for start in starts]
    hint = Cursor(image, "the hint", HINT_PLACE)
    header = Header(
        vault_id, sequence, root if root.place or root.sealed_length else None, manifest, checkpoint_end, slots,
        authenticator=image[MAC_PLACE : MAC_PLACE + 16],
        hint=Hint(hint.fixed(8, "offset"), hint.fixed(8, "sequence number")),
    )  # fmt: skip
    check_places(header, file_size)
    return header


def check_places(header: Header, file_size: int) -> None:
    if header.sequence >= SEQUENCE_LIMIT:
        raise Damaged("header sequence number: bounds")
    if header.checkpoint_end % 16 or not CHECKPOINT_START <= header.checkpoint_end <= file_size:
        raise Damaged("checkpoint end: bounds")
    if header.root:
        header.root.check(MOST_PAGE_BYTES, header.checkpoint, "root")
    header.manifest.check(MOST_MANIFEST_BYTES, header.checkpoint, "manifest")


def unlock(image: bytes, header: Header, key_file: KeyFile) -> Subkeys:
    """The subkeys, from the first slot that opens; then the header's MAC has to hold."""
    stretched = [slot for slot in header.slots if slot.kind == key_file.slot_kind == OTHER]
    if any(slot.passes not in PASSES or slot.memory not in MEMORY for slot in stretched):
        raise Damaged("Argon2id limits: bounds")
    if sum(slot.passes * slot.memory for slot in stretched) > LARGEST_COST:
        raise Damaged("Argon2id limits: sum")
    for slot in header.slots:
        if (data_key := slot.data_key(key_file)) is not None:
            keys = Subkeys.derived(data_key)
            mac = hash256(image[:MAC_PLACE], key=keys.header)
            if not hmac.compare_digest(mac, image[MAC_PLACE:HINT_PLACE]):
                raise Damaged("header: MAC")
            return keys
    raise Locked("key slots: none opens")
