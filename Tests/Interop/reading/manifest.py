"""What the checkpoint says of itself: age, totals, recent authenticators, labels, settings."""

from dataclasses import dataclass

from .cursor import Cursor
from .header import Header
from .sealing import open_box

MOST_SETTINGS = 4096  # and the most bytes of a setting's key or value


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
    made: int
    text: str


@dataclass(frozen=True)
class Manifest:
    """`chain` holds the authenticators of the sequence numbers right before the header's, oldest first."""

    created: int
    totals: Totals
    chain: list[bytes]
    labels: list[Label]
    settings: list[tuple[str, str]]


def setting(cursor: Cursor) -> str:
    return cursor.text("settings", 0, MOST_SETTINGS)


def read_manifest(image: bytes, header: Header, page_key: bytes) -> Manifest:
    place = header.manifest
    content = open_box(image[place.place : place.end], place.nonce, page_key, "manifest: box", "the manifest")
    cursor = Cursor(content, "the manifest")
    created, totals = cursor.varint("created"), Totals.read(cursor)
    chain = [cursor.take(16, "chain") for _ in range(cursor.varint("chain", 0, header.sequence))]
    labels = [Label(cursor.varint("labels"), cursor.text("labels", 0, 256)) for _ in header.slots]
    settings = [(setting(cursor), setting(cursor)) for _ in range(cursor.varint("settings", 0, MOST_SETTINGS))]
    cursor.finish_padding("manifest")
    return Manifest(created, totals, chain, labels, settings)
