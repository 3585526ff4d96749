"""The log: all records in order, and where they end."""

from dataclasses import dataclass

from .errors import Damaged
from .header import Header
from .records import FRAME_SIZE, MAGIC, Frame, Record, open_index, read_frame, read_record
from .sealing import Subkeys

SECTOR = 512


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
        except Damaged:
            if is_torn_tail(image, place, header, keys):
                break
            raise
        records.append(record)
        place, sequence, previous = record.frame.end, record.sequence, record.authenticator
    return Log(records, place)


def is_torn_tail(image: bytes, place: int, header: Header, keys: Subkeys) -> bool:
    """Whether the failing record at `place` was never acknowledged."""
    if has_record_behind(image, place, header, keys):
        return False
    frame = read_frame(image, place, header.vault_id)
    end = frame.end if frame else place + FRAME_SIZE
    return end > len(image) or has_zero_share(image, place, end)


def has_record_behind(image: bytes, place: int, header: Header, keys: Subkeys) -> bool:
    """Whether a frame behind `place`, at a multiple of 16, leads to an index that opens."""
    found = image.find(MAGIC, place + 16)
    while found >= 0:
        if found % 16 == 0 and (frame := read_frame(image, found, header.vault_id)) and opens(image, frame, keys):
            return True
        found = image.find(MAGIC, found + 1)
    return False


def opens(image: bytes, frame: Frame, keys: Subkeys) -> bool:
    try:
        open_index(image, frame, keys.record)
    except Damaged:
        return False
    return True


def has_zero_share(image: bytes, start: int, end: int) -> bool:
    """Whether the bytes from `start` to `end` are all zero in one of the file's sectors."""
    for sector in range(start - start % SECTOR, end, SECTOR):
        if not any(image[max(start, sector) : min(end, sector + SECTOR)]):
            return True
    return False
