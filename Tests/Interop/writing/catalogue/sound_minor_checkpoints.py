"""Minor checkpoints, large transactions, and hints of every quality."""

from ..builder import VaultBuilder
from ..entries import Entry, Value, put, remove
from ..vector import Build, Catalogue
from .sound_checkpoints import LARGEST, numbered

catalogue = Catalogue()


@catalogue.ok("a minor checkpoint, records before and behind it, and the right hint")
def minor_checkpoint(vault: VaultBuilder) -> None:
    with_minor_checkpoint(vault).hint()
    vault.set(put("after", "it")).set(remove("r2"))


def with_minor_checkpoint(vault: VaultBuilder) -> VaultBuilder:
    vault.begin(numbered(4))
    vault.set(put("r1", "1")).set(put("r2", "2"), remove("name/002")).set(put("r1", "changed"))
    return vault.minor_checkpoint()


@catalogue.ok("a minor checkpoint that no hint names")
def minor_checkpoint_without_hint(vault: VaultBuilder) -> None:
    with_minor_checkpoint(vault).set(put("after"))


@catalogue.ok("a minor checkpoint with a tree of three levels")
def minor_checkpoint_of_three_levels(vault: VaultBuilder) -> None:
    vault.begin([put("a"), put("r03", "under the minor checkpoint")])
    for number in range(9):
        vault.set(put(f"r{number:02}", f"{number}"))
    vault.minor_checkpoint(cells_per_page=3).hint()


@catalogue.ok("two minor checkpoints; the hint names the newer one")
def minor_checkpoint_twice(vault: VaultBuilder) -> None:
    with_minor_checkpoint(vault).set(put("between")).set(put("r2", "again"))
    vault.minor_checkpoint().hint().set(put("after"))


@catalogue.ok("two minor checkpoints; the hint still names the older one")
def hint_to_the_older_minor_checkpoint(vault: VaultBuilder) -> None:
    with_minor_checkpoint(vault).hint().set(put("between")).set(put("r2", "again"))
    vault.minor_checkpoint().set(put("after"))


@catalogue.ok("a large transaction: its entries are in the tree alone, with values and removals of its own")
def large_transaction(vault: VaultBuilder) -> None:
    vault.begin(numbered(3)).set(put("before", "it"))
    vault.minor_checkpoint(*[put(f"l{number:02}", f"{number}") for number in range(8)], remove("name/001"))
    vault.hint().set(put("l03", "changed"))


@catalogue.ok("a large transaction changes a name that a record before it set")
def large_transaction_over_records(vault: VaultBuilder) -> None:
    vault.begin().set(put("a", "old"), put("b", "stays")).minor_checkpoint(put("a", "new"), put("c"))


@catalogue.ok("removed names with earlier versions in a tree, set before it and by its own record")
def tombstones_with_earlier_versions_in_a_tree(vault: VaultBuilder) -> None:
    vault.history = (3, 365)
    values = [Value(content.encode()) for content in ("in the checkpoint", "in a record", "in a record too")]
    vault.begin([Entry("a", values[0])]).set(Entry("b", values[1]), Entry("c", values[2]))
    vault.set(remove("b", earlier=[values[1]]))
    vault.minor_checkpoint(remove("a", earlier=[values[0]]), remove("c", earlier=[Value(b"its own"), values[2]]))
    vault.hint().set(put("after"))


def hinted(offset: int | None, sequence: int | None = None, record: int = 3) -> Build:
    def build(vault: VaultBuilder) -> None:
        with_minor_checkpoint(vault).set(put("after")).hint(record, offset, sequence)

    return build


for name, note, build in (
    ("hint_behind_the_end", "the hint points behind the end of the file", hinted(1 << 40)),
    ("hint_at_the_largest_offset", "offset and number of the hint are the largest there are", hinted(LARGEST, LARGEST)),
    ("hint_out_of_step", "the hint's offset is not a multiple of 16", hinted(4097)),
    ("hint_to_a_record_without_a_tree", "the hint names a record that has no tree", hinted(None, None, 1)),
    ("hint_with_another_number", "the hint's offset is right, its sequence number is not", hinted(None, 2)),
):
    build.__name__ = name
    catalogue.ok(note)(build)


@catalogue.ok("all 32 bytes of the hint are random")
def hint_of_nonsense(vault: VaultBuilder) -> None:
    with_minor_checkpoint(vault).set(put("after"))
    vault.data[4064:4096] = vault.random.take(32)


@catalogue.ok("the hint leads to a minor checkpoint, and only its 16 zero bytes are not zero")
def hint_with_bytes_behind(vault: VaultBuilder) -> None:
    with_minor_checkpoint(vault).hint().set(put("after"))
    vault.data[4080:4096] = vault.random.take(16)
