"""Pages that fail, in the tree of a checkpoint or of a record, each for one reason."""

from collections.abc import Callable

from ..builder import VaultBuilder
from ..changes import CheckpointChanges, RecordChanges
from ..entries import put
from ..primitives import u16
from ..trees import Cell, PageEdit
from ..vector import Catalogue
from .sound_checkpoints import numbered

catalogue = Catalogue()


def editing(name: str, note: str, edit: PageEdit, count: int = 3, inferred: bool = False, twice: bool = False) -> None:
    """A vector with a page changed so in the checkpoint's tree; `twice`: and another in that of a record."""

    def in_checkpoint(vault: VaultBuilder) -> None:
        vault.begin(numbered(count), cells_per_page=3, changes=CheckpointChanges(edit_page=edit))

    def in_record(vault: VaultBuilder) -> None:
        vault.begin([put("a")]).set(*numbered(count))
        vault.minor_checkpoint(cells_per_page=3, changes=RecordChanges(edit_page=edit))

    in_checkpoint.__name__, in_record.__name__ = name, f"{name}_in_a_record"
    catalogue.damaged(note, inferred)(in_checkpoint)
    if twice:
        catalogue.damaged(f"{note}, in the tree of a record", inferred)(in_record)


def with_bytes(offset: int, data: bytes, level: int = 0, number: int = 0) -> PageEdit:
    """An edit that overwrites bytes of one page."""

    def edit(page_level: int, page_number: int, content: bytes) -> bytes:
        if (page_level, page_number) != (level, number):
            return content
        return content[:offset] + data + content[offset + len(data) :]

    return edit


def replacing(old: bytes, new: bytes, level: int) -> PageEdit:
    return lambda page_level, _, content: content.replace(old, new) if page_level == level else content


editing("page_reserved", "the reserved byte of a page is 1", with_bytes(1, b"\x01"))
editing("page_without_cells", "the number of cells is 0", with_bytes(2, u16(0)))
editing("page_with_more_cells", "the number of cells is one more than there are", with_bytes(2, u16(4)))
editing("page_with_fewer_cells", "the number of cells is one less than there are", with_bytes(2, u16(2)))
editing("page_offset_low", "a cell's offset is one byte too low", lambda _, __, content: shifted(content, -1))
editing("page_offset_high", "a cell's offset is one byte too high", lambda _, __, content: shifted(content, 1))
editing("page_offset_beyond", "a cell's offset is 65,535", with_bytes(4, u16(65535)))
editing("page_padding", "a byte of a page's padding is 1", lambda _, __, content: content + b"\x01")
editing("page_gap", "16 bytes lie between a page's offsets and its cells", lambda _, __, content: gapped(content))
editing(
    "names_out_of_order_in_the_only_leaf", "the first two names of the only leaf are out of order",
    lambda _, __, content: content.replace(b"name/000", b"name/@@@").replace(b"name/001", b"name/000")
    .replace(b"name/@@@", b"name/001"),
)  # fmt: skip
editing("leaf_as_inner_page", "a leaf that says it is of level 1", with_bytes(0, b"\x01"))
editing("child_two_levels_below", "a root of level 2 over leaves", with_bytes(0, b"\x02", level=1), 9, twice=True)
editing(
    "name_before_its_page", "the name in an inner cell is behind the child's first name",
    replacing(b"name/003", b"name/004", level=1), 9, twice=True,
)  # fmt: skip
editing(
    "name_behind_its_page", "the next inner cell's name is before the child's last name",
    replacing(b"name/006", b"name/005", level=1), 9,
)  # fmt: skip
editing(
    "inner_name_with_control", "a name in an inner cell has a control character",
    replacing(b"name/000", b"name\x1b000", level=1), 9, inferred=True,
)  # fmt: skip


def gapped(content: bytes) -> bytes:
    """The page with its cells 16 bytes further back."""
    count = int.from_bytes(content[2:4], "little")
    cells = 4 + 2 * count
    offsets = [int.from_bytes(content[offset : offset + 2], "little") + 16 for offset in range(4, cells, 2)]
    return content[:4] + b"".join(map(u16, offsets)) + bytes(16) + content[cells:]


def shifted(content: bytes, by: int) -> bytes:
    """The offset of the second cell is another one."""
    offset = int.from_bytes(content[6:8], "little") + by
    return content[:6] + u16(offset) + content[8:]


def arranged(name: str, note: str, arrange: Callable[[list[Cell]], list[Cell]]) -> None:
    """Two vectors: the cells of a tree in another order."""

    def in_checkpoint(vault: VaultBuilder) -> None:
        vault.begin(numbered(6), cells_per_page=3, changes=CheckpointChanges(arrange=arrange))

    def in_record(vault: VaultBuilder) -> None:
        vault.begin([put("a")]).set(*numbered(6))
        vault.minor_checkpoint(cells_per_page=3, changes=RecordChanges(arrange=arrange, tree_count=6))

    for build, part in ((in_checkpoint, "checkpoint"), (in_record, "record")):
        build.__name__ = f"{name}_in_a_{part}"
        catalogue.damaged(f"{note}, in the tree of a {part}")(build)


arranged("names_out_of_order", "two names in a leaf are out of order", lambda c: [c[1], c[0], *c[2:]])
arranged("leaves_out_of_order", "the second leaf's names are before the first's", lambda c: c[3:] + c[:3])
