"""What a test may want wrong, or out of the ordinary, in an otherwise sound checkpoint or record."""

from collections.abc import Callable
from dataclasses import dataclass

from .trees import Cell, PageEdit, Reference


def same(content: bytes) -> bytes:
    return content


@dataclass
class CheckpointChanges:
    edit_manifest: Callable[[bytes], bytes] = same
    edit_page: PageEdit = lambda level, number, content: content
    edit_header: Callable[[bytearray], None] = lambda header: None
    arrange: Callable[[list[Cell]], list[Cell]] = lambda cells: cells
    gap: int = 0
    gap_at_the_end: int = 0


@dataclass
class RecordChanges:
    sequence: int | None = None
    previous: bytes | None = None
    payload_hash: bytes | None = None
    flags: int | None = None
    mark: bytes | None = None
    totals: bytes | None = None
    tree_authenticator: bytes | None = None
    tree_root: Callable[[Reference], Reference] = lambda reference: reference
    tree_count: int | None = None
    edit_page: PageEdit = lambda level, number, content: content
    arrange: Callable[[list[Cell]], list[Cell]] = lambda cells: cells
    edit_index: Callable[[bytes], bytes] = same
    edit_padded_index: Callable[[bytes], bytes] = same
    leading_payload: bytes = b""
    extra_payload: bytes = b""
    edit_frame: Callable[[bytes], bytes] = same
