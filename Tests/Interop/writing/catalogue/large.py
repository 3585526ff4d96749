"""What has a size at a bound of the format, and one beyond it: built by the tests, since files of these are large."""

from collections.abc import Callable

from ..builder import VaultBuilder
from ..changes import CheckpointChanges, RecordChanges
from ..entries import MADE, Entry, Value, put
from ..vector import Catalogue
from .sound_checkpoints import numbered
from .sound_members import ANN, BOB, joining, leaving, with_members

catalogue = Catalogue()
MIB = 1 << 20


def entry_of(size: int, name: str = "large") -> Entry:
    """An entry that takes `size` bytes by its attribute's length, if its offset takes two bytes as a varint."""

    def entry(length: int) -> Entry:
        return put(name, "v", attributes=[("a", "x" * length)])

    trial = entry(size - 200)
    trial.value.nonce, trial.value.offset = bytes(24), 8192
    return entry(2 * size - 200 - len(trial.encoded()))


@catalogue.ok("an entry of exactly 8,000 bytes")
def entry_of_the_largest_size(vault: VaultBuilder) -> None:
    vault.begin([entry_of(8000)]).set(put("another"))


@catalogue.damaged("an entry of 8,001 bytes")
def entry_of_8001_bytes(vault: VaultBuilder) -> None:
    vault.begin([put(" before")]).set(put("one"), entry_of(8001), put("~ behind"))


@catalogue.ok("130 earlier versions, whose count takes two bytes")
def many_earlier_versions(vault: VaultBuilder) -> None:
    versions = [Value(f"version {number}".encode(), 1, MADE + number) for number in range(131)]
    vault.begin([Entry("a", versions[-1], MADE + 130, MADE, earlier=versions[-2::-1])])


@catalogue.ok("a page of exactly 16,384 sealed bytes")
def page_of_the_largest_size(vault: VaultBuilder) -> None:
    frame = 4 + 4 * 2
    vault.begin([entry_of(7000, "a"), entry_of(7000, "b"), entry_of(1000, "c"), entry_of(1368 - frame, "d")])


def filled(size: int) -> Callable[[bytes], bytes]:
    """An edit that pads a box's content so far that it takes `size` bytes sealed."""
    return lambda content: content + bytes(size - 16 - len(content))


@catalogue.damaged("a leaf of 16,400 sealed bytes")
def page_too_large(vault: VaultBuilder) -> None:
    def edit(level: int, number: int, content: bytes) -> bytes:
        return filled(16400)(content) if (level, number) == (0, 1) else content

    vault.begin(numbered(9), cells_per_page=3, changes=CheckpointChanges(edit_page=edit))


def large_index(vault: VaultBuilder, size: int) -> None:
    """130 entries of almost 8,000 bytes, and padding."""
    entries = [put(f"{number:03}", "v", attributes=[("a", "x" * 7900)]) for number in range(130)]
    vault.begin().set(*entries, changes=RecordChanges(edit_padded_index=filled(size))).set(put("behind"))


@catalogue.ok("a record with an index of 1 MiB")
def index_of_the_largest_size(vault: VaultBuilder) -> None:
    large_index(vault, MIB)


@catalogue.damaged("a record with an index of 1 MiB and 16 bytes")
def index_too_large(vault: VaultBuilder) -> None:
    large_index(vault, MIB + 16)


@catalogue.ok("a manifest of 1 MiB")
def manifest_of_the_largest_size(vault: VaultBuilder) -> None:
    vault.begin([put("a")], changes=CheckpointChanges(edit_manifest=filled(MIB)))


@catalogue.damaged("a manifest of 1 MiB and 16 bytes")
def manifest_too_large(vault: VaultBuilder) -> None:
    vault.begin([put("a")], changes=CheckpointChanges(edit_manifest=filled(MIB + 16)))


@catalogue.ok("a value of 16 MiB")
def value_of_the_largest_size(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("large", vault.random.take(64) * (MIB // 4), kind=2))


def with_changes(vault: VaultBuilder, count: int) -> None:
    """Bob is added and removed by turns."""
    turns = [(joining, leaving)[number % 2](ANN, BOB, number + 1) for number in range(count - 1)]
    with_members(vault, *turns).begin([vault.signed(put("a"), ANN)])


@catalogue.ok("1,024 changes of the members")
def members_1024(vault: VaultBuilder) -> None:
    with_changes(vault, 1024)


@catalogue.damaged("1,025 changes of the members")
def members_1025(vault: VaultBuilder) -> None:
    with_changes(vault, 1025)
