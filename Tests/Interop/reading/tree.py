"""Trees of sealed pages: all their entries, and where their pages lie."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from .cursor import Cursor
from .entries import Entry, read_entry, read_name
from .header import MOST_PAGE_BYTES, PageReference
from .sealing import NONCE_SIZE, open_box

HIGHEST_LEVEL = 8
Cell = TypeVar("Cell")


@dataclass
class Tree:
    """`entries` by name, in ascending order; `pages` in the order of the walk."""

    entries: dict[bytes, Entry] = field(default_factory=dict)
    pages: list[PageReference] = field(default_factory=list)


@dataclass(frozen=True)
class Child:
    first_name: bytes
    page: PageReference


def read_tree(image: bytes, root: PageReference | None, page_key: bytes, within: range) -> Tree:
    """All entries below `root`, whose pages have to lie in the places `within`."""
    tree = Tree()
    if root is not None:
        walk(image, root, page_key, within, tree, level=None, first=b"", limit=None)
    return tree


def walk(
    image: bytes, page: PageReference, page_key: bytes, within: range, tree: Tree,
    level: int | None, first: bytes, limit: bytes | None,
) -> None:  # fmt: skip
    """Adds the entries below `page`; their names are at or after `first` and before `limit`."""
    cursor, own_level, count = open_page(image, page, page_key, within)
    if level is not None and own_level != level:
        raise cursor.fail("page: level of a child")
    tree.pages.append(page)
    cells = read_cells(cursor, count, read_child if own_level else read_entry)
    names = [cell.first_name if own_level else cell.name for cell in cells]
    if any(name >= following for name, following in itertools.pairwise(names)):
        raise cursor.fail("page: order of names")
    if names[0] < first or (limit is not None and names[-1] >= limit):
        raise cursor.fail("page: names of a child")
    if own_level == 0:
        tree.entries.update(zip(names, cells, strict=False))
        return
    for child, following in zip(cells, [*names[1:], limit], strict=False):
        walk(image, child.page, page_key, within, tree, own_level - 1, child.first_name, following)


def open_page(image: bytes, page: PageReference, page_key: bytes, within: range) -> tuple[Cursor, int, int]:
    """A cursor at the offsets of the page's cells, its level, and the number of cells."""
    what = f"the page at {page.offset}"
    page.check(MOST_PAGE_BYTES, within, "page")
    cursor = Cursor(open_box(image[page.offset : page.end], page.nonce, page_key, "page: box", what), what)
    level, reserved, count = cursor.fixed(1, "page"), cursor.fixed(1, "page"), cursor.fixed(2, "page")
    if level > HIGHEST_LEVEL:
        raise cursor.fail("page: level")
    if reserved:
        raise cursor.fail("page: reserved")
    if not count:
        raise cursor.fail("page: number of cells")
    return cursor, level, count


def read_cells(cursor: Cursor, count: int, read: Callable[[Cursor], Cell]) -> list[Cell]:
    """The cells of a page, which follow their offsets without gaps."""
    offsets = [cursor.fixed(2, "page") for _ in range(count)]
    cells = []
    for offset in offsets:
        if offset != cursor.offset:
            raise cursor.fail("page: offset of a cell")
        cells.append(read(cursor))
    cursor.finish_padding("page")
    return cells


def read_child(cursor: Cursor) -> Child:
    name = read_name(cursor)
    return Child(name, read_reference(cursor, "page"))


def read_reference(cursor: Cursor, field: str) -> PageReference:
    """A page reference whose offset and length are in units."""
    return PageReference(cursor.units(field), cursor.units(field), cursor.take(NONCE_SIZE, field))
