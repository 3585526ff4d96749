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
    offset: int
    end: int


def number(data: bytes, offset: int, size: int) -> int:
    return int.from_bytes(data[offset : offset + size], "little")


def checkpoint_end(data: bytes) -> int:
    return number(data, 120, 8)


def records(vault: Path) -> list[Record]:
    data = vault.read_bytes()
    found: list[Record] = []
    offset = checkpoint_end(data)
    while data[offset : offset + 4] == MAGIC:
        end = offset + 48 + number(data, offset + 4, 4) + number(data, offset + 8, 8)
        found.append(Record(offset, end))
        offset = end
    return found


def log_end(vault: Path) -> int:
    found = records(vault)
    return found[-1].end if found else checkpoint_end(vault.read_bytes())
