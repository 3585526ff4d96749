"""Logs whose end is torn in each allowed way, and bytes behind the end that are nobody's."""

from collections.abc import Callable

from ..builder import VaultBuilder
from ..changes import RecordChanges
from ..draft import WrittenRecord
from ..entries import put
from ..vector import Catalogue
from .damaged_tails import with_magics
from .tearing import SECTOR, align_end, sector_start, with_last

catalogue = Catalogue()
FRAME_SIZE = 24


def torn(note: str, align: int = 64) -> Callable:
    """A vector whose last record the decorated function tears."""

    def add(tear: Callable[[VaultBuilder, WrittenRecord], None]) -> None:
        def build(vault: VaultBuilder) -> None:
            tear(vault, with_last(vault, align))

        build.__name__ = tear.__name__
        catalogue.ok(note)(build)

    return add


@torn("the file ends 16 bytes into the last record's frame")
def tail_cut_in_the_frame(vault: VaultBuilder, last: WrittenRecord) -> None:
    del vault.data[last.offset + 16 :]


@torn("the file ends right behind the last record's frame")
def tail_cut_behind_the_frame(vault: VaultBuilder, last: WrittenRecord) -> None:
    del vault.data[last.offset + FRAME_SIZE :]


@torn("the file ends in the last record's payload")
def tail_cut_in_the_payload(vault: VaultBuilder, last: WrittenRecord) -> None:
    del vault.data[last.payload_offset + 100 :]


@torn("the last record misses its last byte")
def tail_cut_by_one_byte(vault: VaultBuilder, last: WrittenRecord) -> None:
    del vault.data[last.end - 1 :]


@torn("the first sector's share of the last record was not written, the rest was")
def tail_without_its_first_sector(vault: VaultBuilder, last: WrittenRecord) -> None:
    vault.zero(last.offset, sector_start(last.offset) + SECTOR)


@torn("the frame alone is zero")
def tail_without_its_frame(vault: VaultBuilder, last: WrittenRecord) -> None:
    vault.zero(last.offset, last.offset + FRAME_SIZE)


@torn("a sector in the middle of the last record was not written")
def tail_without_a_middle_sector(vault: VaultBuilder, last: WrittenRecord) -> None:
    start = sector_start(last.offset) + 2 * SECTOR
    vault.zero(start, start + SECTOR).data += bytes(1024)


@torn("the last sector's share of the last record was not written; zeros follow")
def tail_without_its_last_sector(vault: VaultBuilder, last: WrittenRecord) -> None:
    vault.zero(sector_start(last.end - 1), last.end).data += bytes(1024)


@torn("the frame spans two sectors; the first, with all but its checksum, was not written", align=496)
def tail_without_the_start_of_its_frame(vault: VaultBuilder, last: WrittenRecord) -> None:
    vault.zero(last.offset, last.offset + 16)


@torn("the frame spans two sectors; the second, with its checksum, was not written", align=496)
def tail_without_the_end_of_its_frame(vault: VaultBuilder, last: WrittenRecord) -> None:
    vault.zero(last.offset + 16, last.offset + 16 + SECTOR)


@torn("as above, but zero is only the checksum: where the frame fails, only the frame's share counts", align=496)
def tail_without_its_checksum(vault: VaultBuilder, last: WrittenRecord) -> None:
    vault.zero(last.offset + 16, last.offset + FRAME_SIZE)


@torn("the whole last record is zero: as far as the file alone can tell, it was never written")
def tail_all_zero(vault: VaultBuilder, last: WrittenRecord) -> None:
    vault.zero(last.offset, last.end)


@catalogue.ok("23 bytes that are nobody's at the end of the file: too few for a frame, so the end cuts it")
def tail_of_23_bytes(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.data += vault.random.take(23)


@catalogue.ok("zeros to the next multiple of 4,096 behind the log's end")
def zeros_behind_the_end(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.data += bytes(-len(vault.data) % 4096)


@catalogue.ok("zeros behind the log's end, of a number that is no multiple of 16")
def zeros_of_an_odd_number(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.data += bytes(333)


@catalogue.ok("behind the log's end lie 32 zero bytes and then bytes that are nobody's")
def garbage_behind_zeros(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.data += bytes(32) + vault.random.take(700)


@catalogue.ok("behind zeros the magic of a record stands 16 times, as it may by chance, and no frame holds")
def magics_by_chance(vault: VaultBuilder) -> None:
    with_magics(vault, 16)


@catalogue.ok("behind zeros lies a record at a offset that is no multiple of 16: not looked for there")
def record_behind_out_of_step(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    record = vault.records[0]
    vault.data += bytes(40) + vault.data[record.offset : record.end]


@catalogue.ok("a torn last record whose payload has the magic of a record 16 times by chance, beside its own")
def torn_record_with_magics(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    align_end(vault, 64)
    expected = dict(vault.present)
    magics = b"".join(b"vrec" + vault.random.take(12) for _ in range(16))
    vault.set(put("torn", vault.random.take(1200)), changes=RecordChanges(leading_payload=magics))
    vault.present = expected
    start = sector_start(vault.records[-1].offset) + 2 * SECTOR
    vault.zero(start, start + SECTOR)
