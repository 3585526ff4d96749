"""Checkpoints: trees of one to three levels, and entries of every form."""

from ..builder import VaultBuilder
from ..changes import CheckpointChanges
from ..entries import MADE, Entry, Value, put, remove
from ..primitives import varint
from ..vector import Catalogue

catalogue = Catalogue()
LARGEST = 2**64 - 1
FAR = 4_102_444_800_000  # 2100-01-01


def numbered(count: int) -> list[Entry]:
    return [put(f"name/{number:03}", f"value {number}") for number in range(count)]


@catalogue.ok("the root is a leaf")
def tree_of_one_level(vault: VaultBuilder) -> None:
    vault.begin(numbered(5))


@catalogue.ok("a root over three leaves")
def tree_of_two_levels(vault: VaultBuilder) -> None:
    vault.begin(numbered(9), cells_per_page=3)


@catalogue.ok("leaves, inner pages and a root, two or three cells each; the last page of a level has one cell")
def tree_of_three_levels(vault: VaultBuilder) -> None:
    vault.begin(numbered(19), cells_per_page=3)


@catalogue.ok("nine levels, the most there can be: eight inner pages of one cell each over a leaf")
def tree_of_nine_levels(vault: VaultBuilder) -> None:
    vault.begin(numbered(3), levels=9)


@catalogue.ok("names of 1 and 1,024 bytes, in three scripts, and two that differ in their normal form only")
def names(vault: VaultBuilder) -> None:
    same_to_a_person = ["caf\u00e9", "cafe\u0301"]
    order_differs_in_utf16 = ["\ufb01", "\U0001f600"]
    others = ["a", "A", "a/b", "a b", "a.b", "n" * 1024, "\u65e5\u672c\u8a9e", "\u03b1\u03b2\u03b3", "~", "a\u200db"]
    every = same_to_a_person + order_differs_in_utf16 + others
    vault.begin([put(name, f"value of number {number}") for number, name in enumerate(every)], cells_per_page=4)


@catalogue.ok("values of 0, 1, 15, 16, 17, 31, 32 and 1,000 bytes, of zeros and of line ends")
def value_sizes(vault: VaultBuilder) -> None:
    sizes = [put(f"size {size}", bytes(index % 251 + 1 for index in range(size))) for size in (0, 1, 15, 16, 17, 31)]
    others = [put("size 32", bytes(32)), put("size 1000", bytes(range(250)) * 4, kind=2), put("lines", "one\ntwo\n\n")]
    vault.begin(sizes[:3] + others[:1]).set(*sizes[3:], *others[1:])


@catalogue.ok("kinds 0, 1 and 2, and 3 and 255, which belong to the layer above")
def kinds(vault: VaultBuilder) -> None:
    vault.begin([put(f"kind {kind}", "text", kind) for kind in (0, 1, 2, 3, 255)])


@catalogue.ok("attributes: one, several, empty values, other scripts, and 64 of them")
def attributes(vault: VaultBuilder) -> None:
    many = [(f"key {number:02}", f"value {number}") for number in range(64)]
    some = [("host", "example.org"), ("note", ""), ("user", "\u00e5ngstr\u00f6m")]
    vault.begin([put("many", attributes=many), put("one", attributes=[("user", "ann")])])
    vault.set(put("some", attributes=some))


@catalogue.ok("attribute keys that are the same once normalised are two keys")
def attribute_keys_are_bytes(vault: VaultBuilder) -> None:
    vault.begin([put("name", attributes=[("cafe\u0301", "decomposed"), ("caf\u00e9", "composed")])])


@catalogue.ok("expiries in the far future and long past, in the checkpoint and in a record: what has expired is absent")
def expiry(vault: VaultBuilder) -> None:
    vault.begin([put("a", expiry=FAR), put("past", expiry=1)])
    vault.set(put("b", expiry=FAR + 1, attributes=[("user", "ann")]), put("past too", expiry=0))


@catalogue.ok("earlier versions: newest first, in the checkpoint and in records that point to older offsets")
def earlier_versions(vault: VaultBuilder) -> None:
    first, second = Value(b"first", 1, MADE), Value(b"second", 0, MADE + 1)
    vault.begin([Entry("a", second, MADE + 1, MADE, earlier=[first])])
    third = Value(b"third, longer than one block", 2, MADE + 2)
    vault.set(Entry("a", third, MADE + 2, MADE, FAR, [second, first], [("user", "ann")]))
    vault.set(Entry("b", Value(b"new", 1, MADE), earlier=[Value(b"brought along", 1, MADE - 5)]))


@catalogue.ok("removed names in the checkpoint, in a record, and one that was set again")
def tombstones(vault: VaultBuilder) -> None:
    vault.begin([put("kept"), put("goes"), remove("gone"), remove("returns")])
    vault.set(remove("goes", MADE + 2), put("returns", "back"), remove("never was"))


@catalogue.ok("removed names with earlier versions: in the checkpoint, in records, and one that was set again")
def tombstones_with_earlier_versions(vault: VaultBuilder) -> None:
    vault.history = (3, 365)
    goes, gone, returned = (Value(name.encode()) for name in ("goes", "gone", "returned"))
    before = Value(b"before that", 0, MADE - 7)
    removed = [remove("gone", earlier=[gone, before]), remove("returns", earlier=[returned])]
    vault.begin([put("kept"), Entry("goes", goes, attributes=[("user", "ann")]), *removed])
    vault.set(remove("goes", MADE + 2, earlier=[goes]), remove("brought along", earlier=[Value(b"of its own record")]))
    vault.set(Entry("returns", Value(b"back"), MADE + 3, MADE + 3, earlier=[returned]))


@catalogue.ok("earlier versions with attributes and expiries of their own, and with those of what followed them")
def earlier_versions_with_attributes(vault: VaultBuilder) -> None:
    user = [("host", "example.org"), ("user", "ann")]
    versions = [
        Value(b"none", 1, MADE + 3),
        Value(b"a user, and an expiry that is past", 1, MADE + 2, attributes=user, expiry=MADE + 2),
        Value(b"the same user", 1, MADE + 1, attributes=user),
    ]
    vault.begin([Entry("a", Value(b"another", 1, MADE + 4), MADE + 4, MADE, attributes=user[1:], earlier=versions)])
    gone = [Value(b"was here", 1, MADE, attributes=user, expiry=FAR), Value(b"before", 1, MADE - 1)]
    vault.set(remove("gone", earlier=gone), Entry("b", Value(b"x"), attributes=user, earlier=[Value(b"y")]))


@catalogue.ok("numbers of records, and times of forgetting and of joining, of present and of removed names")
def forgotten_and_joined(vault: VaultBuilder) -> None:
    vault.begin([
        put("a", sequence=1, forgotten=MADE - 1), put("b", joined=MADE + 9, earlier=[Value(b"joined")]),
        Entry("c", modified=MADE + 1, sequence=1 << 40, forgotten=MADE), put("d", sequence=LARGEST),
        Entry("e", modified=MADE + 1, forgotten=1, joined=2, earlier=[Value(b"both")]),
    ])  # fmt: skip
    vault.set(put("f", sequence=2, forgotten=LARGEST, joined=LARGEST, attributes=[("user", "ann")], expiry=FAR))


@catalogue.ok("only removed names are left in the tree")
def only_tombstones(vault: VaultBuilder) -> None:
    vault.begin([remove("a"), remove("b")])


@catalogue.ok("times and totals at the largest number decide nothing")
def largest_numbers(vault: VaultBuilder) -> None:
    absurd = varint(LARGEST) * 3
    entry = Entry("a", Value(b"v", 1, LARGEST), LARGEST, LARGEST, LARGEST)

    def edit(manifest: bytes) -> bytes:
        rest = manifest[len(varint(MADE) + vault.totals()) :]
        return varint(LARGEST) + absurd + rest

    vault.begin([entry], changes=CheckpointChanges(edit_manifest=edit))
