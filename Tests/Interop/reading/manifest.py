"""What the checkpoint says of itself: age, totals, recent authenticators, labels, settings."""

from dataclasses import dataclass

from .cursor import Cursor
from .header import Header
from .sealing import open_box


@dataclass(frozen=True)
class Totals:
    names: int
    live_bytes: int
    dead_bytes: int

    @classmethod
    def read(cls, cursor: Cursor) -> "Totals":
        return cls(cursor.varint(), cursor.varint(), cursor.varint())


@dataclass(frozen=True)
class Label:
    made: int
    text: str


@dataclass(frozen=True)
class Manifest:
    """`chain` holds the authenticators of the sequence numbers right before the header's, oldest first."""

    created: int
    totals: Totals
    chain: list[bytes]
    labels: list[Label]
    settings: list[tuple[bytes, bytes]]


def read_manifest(image: bytes, header: Header, page_key: bytes) -> Manifest:
    place = header.manifest
    content = open_box(image[place.place : place.end], place.nonce, page_key, "the manifest")
    cursor = Cursor(content, "the manifest")
    created, totals = cursor.varint(), Totals.read(cursor)
    chain = [cursor.take(16) for _ in range(cursor.varint(0, header.sequence))]
    labels = [Label(cursor.varint(), cursor.text()) for _ in header.slots]
    settings = [(cursor.counted(), cursor.counted()) for _ in range(cursor.varint())]
    cursor.finish_padding()
    return Manifest(created, totals, chain, labels, settings)
