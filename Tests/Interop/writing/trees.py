"""Trees of sealed pages, built from the leaves up."""

from collections.abc import Callable
from dataclasses import dataclass

from .primitives import Randomness, counted, padded, seal, u16, u64, varint

Cell = tuple[bytes, bytes]  # a name and the cell's bytes
PageEdit = Callable[[int, int, bytes], bytes]  # level, number of the page in its level, content


@dataclass(frozen=True)
class Reference:
    offset: int
    sealed_length: int
    nonce: bytes

    def in_header(self) -> bytes:
        return u64(self.offset) + u64(self.sealed_length) + self.nonce

    def in_units(self) -> bytes:
        return varint(self.offset // 16) + varint(self.sealed_length // 16) + self.nonce


NOWHERE = Reference(0, 0, bytes(24))


def page_content(level: int, cells: list[bytes]) -> bytes:
    offset, offsets = 4 + 2 * len(cells), b""
    for cell in cells:
        offsets += u16(offset)
        offset += len(cell)
    return bytes([level, 0]) + u16(len(cells)) + offsets + b"".join(cells)


@dataclass
class TreeWriter:
    """Seals pages one after the other from `first_byte` on, as a tree of at least `levels` levels.

    `edit` changes a page's content before it is sealed.
    """

    offset: int
    page_key: bytes
    random: Randomness
    cells_per_page: int = 100
    edit: PageEdit = lambda level, number, content: content
    levels: int = 1
    pages: bytes = b""

    def seal_page(self, content: bytes) -> Reference:
        nonce = self.random.take(24)
        box = seal(padded(content), nonce, self.page_key)
        reference = Reference(self.offset + len(self.pages), len(box), nonce)
        self.pages += box
        return reference

    def write(self, cells: list[Cell], level: int = 0) -> Reference:
        """The root over these cells; their order is the caller's."""
        groups = [cells[start : start + self.cells_per_page] for start in range(0, len(cells), self.cells_per_page)]
        parents: list[Cell] = []
        reference = NOWHERE
        for number, group in enumerate(groups):
            content = self.edit(level, number, page_content(level, [cell for _, cell in group]))
            reference = self.seal_page(content)
            parents.append((group[0][0], counted(group[0][0]) + reference.in_units()))
        is_root = len(groups) <= 1 and (level + 1 >= self.levels or not cells)
        return reference if is_root else self.write(parents, level + 1)
