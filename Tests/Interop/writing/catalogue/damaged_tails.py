"""Ends of the log that look torn at first sight and are not."""

from ..builder import VaultBuilder
from ..changes import RecordChanges
from ..entries import put
from ..primitives import siphash, u32, u64
from ..vector import Catalogue
from .tearing import SECTOR, align_end, sector_start, with_last

catalogue = Catalogue()


@catalogue.damaged("the last byte of the last record's payload is changed")
def tail_with_another_payload(vault: VaultBuilder) -> None:
    vault.flip(with_last(vault).end - 1)


@catalogue.damaged("512 zero bytes in the last record, but not a whole sector of the file")
def tail_with_zeros_across_sectors(vault: VaultBuilder) -> None:
    start = sector_start(with_last(vault).offset) + SECTOR + 16
    vault.zero(start, start + SECTOR)


@catalogue.damaged("the frame fails, and a later sector is zero: only the frame's own share would count")
def tail_with_failing_frame_and_zero_sector(vault: VaultBuilder) -> None:
    last = with_last(vault)
    start = sector_start(last.offset) + SECTOR
    vault.flip(last.offset + 4).zero(start, start + SECTOR)


@catalogue.damaged("23 bytes of the frame are zero, the last is not")
def tail_with_almost_no_frame(vault: VaultBuilder) -> None:
    last = with_last(vault)
    vault.zero(last.offset, last.offset + 23).data[last.offset + 23] = 1


@catalogue.damaged("24 bytes that are nobody's at the end of the file: as many as a frame has, so nothing cuts it")
def tail_of_24_bytes(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.data += vault.random.take(24)


@catalogue.damaged("bytes that are no record follow the last record at once")
def garbage_at_the_end(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.data += vault.random.take(640)


@catalogue.damaged("a record in the middle is zero: a later one opens")
def zeroed_record_in_the_middle(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).set(put("c")).set(put("d"))
    vault.zero(vault.records[1].offset, vault.records[1].end)


@catalogue.damaged("a sector of a record in the middle is zero: a later one opens")
def zeroed_sector_in_the_middle(vault: VaultBuilder) -> None:
    last = with_last(vault)
    start = sector_start(last.offset) + SECTOR
    vault.set(put("c")).zero(start, start + SECTOR)


@catalogue.damaged("the last record but one is torn, and the last opens, though the end of the file cuts its payload")
def torn_record_before_a_cut_one(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).set(put("c", "c" * 100))
    vault.zero(vault.records[0].offset, vault.records[0].end)
    del vault.data[-16:]


@catalogue.damaged("a record is zero, and behind it lies one whose index opens, and then breaks a rule")
def zeroed_record_before_a_faulty_one(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).set(put("c"), changes=RecordChanges(flags=8))
    vault.zero(vault.records[0].offset, vault.records[0].end)


@catalogue.damaged("32 zero bytes stand between two records")
def gap_between_records(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.data += bytes(32)
    vault.set(put("c"))


@catalogue.damaged("behind zeros lies a copy of the first record")
def old_record_behind_the_end(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).set(put("c"))
    first = vault.records[0]
    vault.data += bytes(64) + vault.data[first.offset : first.end] + bytes(512)


@catalogue.damaged("behind zeros lies a frame with the right checksum, whose index does not open: no writer leaves one")
def frame_behind_that_does_not_open(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    frame = b"vrec" + u32(160) + u64(32)
    vault.data += bytes(32) + frame + siphash(frame, vault.vault_id) + vault.random.take(24 + 160 + 32)


@catalogue.damaged("behind zeros the magic of a record stands 17 times: no writer leaves that")
def magics_behind_the_end(vault: VaultBuilder) -> None:
    with_magics(vault, 17)


@catalogue.damaged("the last frame states an index of more than 1 MiB: it does not hold, and is not cut")
def tail_with_too_long_an_index(vault: VaultBuilder) -> None:
    with_false_frame(vault, u32((1 << 20) + 16) + u64(32))


@catalogue.damaged("the last frame states a payload of 512 MiB: it does not hold, and is not cut")
def tail_with_too_long_a_payload(vault: VaultBuilder) -> None:
    with_false_frame(vault, u32(160) + u64(512 << 20))


@catalogue.damaged("the last frame states lengths whose sum does not fit 64 bits")
def tail_with_the_largest_payload(vault: VaultBuilder) -> None:
    with_false_frame(vault, u32(0xFFFF_FFF0) + u64(2**64 - 16))


def with_false_frame(vault: VaultBuilder, lengths: bytes) -> None:
    vault.begin([put("a")]).set(put("b"))
    align_end(vault, 64)
    frame = b"vrec" + lengths
    vault.data += frame + siphash(frame, vault.vault_id) + vault.random.take(300)


def with_magics(vault: VaultBuilder, count: int) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.data += bytes(32) + b"".join(b"vrec" + vault.random.take(12) for _ in range(count)) + bytes(16)
