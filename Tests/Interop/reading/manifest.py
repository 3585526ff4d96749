"""What the checkpoint says of itself: age, totals, earlier log positions, labels, settings, former and removed keys,
members.
"""

import itertools
from dataclasses import dataclass

from .credentials import RECIPIENT
from .cursor import Cursor
from .header import Header
from .members import MemberChange, counted, read_changes, read_known_to_key, varint
from .sealing import hash256, open_box
from .signatures import LogPosition

MOST_LABEL_BYTES, MOST_RECIPIENT_BYTES = 256, 4096
MOST_SETTINGS = 4096  # and the most bytes of a setting's key or value
MOST_MEMORY_KEYS = 4096
MOST_REMOVED_KEYS = 256
MOST_MERGED = 4096


@dataclass(frozen=True)
class Totals:
    names: int
    live_bytes: int
    dead_bytes: int

    @classmethod
    def read(cls, cursor: Cursor) -> "Totals":
        return cls(cursor.varint("totals"), cursor.varint("totals"), cursor.varint("totals"))


@dataclass(frozen=True)
class Label:
    """`recipient` is the public key of a recipient's slot, and empty for any other."""

    made: int
    text: str
    recipient: str

    @property
    def encoded(self) -> bytes:
        return varint(self.made) + counted(self.text.encode()) + counted(self.recipient.encode())

    @property
    def identifier(self) -> bytes:
        """By which the removed keys name it."""
        return hash256(self.encoded)[:16]


@dataclass(frozen=True)
class Manifest:
    """`chain` holds the authenticators of the sequence numbers right before the header's, oldest first.

    `merged` holds the log positions of the histories that were merged before the chain, `known_to_key` the ids of those
    changes of the members that were there when the data key was made and that no other one of them follows.
    """

    created: int
    totals: Totals
    chain: list[bytes]
    labels: list[Label]
    settings: list[tuple[str, str]]
    former_memory_keys: list[bytes]
    removed_keys: list[bytes]
    merged: list[LogPosition]
    members: list[MemberChange]
    known_to_key: list[bytes]


def setting(cursor: Cursor) -> str:
    return cursor.text("settings", 0, MOST_SETTINGS)


def read_manifest(image: bytes, header: Header, page_key: bytes) -> Manifest:
    page = header.manifest
    content = open_box(image[page.offset : page.end], page.nonce, page_key, "manifest: box", "the manifest")
    cursor = Cursor(content, "the manifest")
    created, totals = cursor.varint("created"), Totals.read(cursor)
    chain = [cursor.take(16, "chain") for _ in range(cursor.varint("chain", 0, header.sequence))]
    labels = [read_label(cursor, slot.kind) for slot in header.slots]
    settings = [(setting(cursor), setting(cursor)) for _ in range(cursor.varint("settings", 0, MOST_SETTINGS))]
    count = cursor.varint("former memory keys", 0, MOST_MEMORY_KEYS)
    former_memory_keys = [cursor.take(32, "former memory keys") for _ in range(count)]
    count = cursor.varint("removed keys", 0, MOST_REMOVED_KEYS)
    removed_keys = [cursor.take(16, "removed keys") for _ in range(count)]
    merged = read_merged(cursor, header)
    members = read_changes(cursor) if header.has_members else []
    known_to_key = read_known_to_key(cursor, members) if header.has_members else []
    cursor.finish_padding("manifest")
    return Manifest(
        created, totals, chain, labels, settings, former_memory_keys, removed_keys, merged, members, known_to_key
    )


def read_label(cursor: Cursor, kind: int) -> Label:
    made, text = cursor.varint("labels"), cursor.text("labels", 0, MOST_LABEL_BYTES)
    label = Label(made, text, cursor.text("labels", 0, MOST_RECIPIENT_BYTES))
    if label.recipient and kind != RECIPIENT:
        raise cursor.fail("labels: recipient of another kind")
    return label


def read_merged(cursor: Cursor, header: Header) -> list[LogPosition]:
    count = cursor.varint("merged", 0, MOST_MERGED)
    merged = [LogPosition(cursor.varint("merged"), cursor.take(16, "merged")) for _ in range(count)]
    if any(first.sequence > second.sequence for first, second in itertools.pairwise(merged)):
        raise cursor.fail("merged: order")
    if merged and merged[-1].sequence >= header.sequence:
        raise cursor.fail("merged: not before the header")
    return merged
