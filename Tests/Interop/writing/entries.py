"""Entries and values as a test states them, and their bytes."""

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .members import Signature, removed_statement, state_statement
from .primitives import counted, padded, varint

MADE = 1_700_000_000_000
REMOVED, ATTRIBUTES, EXPIRY, EARLIER, FORGOTTEN, JOINED, SIGNED = 1, 2, 4, 8, 16, 32, 64
OTHER_ATTRIBUTES, FORMER_EXPIRY, SIGNED_VERSION = 1, 2, 4  # flags of an earlier version
Attributes = list[tuple[str, str]]


@dataclass(eq=False)
class Value:
    """A value; each instance gets one box. `box` says what was sealed, `first_byte` and `nonce` where and how.

    `expiry`, `attributes` and `signature` are what its name had beside it, where it is an earlier version.
    """

    content: bytes
    kind: int = 1
    modified: int = MADE
    nonce: bytes = b""
    offset: int | None = None
    stated_length: int | None = None
    padding: bytes | None = None
    expiry: int | None = None
    attributes: Attributes = field(default_factory=list)
    signature: Signature | None = None

    @property
    def plain(self) -> bytes:
        if self.padding is not None:
            return self.content + self.padding
        return padded(self.content) or bytes(16)

    @property
    def box_size(self) -> int:
        return len(self.plain) + 16

    def stored(self) -> bytes:
        """The stored version of an entry."""
        length = len(self.content) if self.stated_length is None else self.stated_length
        return bytes([self.kind]) + self.nonce + varint((self.offset or 0) // 16) + varint(length)

    def as_earlier(self, following: Attributes) -> bytes:
        """The earlier version of an entry, whose attributes are stated if they differ from what followed it."""
        flags, rest = 0, self.stored()
        if self.expiry is not None:
            flags, rest = flags | FORMER_EXPIRY, rest + varint(self.expiry)
        if self.attributes != following:
            flags, rest = flags | OTHER_ATTRIBUTES, rest + encoded_attributes(self.attributes)
        if self.signature:
            flags, rest = flags | SIGNED_VERSION, rest + self.signature.encoded
        return varint(self.modified) + bytes([flags]) + rest

    def statement(self, name: bytes) -> bytes:
        """What the author of it as an earlier version has signed."""
        attributes = encoded_attributes(self.attributes)
        return state_statement(name, self.modified, self.kind, self.content, self.expiry, attributes)

    def described(self) -> dict:
        content = base64.b64encode(self.content).decode()
        return {"value_base64": content, "kind": self.kind, "modified": self.modified}

    def described_as_earlier(self) -> dict:
        expiry = {} if self.expiry is None else {"expiry": self.expiry}
        return self.described() | {"attributes": dict(self.attributes)} | expiry | described_author(self.signature)


def described_author(signature: Signature | None) -> dict:
    return {"author": signature.described} if signature else {}


def encoded_attributes(attributes: Attributes) -> bytes:
    pairs = b"".join(counted(key.encode()) + counted(text.encode()) for key, text in attributes)
    return varint(len(attributes)) + pairs


@dataclass(eq=False)
class Entry:
    """What is known of a name; without a `value` the name is removed. `edit` changes the encoded bytes.

    `earlier` are the versions that it had, newest first.
    """

    name: str | bytes
    value: Value | None = None
    modified: int = MADE
    created: int = MADE
    expiry: int | None = None
    earlier: list[Value] = field(default_factory=list)
    attributes: Attributes = field(default_factory=list)
    sequence: int = 0
    forgotten: int | None = None
    joined: int | None = None
    signature: Signature | None = None
    edit: Callable[[bytes], bytes] = lambda encoded: encoded

    @property
    def name_bytes(self) -> bytes:
        return self.name.encode() if isinstance(self.name, str) else self.name

    @property
    def values(self) -> list[Value]:
        return ([self.value] if self.value else []) + self.earlier

    @property
    def live_bytes(self) -> int:
        if not self.values:
            return 0
        offsets = sum(len(varint((value.offset or 0) // 16)) - 1 for value in self.values)
        return len(self.encoded()) - offsets + sum(value.box_size for value in set(self.values))

    def statement(self) -> bytes:
        """What the author of this state has signed."""
        name, value = self.name_bytes, self.value
        if not value:
            return removed_statement(name, self.modified)
        attributes = encoded_attributes(self.attributes)
        return state_statement(name, self.modified, value.kind, value.content, self.expiry, attributes)

    def encoded(self) -> bytes:
        return self.edit(counted(self.name_bytes) + self.flags_and_rest())

    def flags_and_rest(self) -> bytes:
        flags, rest = REMOVED, b""
        if self.value:
            flags, rest = 0, varint(self.modified - self.created) + self.value.stored()
        if self.expiry is not None:
            flags, rest = flags | EXPIRY, rest + varint(self.expiry)
        if self.attributes:
            flags, rest = flags | ATTRIBUTES, rest + encoded_attributes(self.attributes)
        if self.earlier:
            followed = [self.attributes, *(value.attributes for value in self.earlier)]
            pairs = zip(self.earlier, followed, strict=False)
            versions = b"".join(value.as_earlier(following) for value, following in pairs)
            flags, rest = flags | EARLIER, rest + varint(len(self.earlier)) + versions
        if self.forgotten is not None:
            flags, rest = flags | FORGOTTEN, rest + varint(self.forgotten)
        if self.joined is not None:
            flags, rest = flags | JOINED, rest + varint(self.joined)
        if self.signature:
            flags, rest = flags | SIGNED, rest + self.signature.encoded
        return bytes([flags]) + varint(self.modified) + varint(self.sequence) + rest

    def described(self) -> dict:
        """The entry as a vector's expectation writes it."""
        description = (self.value.described() if self.value else {}) | {"modified": self.modified}
        if self.value:
            description |= {"created": self.created, "attributes": dict(self.attributes)}
        if self.expiry is not None:
            description["expiry"] = self.expiry
        description |= described_author(self.signature)
        if self.earlier:
            description["earlier"] = [value.described_as_earlier() for value in self.earlier]
        return description


def put(name: str | bytes, content: str | bytes = "a value", kind: int = 1, **fields) -> Entry:
    """An entry with a new value."""
    data = content.encode() if isinstance(content, str) else content
    return Entry(name, Value(data, kind, fields.get("modified", MADE)), **fields)


def remove(name: str, modified: int = MADE + 1000, earlier: Iterable[Value] = ()) -> Entry:
    return Entry(name, None, modified, earlier=list(earlier))
