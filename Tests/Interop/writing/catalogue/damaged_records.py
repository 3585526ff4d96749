"""Records whose indexes fail, each for one reason."""

from collections.abc import Callable

from ..builder import VaultBuilder
from ..changes import RecordChanges
from ..entries import put, remove
from ..primitives import u64, varint
from ..vector import Catalogue
from .sound_checkpoints import LARGEST

catalogue = Catalogue()
TOTALS_OFFSET = 8 + 16 + 32 + 1  # in a record's index


def changing(name: str, note: str, changes: Callable[[], RecordChanges], twice: bool = False) -> None:
    """A vector with the last record made so; `twice`: and another with one in the middle, soundly followed."""

    def at_the_end(vault: VaultBuilder) -> None:
        vault.begin([put("a")]).set(put("b")).set(put("c"), changes=changes())

    def in_the_middle(vault: VaultBuilder) -> None:
        at_the_end(vault)
        vault.set(put("d"))

    at_the_end.__name__, in_the_middle.__name__ = name, f"{name}_in_the_middle"
    catalogue.damaged(f"{note}, in the last record")(at_the_end)
    if twice:
        catalogue.damaged(f"{note}, in a record in the middle")(in_the_middle)


changing("record_payload_hash", "another payload hash", lambda: RecordChanges(payload_hash=bytes(32)), twice=True)
changing("record_previous", "another previous authenticator", lambda: RecordChanges(previous=b"p" * 16), twice=True)
changing("record_sequence_again", "the sequence number is that of the record before", lambda: RecordChanges(sequence=2))
changing("record_sequence_skips", "the sequence number skips one", lambda: RecordChanges(sequence=4), twice=True)
changing("record_sequence_largest", "the sequence number is 2^64 - 1", lambda: RecordChanges(sequence=LARGEST))
changing("record_sequence_0", "the sequence number is 0", lambda: RecordChanges(sequence=0), twice=True)
changing("record_flag_8", "the flag 8, which is not known", lambda: RecordChanges(flags=8), twice=True)
changing(
    "record_totals_varint", "the totals have a varint with a needless byte",
    lambda: RecordChanges(totals=varint(2) + varint(100, needless_bytes=1) + varint(0)),
)  # fmt: skip
changing(
    "record_totals_of_2_to_64", "the totals have a varint that is 2^64",
    lambda: RecordChanges(totals=varint(2) + varint(2**64) + varint(0)),
)  # fmt: skip
changing("record_index_with_more", "bytes follow the index's last field", lambda: more_in_index(b"more"))
changing("record_index_cut", "the index ends in its entry", lambda: RecordChanges(edit_index=lambda i: i[:-20]))
changing("record_index_empty", "the index is empty", lambda: RecordChanges(edit_padded_index=lambda i: b""))
changing("record_index_of_16_bytes", "the index has 16 bytes", lambda: RecordChanges(edit_index=lambda i: i[:16]))
changing(
    "record_with_most_transactions", "the number of transactions is 2^64 - 1",
    lambda: RecordChanges(edit_index=lambda index: counts_changed(index, varint(LARGEST) + varint(1))),
)  # fmt: skip
changing(
    "record_with_fewer_entries", "the number of a transaction's entries is 0, and one follows",
    lambda: RecordChanges(edit_index=lambda index: counts_changed(index, varint(1) + varint(0))),
)  # fmt: skip


changing("record_with_payload_behind", "16 bytes follow the last value in a payload", lambda: trailing(16), twice=True)


def trailing(size: int) -> RecordChanges:
    return RecordChanges(extra_payload=b"t" * size)


@catalogue.damaged("a record that names no value has a payload")
def record_with_payload_for_nothing(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).append([[]], changes=trailing(32))


@catalogue.damaged("16 bytes follow the root in the payload of a record with a tree")
def record_with_payload_behind_its_tree(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).minor_checkpoint(changes=trailing(16))


@catalogue.damaged("the frame of the last record states a longer payload, with the right checksum, and the file has the room")
def record_with_a_longer_frame(vault: VaultBuilder) -> None:
    longer = RecordChanges(edit_frame=lambda frame: frame[:8] + u64(1 << 20))
    vault.begin([put("a")]).set(put("b")).set(put("c"), changes=longer)
    vault.data += vault.random.take(64) + bytes(1 << 20)


@catalogue.damaged("the number of a transaction's entries is 2^64 - 1, and the index ends with the first")
def record_with_most_entries(vault: VaultBuilder) -> None:
    def edit(index: bytes) -> bytes:
        index = counts_changed(index, varint(1) + varint(LARGEST))
        assert len(index) % 16 == 0, "padding would be read as an entry without a name"
        return index

    entry = put("c", attributes=[("a", "x" * 13)])
    vault.begin([put("a")]).set(put("b")).set(entry, changes=RecordChanges(edit_index=edit))


@catalogue.damaged("the flag for a tree, and none follows")
def record_tree_missing(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).append([], RecordChanges(flags=1))


@catalogue.damaged("a notice that removes an entry")
def record_notice_with_entries(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).set(remove("a"), changes=RecordChanges(flags=2))


def more_in_index(data: bytes) -> RecordChanges:
    return RecordChanges(edit_index=lambda index: index + data)


def counts_changed(index: bytes, counts: bytes) -> bytes:
    """The index of a record with one transaction of one entry, named c, that states other counts."""
    return index.replace(varint(1) + varint(1) + b"\x01c", counts + b"\x01c")


@catalogue.damaged("the hint leads to a minor checkpoint that states the sequence number 2^64 - 1, and a record follows")
def record_sequence_largest_where_the_hint_leads(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.minor_checkpoint(changes=RecordChanges(sequence=LARGEST)).hint(sequence=LARGEST)
    vault.set(put("c"), changes=RecordChanges(sequence=0))


@catalogue.damaged("a record has transactions beside its tree")
def tree_beside_transactions(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    entry = put("c")
    vault.set(entry)

    def edit(index: bytes) -> bytes:
        start, rest = index[:TOTALS_OFFSET], index[TOTALS_OFFSET:]
        totals = vault.totals()
        assert rest.startswith(totals + varint(0))
        return start + totals + varint(1) + varint(1) + entry.encoded() + rest[len(totals) + 1 :]

    vault.minor_checkpoint(changes=RecordChanges(edit_index=edit))


@catalogue.damaged("a notice of compaction that also says it has a tree, and has one")
def notice_with_a_tree(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).minor_checkpoint(changes=RecordChanges(flags=3))


@catalogue.damaged("a notice of compaction with a payload")
def notice_with_a_payload(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).append([], RecordChanges(extra_payload=vault.random.take(16)), notice=True)
