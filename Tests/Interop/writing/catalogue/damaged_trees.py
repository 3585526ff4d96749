"""Trees that fail as a whole, and records that name them wrongly, each for one reason."""

from dataclasses import replace

from ..builder import VaultBuilder
from ..changes import CheckpointChanges, RecordChanges
from ..draft import CHECKPOINT_START
from ..entries import EARLIER, MADE, Value, put
from ..primitives import padded, varint
from ..trees import Reference, page_content
from ..vector import Catalogue
from .damaged_entries import flagged
from .sound_checkpoints import numbered

catalogue = Catalogue()


@catalogue.damaged("two leaves of the same length are exchanged in the file")
def leaves_swapped(vault: VaultBuilder) -> None:
    vault.begin(numbered(6), cells_per_page=3)
    leaves = [vault.present[f"name/{number:03}".encode()].encoded() for number in range(3)]
    offset, size = CHECKPOINT_START + 6 * 32, len(padded(page_content(0, leaves))) + 16
    first, second = (bytes(vault.data[start : start + size]) for start in (offset, offset + size))
    vault.data[offset : offset + 2 * size] = second + first


def minor(vault: VaultBuilder, changes: RecordChanges) -> VaultBuilder:
    vault.begin([put("a")]).set(put("b")).set(put("c"), put("d"))
    return vault.minor_checkpoint(changes=changes).hint().set(put("e"))


@catalogue.damaged("a record's tree names the authenticator of another header")
def tree_of_another_header(vault: VaultBuilder) -> None:
    minor(vault, RecordChanges(tree_authenticator=bytes(range(16))))


@catalogue.damaged("a record's tree states one entry more than it has")
def tree_count_too_high(vault: VaultBuilder) -> None:
    minor(vault, RecordChanges(tree_count=4))


@catalogue.damaged("a record's tree misses an entry that a record before it set")
def tree_without_an_entry(vault: VaultBuilder) -> None:
    minor(vault, RecordChanges(arrange=lambda cells: cells[1:], tree_count=2))


@catalogue.damaged("a record's tree has an older version of an entry than a record before it set")
def tree_with_a_stale_entry(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b", "old"))
    stale = vault.present[b"b"].encoded()
    vault.set(put("b", "new"))
    vault.minor_checkpoint(changes=RecordChanges(arrange=lambda cells: [(b"b", stale)]))


@catalogue.damaged("a record's tree is that of the record before it, and lies there")
def tree_outside_of_its_record(vault: VaultBuilder) -> None:
    roots: list[Reference] = []

    def first_root(own: Reference) -> Reference:
        roots.append(own)
        return own

    vault.begin([put("a")]).set(put("b")).minor_checkpoint(changes=RecordChanges(tree_root=first_root))
    vault.minor_checkpoint(changes=RecordChanges(tree_root=lambda own: roots[-1]))


@catalogue.damaged("an entry that a record's tree brings has an earlier version at offset 0")
def tree_with_an_earlier_version_at_no_offset(vault: VaultBuilder) -> None:
    earlier = varint(1) + Value(b"earlier", nonce=vault.random.take(24)).as_earlier([])
    vault.begin([put("a")]).set(put("b"))
    vault.minor_checkpoint(put("c", edit=lambda encoded: flagged(EARLIER)(encoded) + earlier))


@catalogue.damaged("a name is in a leaf twice, with the same entry")
def name_twice(vault: VaultBuilder) -> None:
    vault.begin(numbered(3), changes=CheckpointChanges(arrange=lambda cells: [cells[0], *cells]))


@catalogue.damaged("ten levels, one more than there can be")
def tree_of_ten_levels(vault: VaultBuilder) -> None:
    vault.begin(numbered(3), levels=10)


@catalogue.damaged("the root's sealed length is that of no page: 16,400 bytes")
def tree_root_too_long(vault: VaultBuilder) -> None:
    minor(vault, RecordChanges(tree_root=lambda root: replace(root, sealed_length=16400)))


@catalogue.damaged("the offset of a record's tree is 2^64 - 1 units")
def tree_root_at_the_largest_offset(vault: VaultBuilder) -> None:
    minor(vault, RecordChanges(tree_root=lambda root: replace(root, offset=(2**64 - 1) * 16)))


@catalogue.damaged("the nonce of a record's root is another one")
def tree_root_nonce(vault: VaultBuilder) -> None:
    minor(vault, RecordChanges(tree_root=lambda root: replace(root, nonce=bytes(24))))
