"""Records: transactions, notices, and what a record may hold beyond them."""

from ..builder import VaultBuilder
from ..changes import CheckpointChanges, RecordChanges
from ..entries import MADE, Entry, Value, put, remove
from ..primitives import varint
from ..vector import Catalogue
from .sound_checkpoints import LARGEST, numbered

catalogue = Catalogue()


@catalogue.ok("names set, set again, removed and set once more, over a checkpoint")
def records_set_and_remove(vault: VaultBuilder) -> None:
    vault.begin(numbered(3))
    vault.set(put("new", "1")).set(put("new", "2", modified=MADE + 5)).set(remove("name/001"))
    vault.set(put("name/000", "changed")).set(remove("new")).set(put("new", "3"))


@catalogue.ok("records over a checkpoint without entries")
def records_only(vault: VaultBuilder) -> None:
    vault.begin()
    for entry in numbered(4):
        vault.set(entry)


@catalogue.ok("several transactions in one record; the later entry of a name holds, in one transaction too")
def transactions(vault: VaultBuilder) -> None:
    vault.begin([put("a", "old"), put("b", "old")])
    first = [put("a", "1"), put("c", "1"), remove("b")]
    second = [put("b", "2"), put("a", "2"), put("c", "2"), put("c", "3")]
    vault.append([first, second, [remove("a")]])


@catalogue.ok("an entry that changes attributes alone names the box that is there already")
def attributes_changed_alone(vault: VaultBuilder) -> None:
    value = Value(b"stays where it is", 1, MADE)
    vault.begin([Entry("a", value)])
    vault.set(Entry("a", value, MADE + 1, MADE, attributes=[("user", "ann")]))


@catalogue.ok("the same in a tree: the boxes are in the checkpoint, in a record, and that of an earlier version")
def attributes_changed_in_a_tree(vault: VaultBuilder) -> None:
    values = [Value(content, 1, MADE) for content in (b"in the checkpoint", b"in a record", b"earlier")]
    vault.begin([Entry("a", values[0]), Entry("c", Value(b"current", 1, MADE), earlier=[values[2]])])
    vault.set(Entry("b", values[1]))
    named = zip("abc", values, strict=True)
    vault.minor_checkpoint(*[Entry(name, value, MADE + 1, MADE, attributes=[("user", "ann")]) for name, value in named])


@catalogue.ok("somebody with the data key has sealed two pairs of different values under one nonce each, and a copy")
def values_that_share_a_nonce(vault: VaultBuilder) -> None:
    first, second, third = bytes(range(24)), bytes(range(1, 25)), bytes(range(2, 26))
    planted, twin = Value(b"planted", nonce=first), Value(b"the same value", nonce=third)
    vault.begin([Entry("a", Value(b"one value", nonce=first)), Entry("c", Value(b"now"), earlier=[planted])])
    vault.set(Entry("b", Value(b"sixteen of bytes", nonce=second)), Entry("d", twin), remove("unrelated"))
    vault.set(Entry("e", Value(b"sixteen of words", nonce=second)), Entry("f", Value(b"the same value", nonce=third)))
    vault.stated["sharing_nonces"] = ["a", "b", "c", "e"]


@catalogue.ok("earlier versions are values again, in their boxes; one of them stays an earlier version too")
def earlier_versions_restored(vault: VaultBuilder) -> None:
    vault.history = (2, 30)
    first, second, gone = (Value(content, 1, MADE) for content in (b"first", b"second", b"gone"))
    vault.begin([Entry("a", second, MADE + 1, MADE, earlier=[first]), remove("b", earlier=[gone])])
    vault.set(Entry("a", first, MADE + 2, MADE, earlier=[second, first]), Entry("b", gone, MADE + 2, MADE + 2))


@catalogue.ok("records and transactions without entries, and bytes of payloads that nothing names, before what is named")
def records_without_entries(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).append([]).append([[], [put("b")], []])
    vault.set(put("c"), changes=RecordChanges(leading_payload=vault.random.take(48)))
    vault.minor_checkpoint(changes=RecordChanges(leading_payload=vault.random.take(16)))


@catalogue.ok("more zeros than it takes to fill 16 bytes: in pages, the manifest, and indexes")
def padding_beyond_need(vault: VaultBuilder) -> None:
    def further(content: bytes) -> bytes:
        return content + bytes(-len(content) % 16 + 48)

    def further_page(level: int, number: int, content: bytes) -> bytes:
        return further(content)

    changes = CheckpointChanges(edit_manifest=further, edit_page=further_page)
    vault.begin(numbered(9), cells_per_page=3, changes=changes)
    vault.set(put("b"), changes=RecordChanges(edit_padded_index=lambda index: index + bytes(1024)))
    vault.minor_checkpoint(changes=RecordChanges(edit_index=further, edit_page=further_page))


@catalogue.ok("totals in a record at the largest number decide nothing")
def totals_at_their_largest(vault: VaultBuilder) -> None:
    vault.begin().set(put("a"), changes=RecordChanges(totals=varint(LARGEST) * 3))
    vault.set(put("b"))


@catalogue.ok("a notice of compaction is the last record")
def notice_at_the_end(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).notice()


@catalogue.ok("records follow a notice: that compaction did not come about")
def notice_with_records_behind(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).notice().set(put("c"))
