"""As much of the file format as is needed to aim at a part of a vault file; see Format.md."""

from dataclasses import dataclass
from pathlib import Path

HEADER_SIZE = 4096
CHECKPOINT_START = 2 * HEADER_SIZE
KEY_SLOTS = range(256, 2048)
HINT = range(4064, 4096)
MAGIC = b"vrec"
FRAME_SIZE = 24


@dataclass(frozen=True)
class Record:
    place: int
    end: int


def number(data: bytes, place: int, size: int) -> int:
    return int.from_bytes(data[place : place + size], "little")


def checkpoint_end(data: bytes) -> int:
    return number(data, 120, 8)


def records(vault: Path) -> list[Record]:
    data = vault.read_bytes()
    found: list[Record] = []
    place = checkpoint_end(data)
    while data[place : place + 4] == MAGIC:
        end = place + 48 + number(data, place + 4, 4) + number(data, place + 8, 8)
        found.append(Record(place, end))
        place = end
    return found


def log_end(vault: Path) -> int:
    found = records(vault)
    return found[-1].end if found else checkpoint_end(vault.read_bytes())
