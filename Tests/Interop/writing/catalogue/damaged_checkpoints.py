"""Values and manifests that fail, and checkpoints that hold them wrongly, each for one reason."""

from collections.abc import Callable

from ..builder import VaultBuilder
from ..changes import CheckpointChanges
from ..draft import CHECKPOINT_START
from ..entries import EARLIER, MADE, Entry, Value, put, remove
from ..primitives import varint
from ..vector import Catalogue
from .damaged_entries import flagged
from .sound_checkpoints import numbered
from .sound_slots import another_recipients_slot

catalogue = Catalogue()


@catalogue.damaged("one bit of a value's box is flipped")
def value_flipped(vault: VaultBuilder) -> None:
    vault.begin(numbered(4)).flip(CHECKPOINT_START + 16)


@catalogue.damaged("the boxes of two values of the same length are exchanged")
def values_swapped(vault: VaultBuilder) -> None:
    vault.begin(numbered(4))
    start, middle, end = (CHECKPOINT_START + 32 * number for number in range(3))
    vault.data[start:end] = vault.data[middle:end] + vault.data[start:middle]


@catalogue.damaged("one bit of an earlier version's box is flipped; the current one is sound")
def earlier_version_flipped(vault: VaultBuilder) -> None:
    old = Value(b"old")
    vault.begin([Entry("a", Value(b"new"), earlier=[old])]).flip(old.offset + 20)


@catalogue.damaged("one bit of the box of a removed name's earlier version is flipped")
def removed_version_flipped(vault: VaultBuilder) -> None:
    old = Value(b"old")
    vault.begin([put("b"), remove("a", earlier=[old])]).flip(old.offset + 20)


@catalogue.damaged("16 bytes of the checkpoint belong to nothing")
def checkpoint_with_a_gap(vault: VaultBuilder) -> None:
    vault.begin(numbered(4), changes=CheckpointChanges(gap=16))


@catalogue.damaged("16 bytes at the checkpoint's end belong to nothing")
def checkpoint_with_a_gap_at_its_end(vault: VaultBuilder) -> None:
    vault.begin(numbered(4), changes=CheckpointChanges(gap_at_the_end=16))


@catalogue.damaged("two names share a box, and 32 bytes belong to nothing: the sum of lengths is right")
def checkpoint_with_a_shared_box(vault: VaultBuilder) -> None:
    value = Value(b"shared")
    vault.begin([Entry("a", value), Entry("b", value)], changes=CheckpointChanges(gap=32))


def with_a_later_value(vault: VaultBuilder, write: Callable[[VaultBuilder, Entry], object]) -> None:
    """The entry that `write` writes has an earlier version, which a later record of the same name brings."""
    later = Value(b"later's", nonce=vault.random.take(24))

    def early(offset: int) -> Entry:
        version = Value(later.content, nonce=later.nonce, offset=offset).as_earlier([])
        return put("a", "its own", edit=lambda encoded: flagged(EARLIER)(encoded) + varint(1) + version)

    twin = vault.twin()
    write(twin, early(1 << 13))
    offset = len(twin.set(Entry("a", Value(later.content))).data) - 32
    write(vault, early(offset))
    vault.set(Entry("a", later))
    assert later.offset == offset


@catalogue.damaged("an earlier version in the checkpoint lies in a record behind it", inferred=True)
def checkpoint_with_a_later_value(vault: VaultBuilder) -> None:
    with_a_later_value(vault, lambda builder, entry: builder.begin([entry]))


@catalogue.damaged("an earlier version in a record lies in the record behind it")
def record_with_a_later_value(vault: VaultBuilder) -> None:
    with_a_later_value(vault, lambda builder, entry: builder.begin().set(entry))


def manifest(name: str, note: str, edit: Callable[[bytes, VaultBuilder], bytes]) -> None:
    def build(vault: VaultBuilder) -> None:
        vault.chain = [vault.random.take(16)]
        vault.sequence = 9
        vault.begin([put("a")], changes=CheckpointChanges(edit_manifest=lambda content: edit(content, vault)))

    build.__name__ = name
    catalogue.damaged(note)(build)


def with_chain(count: int) -> Callable[[bytes, VaultBuilder], bytes]:
    def edit(content: bytes, vault: VaultBuilder) -> bytes:
        return content.replace(varint(1) + vault.chain[0], varint(count) + vault.chain[0] * min(count, 20))

    return edit


manifest("manifest_cut", "the manifest ends in its labels", lambda content, _: content[:32])
manifest("manifest_with_more", "bytes follow the manifest's last field", lambda content, _: content + b"more")
manifest("manifest_chain_too_long", "a chain of 10 before sequence number 9", with_chain(10))
manifest("manifest_chain_endless", "a chain of 2^60 authenticators", with_chain(1 << 60))
manifest("manifest_empty", "the manifest is empty", lambda content, _: b"")
manifest("manifest_varint", "a varint with a needless byte", lambda content, _: content[:-4] + b"\x80\x00")


def listing(name: str, note: str, change: Callable[[VaultBuilder], object]) -> None:
    """A manifest whose fields `change` sets before it is written."""

    def build(vault: VaultBuilder) -> None:
        vault.sequence = 9
        change(vault)
        vault.begin([put("a")])

    build.__name__ = name
    catalogue.damaged(note)(build)


def positions(*sequences: int) -> Callable[[VaultBuilder], None]:
    def change(vault: VaultBuilder) -> None:
        vault.merged = [(sequence, vault.random.take(16)) for sequence in sequences]

    return change


def recipient_of_a_slot_for_key_files(vault: VaultBuilder) -> None:
    vault.recipients[0] = "age1"


def recipient_of_most_bytes_and_one(vault: VaultBuilder) -> None:
    vault.slots.append(another_recipients_slot(vault))
    vault.recipients[1] = "age1" + "q" * 4093


listing("merged_out_of_order", "the numbers of merged log positions descend", positions(5, 4))
listing("merged_at_the_header", "a merged log position has the header's number", positions(4, 9))
listing("recipient_of_4097_bytes", "a recipient's public key of 4,097 bytes", recipient_of_most_bytes_and_one)
listing("recipient_of_a_key_file", "the label of a key file's slot has a recipient", recipient_of_a_slot_for_key_files)
manifest(
    "former_memory_keys_4097", "4,097 former memory keys", lambda content, _: content[:-3] + varint(4097) + bytes(34)
)
manifest("removed_keys_257", "257 removed keys", lambda content, _: content[:-2] + varint(257) + bytes(17))
manifest("merged_4097", "4,097 merged log positions", lambda content, _: content[:-1] + varint(4097) + bytes(17))


@catalogue.damaged("one bit of the manifest's box is flipped")
def manifest_flipped(vault: VaultBuilder) -> None:
    vault.begin([put("a")])
    vault.flip(len(vault.data) - 1)
