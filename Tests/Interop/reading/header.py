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
MOST_PAGE_BYTES, MOST_MANIFEST_BYTES = 16 << 10, 1 << 20
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
        return cls(cursor.fixed(8), cursor.fixed(8), cursor.take(24))

    @property
    def end(self) -> int:
        return self.place + self.sealed_length

    def check(self, most_bytes: int, within: range, what: str) -> None:
        """`Damaged` unless this can be a box of at most so many bytes in these places."""
        if self.sealed_length > most_bytes or self.place % 16 or self.sealed_length % 16:
            raise Damaged(f"{what}: {self.sealed_length} bytes at {self.place} cannot be")
        if self.place < within.start or self.end > within.stop:
            raise Damaged(f"{what} lies outside of its part of the file")


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
        kind, reserved = cursor.fixed(1), cursor.take(7)
        slot = cls(kind, cursor.take(16), cursor.fixed(8), cursor.fixed(8), cursor.take(24), cursor.take(80))
        if any(reserved + cursor.take(16)):
            raise cursor.fail("reserved bytes are not zero")
        if kind in KINDS_OF_48_BYTES and any(slot.wrapped[48:]):
            raise cursor.fail("bytes behind the wrapped key are not zero")
        if kind in KINDS_WITHOUT_ARGON2ID and (slot.passes or slot.memory):
            raise cursor.fail("limits of Argon2id where there is none")
        return slot

    def data_key(self, key_file: KeyFile) -> bytes | None:
        """The vault's data key, or None if this slot is not for this key file."""
        if self.kind != key_file.slot_kind:
            return None
        secret = key_file.secret(self.salt, self.passes, self.memory)
        wrapping_key = hash256(b"vault slot %d" % self.kind + self.salt, key=secret)
        try:
            return open_box(self.wrapped[:48], self.nonce, wrapping_key, "a key slot")
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
        raise Damaged("the header: the file ends in it")
    first, copy = image[:SIZE], image[SIZE:CHECKPOINT_START]
    is_copied = copy == first[:HINT_PLACE] + bytes(SIZE - HINT_PLACE)
    try:
        opened = open_one_header(first, key_file, len(image))
    except (Damaged, Locked, Newer):
        if not is_copied and opens(copy, key_file, len(image)):
            raise Damaged("the header: it is not what its copy is, which holds") from None
        raise
    if not is_copied:
        raise Damaged("the copy of the header is not what the header is")
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
    if cursor.take(8) != MAGIC:
        raise Damaged("the header: this is not a vault file")
    if (version := cursor.fixed(4)) != VERSION:
        raise (Newer if version > VERSION else Damaged)(f"the header: format version {version} is not known")
    count = cursor.fixed(4)
    if not 1 <= count <= MOST_SLOTS:
        raise Damaged(f"the header: {count} key slots")
    vault_id, sequence = cursor.take(16), cursor.fixed(8)
    root, manifest, checkpoint_end = PageReference.read(cursor), PageReference.read(cursor), cursor.fixed(8)
    reserved = image[cursor.place : SLOTS_PLACE] + image[SLOTS_PLACE + count * SLOT_SIZE : MAC_PLACE]
    if any(reserved):
        raise Damaged("the header: reserved bytes are not zero")
    starts = range(SLOTS_PLACE, SLOTS_PLACE + count * SLOT_SIZE, SLOT_SIZE)
    slots = [KeySlot.read(image[start : start + SLOT_SIZE]) for start in starts]
    hint = Cursor(image, "the hint", HINT_PLACE)
    header = Header(
        vault_id, sequence, root if root.place or root.sealed_length else None, manifest, checkpoint_end, slots,
        authenticator=image[MAC_PLACE : MAC_PLACE + 16], hint=Hint(hint.fixed(8), hint.fixed(8)),
    )  # fmt: skip
    check_places(header, file_size)
    return header


def check_places(header: Header, file_size: int) -> None:
    if header.sequence >= SEQUENCE_LIMIT:
        raise Damaged(f"the header: the sequence number {header.sequence}")
    if header.checkpoint_end % 16 or not CHECKPOINT_START <= header.checkpoint_end <= file_size:
        raise Damaged("the header: the checkpoint does not end in the file")
    if header.root:
        header.root.check(MOST_PAGE_BYTES, header.checkpoint, "the root")
    header.manifest.check(MOST_MANIFEST_BYTES, header.checkpoint, "the manifest")


def unlock(image: bytes, header: Header, key_file: KeyFile) -> Subkeys:
    """The subkeys, from the first slot that opens; then the header's MAC has to hold."""
    stretched = [slot for slot in header.slots if slot.kind == key_file.slot_kind == OTHER]
    if any(slot.passes not in PASSES or slot.memory not in MEMORY for slot in stretched):
        raise Damaged("a key slot: the limits of Argon2id are out of bounds")
    if sum(slot.passes * slot.memory for slot in stretched) > LARGEST_COST:
        raise Damaged("the key slots ask for too much work")
    for slot in header.slots:
        if (data_key := slot.data_key(key_file)) is not None:
            keys = Subkeys.derived(data_key)
            mac = hash256(image[:MAC_PLACE], key=keys.header)
            if not hmac.compare_digest(mac, image[MAC_PLACE:HINT_PLACE]):
                raise Damaged("the header: its MAC does not match")
            return keys
    raise Locked("the key file opens no slot of this vault")
