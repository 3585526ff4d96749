"""What is known of one name, and the boxes of its values."""

import itertools
import re
from dataclasses import dataclass

from .cursor import Cursor
from .sealing import NONCE_SIZE, TAG_SIZE, open_box
from .signatures import Signature

MOST_NAME_BYTES = 1024
MOST_ENTRY_BYTES = 8000
MOST_VALUE_BYTES = 16 << 20
VALUE_OFFSET_LIMIT = 1 << 61
CONTROL_CHARACTER = re.compile("[\u0000-\u001f\u007f-\u009f]")
REMOVED, ATTRIBUTES, EXPIRY, EARLIER, FORGOTTEN, JOINED, SIGNED = 1, 2, 4, 8, 16, 32, 64
ALL_FLAGS = REMOVED | ATTRIBUTES | EXPIRY | EARLIER | FORGOTTEN | JOINED | SIGNED
OTHER_ATTRIBUTES, FORMER_EXPIRY, SIGNED_VERSION = 1, 2, 4  # flags of an earlier version
Attributes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class StoredVersion:
    kind: int
    nonce: bytes
    offset: int
    length: int

    @classmethod
    def read(cls, cursor: Cursor) -> "StoredVersion":
        kind, nonce, offset = cursor.fixed(1, "value kind"), cursor.take(NONCE_SIZE, "value nonce"), cursor.units("value offset")
        if offset >= VALUE_OFFSET_LIMIT:
            raise cursor.fail("value offset: bounds")
        return cls(kind, nonce, offset, cursor.varint("value length", 0, MOST_VALUE_BYTES))

    @property
    def end(self) -> int:
        return self.offset + max(16, -(-self.length // 16) * 16) + TAG_SIZE

    def opened(self, image: bytes, value_key: bytes, what: str) -> bytes:
        content = open_box(image[self.offset : self.end], self.nonce, value_key, "value: box", what)
        if any(content[self.length :]):
            raise Cursor(content, what).fail("value: padding")
        return content[: self.length]


@dataclass(frozen=True)
class EarlierVersion:
    modified: int
    version: StoredVersion
    expiry: int | None
    attributes: Attributes
    signature: Signature | None


@dataclass(frozen=True)
class Entry:
    """`version` is None, and `created` 0, for a name that was removed."""

    name: bytes
    modified: int
    sequence: int
    created: int
    version: StoredVersion | None
    expiry: int | None
    earlier: tuple[EarlierVersion, ...]
    attributes: Attributes
    forgotten: int | None
    joined: int | None
    signature: Signature | None
    encoded_size: int

    @property
    def versions(self) -> list[StoredVersion]:
        current = [] if self.version is None else [self.version]
        return current + [earlier.version for earlier in self.earlier]

    @property
    def live_bytes(self) -> int:
        """Of the encoding, in which a place counts as one byte, and of the boxes; 0 if there are none."""
        if not self.versions:
            return 0
        offsets = sum(max(1, ((version.offset // 16).bit_length() + 6) // 7) - 1 for version in self.versions)
        return self.encoded_size - offsets + sum(version.end - version.offset for version in set(self.versions))


def read_name(cursor: Cursor) -> bytes:
    name = cursor.text("name", 1, MOST_NAME_BYTES)
    if CONTROL_CHARACTER.search(name):
        raise cursor.fail("name: control character")
    return name.encode("utf-8")


def read_entry(cursor: Cursor) -> Entry:
    start = cursor.offset
    name, flags, modified = read_name(cursor), cursor.fixed(1, "entry flags"), cursor.varint("modified")
    sequence = cursor.varint("sequence")
    if flags & ~ALL_FLAGS:
        raise cursor.fail("entry flags: reserved")
    if flags & REMOVED and flags & (ATTRIBUTES | EXPIRY):
        raise cursor.fail("entry flags: removed and others")
    created, version, expiry, attributes = 0, None, None, ()
    if not flags & REMOVED:
        created = modified - cursor.varint("age", 0, modified)
        version = StoredVersion.read(cursor)
        expiry = cursor.varint("expiry") if flags & EXPIRY else None
        attributes = read_attributes(cursor) if flags & ATTRIBUTES else ()
    earlier = read_earlier(cursor, attributes) if flags & EARLIER else ()
    forgotten = cursor.varint("forgotten") if flags & FORGOTTEN else None
    joined = cursor.varint("joined") if flags & JOINED else None
    signature = Signature.read(cursor) if flags & SIGNED else None
    size = cursor.offset - start
    if size > MOST_ENTRY_BYTES:
        raise cursor.fail("entry: size")
    return Entry(
        name, modified, sequence, created, version, expiry, earlier, attributes, forgotten, joined, signature, size
    )  # fmt: skip


def read_earlier(cursor: Cursor, following: Attributes) -> tuple[EarlierVersion, ...]:
    """`following` are the attributes of what came after the first of them."""
    versions = []
    for _ in range(cursor.varint("earlier versions", 1, 255)):
        modified, flags = cursor.varint("earlier versions"), cursor.fixed(1, "version flags")
        if flags & ~(OTHER_ATTRIBUTES | FORMER_EXPIRY | SIGNED_VERSION):
            raise cursor.fail("version flags: reserved")
        version = StoredVersion.read(cursor)
        expiry = cursor.varint("expiry") if flags & FORMER_EXPIRY else None
        if flags & OTHER_ATTRIBUTES:
            attributes = read_attributes(cursor, least=0)
            if attributes == following:
                raise cursor.fail("version flags: for nothing")
            following = attributes
        signature = Signature.read(cursor) if flags & SIGNED_VERSION else None
        versions.append(EarlierVersion(modified, version, expiry, following, signature))
    return tuple(versions)


def read_attributes(cursor: Cursor, least: int = 1) -> Attributes:
    count = cursor.varint("attributes", least, 64)
    attributes = tuple((cursor.text("attributes"), cursor.text("attributes")) for _ in range(count))
    keys = [key.encode("utf-8") for key, _ in attributes]
    if any(first >= second for first, second in itertools.pairwise(keys)):
        raise cursor.fail("attributes: order")
    return attributes
