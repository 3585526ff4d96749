"""Records: their frames, their indexes, and the chain from the header on."""

import itertools
import struct
from dataclasses import dataclass

import nacl.bindings

from .cursor import Cursor
from .entries import Entry, read_entry
from .errors import Damaged, Foreign
from .header import LEAST_SEALED_BYTES, MARK_SIZE, MOST_PAGE_BYTES, Header, PageReference
from .manifest import Totals
from .sealing import NONCE_SIZE, Subkeys, hash256, open_box
from .tree import read_reference

MAGIC = b"vrec"
FRAME_SIZE = 24
MOST_INDEX_BYTES = 1 << 20
PAYLOAD_LIMIT = 512 << 20
TREE, NOTICE, NAMED = 1, 2, 4


@dataclass(frozen=True)
class Frame:
    offset: int
    index_length: int
    payload_length: int

    @property
    def index_offset(self) -> int:
        return self.offset + FRAME_SIZE + NONCE_SIZE

    @property
    def payload_offset(self) -> int:
        return self.index_offset + self.index_length

    @property
    def end(self) -> int:
        return self.payload_offset + self.payload_length


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


def read_frame(image: bytes, offset: int, vault_id: bytes) -> Frame:
    """The frame at `first_byte`; `Damaged` if its magic, checksum or lengths do not hold."""
    what = f"the record at {offset}"
    data = image[offset : offset + FRAME_SIZE]
    if len(data) < FRAME_SIZE:
        raise Damaged("frame: cut", what)
    magic, index_length, payload_length, checksum = struct.unpack("<4sIQ8s", data)
    if magic != MAGIC:
        raise Damaged("frame: magic", what)
    if nacl.bindings.crypto_shorthash_siphash24(data[:16], vault_id) != checksum:
        raise Damaged("frame: checksum", what)
    is_bounded = LEAST_SEALED_BYTES <= index_length <= MOST_INDEX_BYTES and payload_length < PAYLOAD_LIMIT
    if index_length % 16 or payload_length % 16 or not is_bounded:
        raise Damaged("frame: lengths", what)
    return Frame(offset, index_length, payload_length)


def frame_holds(image: bytes, offset: int, vault_id: bytes) -> bool:
    try:
        read_frame(image, offset, vault_id)
    except Damaged:
        return False
    return True


def open_index(image: bytes, frame: Frame, record_key: bytes) -> bytes:
    box = image[frame.index_offset : frame.payload_offset]
    nonce = image[frame.offset + FRAME_SIZE : frame.index_offset]
    return open_box(box, nonce, record_key, "index: box", f"the record at {frame.offset}")


def read_record(image: bytes, offset: int, header: Header, keys: Subkeys, sequence: int, previous: bytes) -> Record:
    """The record at `first_byte`, which has to continue the chain; `Damaged` if it fails in any way."""
    what = f"the record at {offset}"
    frame = read_frame(image, offset, header.vault_id)
    if frame.payload_offset > len(image):
        raise Damaged("index: cut", what)
    cursor = Cursor(open_index(image, frame, keys.record), what)
    try:
        payload_hash, record = read_index(cursor, image, frame, header, sequence, previous)
    except Damaged as failure:
        raise Foreign(failure.reason, failure.what) from None
    if payload_hash != hash256(image[frame.payload_offset : frame.end]):
        raise cursor.fail("payload: hash")
    return record


def read_index(
    cursor: Cursor, image: bytes, frame: Frame, header: Header, sequence: int, previous: bytes
) -> tuple[bytes, Record]:
    """The payload's hash, and all else that the index says."""
    if cursor.fixed(8, "record sequence number") != sequence:
        raise cursor.fail("record sequence number: chain")
    if cursor.take(16, "previous") != previous:
        raise cursor.fail("previous: chain")
    payload_hash, flags = cursor.take(32, "payload hash"), cursor.fixed(1, "record flags")
    if flags & ~(TREE | NOTICE | NAMED):
        raise cursor.fail("record flags: reserved")
    if flags & TREE and flags & NOTICE:
        raise cursor.fail("record flags: both")
    if not header.admits(sequence, cursor.take(MARK_SIZE, "record name") if flags & NAMED else None):
        raise cursor.fail("record name: another")
    totals = Totals.read(cursor)
    transactions = [read_transaction(cursor) for _ in range(cursor.varint("transactions"))]
    tree = read_record_tree(cursor, header) if flags & TREE else None
    cursor.finish_padding("index")
    if flags & (TREE | NOTICE) and transactions:
        raise cursor.fail("transactions: beside a tree or a notice")
    if flags & NOTICE and frame.payload_length:
        raise cursor.fail("payload: of a notice")
    check_offsets(frame, transactions, tree)
    if payload_end(frame, transactions, tree) != frame.end:
        raise cursor.fail("payload: end")
    authenticator = image[frame.index_offset : frame.index_offset + 16]
    return payload_hash, Record(frame, authenticator, sequence, totals, bool(flags & NOTICE), transactions, tree)


def read_transaction(cursor: Cursor) -> list[Entry]:
    return [read_entry(cursor) for _ in range(cursor.varint("transactions"))]


def check_offsets(frame: Frame, transactions: list[list[Entry]], tree: RecordTree | None) -> None:
    """Values lie before the record's end, and a tree in its payload."""
    if tree:
        tree.root.check(MOST_PAGE_BYTES, range(frame.payload_offset, frame.end), "tree root")
    for entry in itertools.chain.from_iterable(transactions):
        if any(version.end > frame.end for version in entry.versions):
            raise Damaged("value offset: bounds", f"the record at {frame.offset}")


def payload_end(frame: Frame, transactions: list[list[Entry]], tree: RecordTree | None) -> int:
    """Where what the record names in its payload ends: its root, or the last of its values."""
    if tree:
        return tree.root.end
    entries = itertools.chain.from_iterable(transactions)
    ends = [version.end for entry in entries for version in entry.versions if version.offset >= frame.payload_offset]
    return max(ends, default=frame.payload_offset)


def read_record_tree(cursor: Cursor, header: Header) -> RecordTree:
    if cursor.take(16, "tree") != header.authenticator:
        raise cursor.fail("tree: of another header")
    return RecordTree(read_reference(cursor, "tree"), cursor.varint("tree"))
