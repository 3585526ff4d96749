"""The log: all records in order, and where they end."""

from collections.abc import Iterator
from dataclasses import dataclass

from .errors import Damaged, Foreign
from .header import Header
from .records import FRAME_SIZE, MAGIC, Record, read_frame, read_record
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
    place, sequence, previous = header.checkpoint_end, header.sequence, header.authenticator
    records: list[Record] = []
    while place < len(image):
        try:
            record = read_record(image, place, header, keys, sequence + 1, previous)
        except Foreign:
            raise
        except Damaged:
            if is_torn_tail(image, place, header):
                break
            raise
        records.append(record)
        place, sequence, previous = record.frame.end, record.sequence, record.authenticator
    return Log(records, place)


def is_torn_tail(image: bytes, place: int, header: Header) -> bool:
    """Whether the failing record at `place` was never acknowledged."""
    if not could_be_left(image, place, header):
        return False
    frame = read_frame(image, place, header.vault_id)
    end = frame.end if frame else place + FRAME_SIZE
    return end > len(image) or has_zero_share(image, place, end)


def could_be_left(image: bytes, place: int, header: Header) -> bool:
    """Whether a writer may have left what lies behind the log's end, which is at `place`."""
    if len(image) - place > LARGEST_TAIL:
        return False
    magics = [found for found in places_of_magic(image, place) if found % 16 == 0]
    return len(magics) <= MOST_MAGICS and not any(read_frame(image, found, header.vault_id) for found in magics)


def places_of_magic(image: bytes, place: int) -> Iterator[int]:
    found = image.find(MAGIC, place + 16)
    while found >= 0:
        yield found
        found = image.find(MAGIC, found + 1)


def has_zero_share(image: bytes, start: int, end: int) -> bool:
    """Whether the bytes from `start` to `end` are all zero in one of the file's sectors."""
    for sector in range(start - start % SECTOR, end, SECTOR):
        if not any(image[max(start, sector) : min(end, sector + SECTOR)]):
            return True
    return False
