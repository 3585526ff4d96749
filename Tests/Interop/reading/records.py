"""Records: their frames, their indexes, and the chain from the header on."""

import itertools
import struct
from dataclasses import dataclass

import nacl.bindings

from .cursor import Cursor
from .entries import Entry, read_entry
from .errors import Damaged, Foreign
from .header import Header, PageReference
from .manifest import Totals
from .sealing import NONCE_SIZE, Subkeys, hash256, open_box

MAGIC = b"vrec"
FRAME_SIZE = 24
MOST_INDEX_BYTES = 1 << 20
PAYLOAD_LIMIT = 512 << 20
TREE, NOTICE = 1, 2


@dataclass(frozen=True)
class Frame:
    place: int
    index_length: int
    payload_length: int

    @property
    def index_place(self) -> int:
        return self.place + FRAME_SIZE + NONCE_SIZE

    @property
    def payload_place(self) -> int:
        return self.index_place + self.index_length

    @property
    def end(self) -> int:
        return self.payload_place + self.payload_length


@dataclass(frozen=True)
class RecordTree:
    root: PageReference
    count: int


@dataclass(frozen=True)
class Record:
    frame: Frame
    authenticator: bytes
    sequence: int
    totals: Totals
    is_notice: bool
    transactions: list[list[Entry]]
    tree: RecordTree | None


def read_frame(image: bytes, place: int, vault_id: bytes) -> Frame | None:
    """The frame at `place`, or None if its magic, checksum or lengths do not hold."""
    data = image[place : place + FRAME_SIZE]
    if len(data) < FRAME_SIZE:
        return None
    magic, index_length, payload_length, checksum = struct.unpack("<4sIQ8s", data)
    if magic != MAGIC or nacl.bindings.crypto_shorthash_siphash24(data[:16], vault_id) != checksum:
        return None
    if index_length % 16 or index_length > MOST_INDEX_BYTES or payload_length % 16 or payload_length >= PAYLOAD_LIMIT:
        return None
    return Frame(place, index_length, payload_length)


def open_index(image: bytes, frame: Frame, record_key: bytes) -> bytes:
    box = image[frame.index_place : frame.payload_place]
    nonce = image[frame.place + FRAME_SIZE : frame.index_place]
    return open_box(box, nonce, record_key, f"the index of the record at {frame.place}")


def read_record(image: bytes, place: int, header: Header, keys: Subkeys, sequence: int, previous: bytes) -> Record:
    """The record at `place`, which has to continue the chain; `Damaged` if it fails in any way."""
    what = f"the record at {place}"
    frame = read_frame(image, place, header.vault_id)
    if frame is None:
        raise Damaged(f"{what}: its frame does not hold")
    if frame.payload_place > len(image):
        raise Damaged(f"{what}: the end of the file cuts it")
    cursor = Cursor(open_index(image, frame, keys.record), what)
    try:
        payload_hash, record = read_index(cursor, image, frame, header, sequence, previous)
    except Damaged as failure:
        raise Foreign(str(failure)) from None
    if payload_hash != hash256(image[frame.payload_place : frame.end]):
        raise cursor.fail("its payload is not the one that was sealed")
    return record


def read_index(
    cursor: Cursor, image: bytes, frame: Frame, header: Header, sequence: int, previous: bytes
) -> tuple[bytes, Record]:
    """The payload's hash, and all else that the index says."""
    if (found := cursor.fixed(8)) != sequence:
        raise cursor.fail(f"its sequence number is {found} where {sequence} follows")
    if cursor.take(16) != previous:
        raise cursor.fail("it does not follow what lies before it")
    payload_hash, flags = cursor.take(32), cursor.fixed(1)
    if flags not in (0, TREE, NOTICE):
        raise cursor.fail(f"its flags are {flags}")
    totals = Totals.read(cursor)
    transactions = [[read_entry(cursor) for _ in range(cursor.varint())] for _ in range(cursor.varint())]
    tree = read_record_tree(cursor, header) if flags & TREE else None
    cursor.finish_padding()
    if flags and transactions:
        raise cursor.fail("it has transactions beside a tree or a notice")
    if flags & NOTICE and frame.payload_length:
        raise cursor.fail("a notice has a payload")
    if payload_end(frame, transactions, tree) != frame.end:
        raise cursor.fail("its payload does not end where what it names does")
    authenticator = image[frame.index_place : frame.index_place + 16]
    return payload_hash, Record(frame, authenticator, sequence, totals, flags == NOTICE, transactions, tree)


def payload_end(frame: Frame, transactions: list[list[Entry]], tree: RecordTree | None) -> int:
    """Where what the record names in its payload ends: its root, or the last of its values."""
    if tree:
        return tree.root.end
    entries = itertools.chain.from_iterable(transactions)
    ends = [version.end for entry in entries for version in entry.versions if version.place >= frame.payload_place]
    return max(ends, default=frame.payload_place)


def read_record_tree(cursor: Cursor, header: Header) -> RecordTree:
    if cursor.take(16) != header.authenticator:
        raise cursor.fail("its tree belongs to another header")
    return RecordTree(PageReference(cursor.units(), cursor.units(), cursor.take(NONCE_SIZE)), cursor.varint())
