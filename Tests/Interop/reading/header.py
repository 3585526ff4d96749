"""The first 4,096 bytes: what they say, and how a key file, a passphrase or an identity opens them."""

import hmac
from dataclasses import dataclass

from .credentials import RECIPIENT, Credentials
from .cursor import Cursor
from .errors import Damaged, Locked, Newer
from .sealing import Subkeys, hash256
from .slots import MOST_SLOTS, SLOTS_OFFSET, KeySlot, check_limits, read_slots

SIZE = 4096
CHECKPOINT_START = 2 * SIZE
MAGIC = b"\x89VLT\r\n\x1a\n"
VERSION = 1
MAC_OFFSET, HINT_OFFSET = 4032, 4064
NAME_OFFSET, NAME_SIZE, MARK_SIZE = 140, 72, 16
MOST_VERSIONS = 255
SEQUENCE_LIMIT = 1 << 62
ACCESS_LOGGED, MEMBERS = 1, 2
LEAST_SEALED_BYTES, MOST_PAGE_BYTES, MOST_MANIFEST_BYTES = 32, 16 << 10, 1 << 20


@dataclass(frozen=True)
class PageReference:
    offset: int
    sealed_length: int
    nonce: bytes

    @classmethod
    def read(cls, cursor: Cursor) -> "PageReference":
        return cls(cursor.fixed(8, "offset"), cursor.fixed(8, "length"), cursor.take(24, "nonce"))

    @property
    def end(self) -> int:
        return self.offset + self.sealed_length

    def check(self, most_bytes: int, within: range, field: str) -> None:
        """`Damaged` unless this can be a box of at most so many bytes in these places."""
        what = f"{self.sealed_length} bytes at {self.offset}"
        if not LEAST_SEALED_BYTES <= self.sealed_length <= most_bytes or self.sealed_length % 16:
            raise Damaged(f"{field} length: bounds", what)
        if self.offset % 16:
            raise Damaged(f"{field} offset: multiple of 16", what)
        if self.offset < within.start or self.end > within.stop:
            raise Damaged(f"{field} offset: bounds", what)


@dataclass(frozen=True)
class History:
    """How many earlier versions of a name writers keep, and for how long."""

    versions: int
    days: int


@dataclass(frozen=True)
class Hint:
    offset: int
    sequence: int


@dataclass(frozen=True)
class BoundName:
    """What binds a vault to the name that it has in a database."""

    hash: bytes
    # Records up to this number were written before the vault was copied to this name.
    copied: int
    code: bytes

    @classmethod
    def read(cls, cursor: Cursor) -> "BoundName | None":
        name = cls(cursor.take(32, "vault name"), cursor.fixed(8, "vault name"), cursor.take(32, "vault name"))
        return name if any(name.hash + name.code) or name.copied else None

    @staticmethod
    def hashed(name: str) -> bytes:
        return hash256(f"vault {name}".encode())

    def check(self, mac: bytes, key: bytes) -> None:
        code = hash256(mac + self.hash + self.copied.to_bytes(8, "little"), key=key)
        if not hmac.compare_digest(code, self.code):
            raise Damaged("vault name: MAC")


@dataclass(frozen=True)
class Header:
    vault_id: bytes
    sequence: int
    root: PageReference | None
    manifest: PageReference
    checkpoint_end: int
    history: History
    # Whether reads are to be recorded.
    is_access_logged: bool
    # Whether the manifest names members.
    has_members: bool
    # None in a file that is no copy of a vault in a database.
    name: BoundName | None
    slots: list[KeySlot]
    authenticator: bytes
    hint: Hint

    @property
    def checkpoint(self) -> range:
        return range(CHECKPOINT_START, self.checkpoint_end)

    def admits(self, sequence: int, mark: bytes | None) -> bool:
        """Whether a record of this number may state a name, or none."""
        if self.name is None:
            return mark is None
        return sequence <= self.name.copied or mark == self.name.hash[:MARK_SIZE]


def open_header(image: bytes, credentials: Credentials) -> tuple[Header, Subkeys]:
    """The header and the subkeys; where it fails, its copy tells damage from another key and from a later version."""
    if len(image) < CHECKPOINT_START:
        raise Damaged("header: cut")
    first, copy = image[:SIZE], image[SIZE:CHECKPOINT_START]
    is_copied = copy == first[:HINT_OFFSET] + bytes(SIZE - HINT_OFFSET)
    try:
        opened = open_one_header(first, credentials, len(image))
    except (Damaged, Locked, Newer):
        if not is_copied and opens(copy, credentials, len(image)):
            raise Damaged("header: its copy holds") from None
        raise
    if not is_copied:
        raise Damaged("copy: differs")
    return opened


def opens(image: bytes, credentials: Credentials, file_size: int) -> bool:
    try:
        open_one_header(image, credentials, file_size)
    except (Damaged, Locked, Newer):
        return False
    return True


def open_one_header(image: bytes, credentials: Credentials, file_size: int) -> tuple[Header, Subkeys]:
    header = read_header(image, file_size)
    return header, unlock(image, header, credentials)


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
    history = History(cursor.fixed(4, "history"), cursor.fixed(4, "history"))
    if history.versions > MOST_VERSIONS:
        raise cursor.fail("history: bounds")
    flags, name = cursor.fixed(4, "flags"), BoundName.read(cursor)
    if flags & ~(ACCESS_LOGGED | MEMBERS) or any(image[cursor.offset : SLOTS_OFFSET]):
        raise cursor.fail("header: reserved")
    slots = read_slots(image, count)
    hint = Cursor(image, "the hint", HINT_OFFSET)
    header = Header(
        vault_id, sequence, root if root.offset or root.sealed_length else None, manifest, checkpoint_end, history,
        bool(flags & ACCESS_LOGGED), bool(flags & MEMBERS), name, slots, authenticator=image[MAC_OFFSET : MAC_OFFSET + 16],
        hint=Hint(hint.fixed(8, "offset"), hint.fixed(8, "sequence number")),
    )  # fmt: skip
    check_offsets(header, file_size)
    return header


def check_offsets(header: Header, file_size: int) -> None:
    if header.sequence >= SEQUENCE_LIMIT:
        raise Damaged("header sequence number: bounds")
    if header.checkpoint_end % 16 or not CHECKPOINT_START <= header.checkpoint_end <= file_size:
        raise Damaged("checkpoint end: bounds")
    if header.root:
        header.root.check(MOST_PAGE_BYTES, header.checkpoint, "root")
    header.manifest.check(MOST_MANIFEST_BYTES, header.checkpoint, "manifest")


def unlock(image: bytes, header: Header, credentials: Credentials) -> Subkeys:
    """The subkeys, from the first slot that opens; then the header's MAC has to hold.

    Anyone can make a slot for a recipient, so what it opens has to have the fingerprint that is known of the vault.
    """
    check_limits(header.slots, credentials)
    for slot in header.slots:
        if (data_key := slot.data_key(credentials)) is not None:
            keys = Subkeys.derived(data_key)
            if slot.kind == RECIPIENT and keys.fingerprint(header.vault_id) != credentials.fingerprint:
                raise Locked("fingerprint: another")
            covered = image[:NAME_OFFSET] + bytes(NAME_SIZE) + image[NAME_OFFSET + NAME_SIZE : MAC_OFFSET]
            mac = hash256(covered, key=keys.header)
            if not hmac.compare_digest(mac, image[MAC_OFFSET:HINT_OFFSET]):
                raise Damaged("header: MAC")
            if header.name:
                header.name.check(mac, keys.name)
            return keys
    raise Locked("key slots: none opens")
