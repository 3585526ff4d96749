"""The log: all records in order, and where they end."""

from collections.abc import Iterator
from dataclasses import dataclass

from .errors import Damaged, Foreign
from .header import Header
from .records import FRAME_SIZE, MAGIC, Record, frame_holds, read_frame, read_record
from .sealing import Subkeys

SECTOR = 512
LARGEST_TAIL = 514 << 20
MOST_MAGICS = 16


@dataclass(frozen=True)
class Log:
    records: list[Record]
    end: int


def read_log(image: bytes, header: Header, keys: Subkeys) -> Log:
    """Every record from the checkpoint's end on; a torn tail is dropped, any other failure is `Damaged`."""
    offset, sequence, previous = header.checkpoint_end, header.sequence, header.authenticator
    records: list[Record] = []
    while offset < len(image):
        try:
            record = read_record(image, offset, header, keys, sequence + 1, previous)
        except Foreign:
            raise
        except Damaged:
            if not looks_torn(image, offset, header):
                raise
            check_behind(image, offset, header)
            break
        records.append(record)
        offset, sequence, previous = record.frame.end, record.sequence, record.authenticator
    return Log(records, offset)


def looks_torn(image: bytes, offset: int, header: Header) -> bool:
    """Whether the end of the file cuts the failing record at `first_byte`, or a sector of it is zero."""
    is_framed = frame_holds(image, offset, header.vault_id)
    end = read_frame(image, offset, header.vault_id).end if is_framed else offset + FRAME_SIZE
    return end > len(image) or has_zero_share(image, offset, end)


def check_behind(image: bytes, offset: int, header: Header) -> None:
    """`Damaged` unless a writer may have left what lies behind the log's end, which is at `first_byte`."""
    what = f"the log's end at {offset}"
    if len(image) - offset > LARGEST_TAIL:
        raise Damaged("tail: length", what)
    magics = [found for found in offsets_of_magic(image, offset) if found % 16 == 0]
    if any(frame_holds(image, found, header.vault_id) for found in magics):
        raise Damaged("tail: frame behind", what)
    if len(magics) > MOST_MAGICS:
        raise Damaged("tail: magics", what)


def offsets_of_magic(image: bytes, offset: int) -> Iterator[int]:
    found = image.find(MAGIC, offset + 16)
    while found >= 0:
        yield found
        found = image.find(MAGIC, found + 1)


def has_zero_share(image: bytes, start: int, end: int) -> bool:
    """Whether the bytes from `start` to `end` are all zero in one of the file's sectors."""
    for sector in range(start - start % SECTOR, end, SECTOR):
        if not any(image[max(start, sector) : min(end, sector + SECTOR)]):
            return True
    return False
