"""Histories that were dropped, doubled, swapped or spliced, and frames that lead nowhere."""

from collections.abc import Callable

from ..builder import VaultBuilder
from ..changes import RecordChanges
from ..entries import put
from ..primitives import u32, u64
from ..vector import Catalogue

catalogue = Catalogue()


def log_of_four(vault: VaultBuilder) -> list[bytes]:
    """The bytes of four records, whose values have the same lengths."""
    vault.begin([put("a")]).set(put("b")).set(put("c")).set(put("d")).set(put("e"))
    return [bytes(vault.data[record.offset : record.end]) for record in vault.records]


def rearranged(name: str, note: str, arrange: Callable[[list[bytes]], list[bytes]]) -> None:
    def build(vault: VaultBuilder) -> None:
        records = log_of_four(vault)
        vault.data[vault.records[0].offset :] = b"".join(arrange(records))

    build.__name__ = name
    catalogue.damaged(note)(build)


rearranged("record_dropped", "the second of four records was dropped", lambda r: [r[0], r[2], r[3]])
rearranged("first_record_dropped", "the first of four records was dropped", lambda r: r[1:])
rearranged("record_doubled", "the second of four records is there twice", lambda r: [r[0], r[1], r[1], r[2], r[3]])
rearranged("last_record_doubled", "the last of four records is there twice", lambda r: [*r, r[3]])
rearranged("records_swapped", "the second and third of four records are swapped", lambda r: [r[0], r[2], r[1], r[3]])
rearranged("last_records_swapped", "the last two of four records are swapped", lambda r: [r[0], r[1], r[3], r[2]])


@catalogue.damaged("the payloads of two records are swapped")
def payloads_swapped(vault: VaultBuilder) -> None:
    log_of_four(vault)
    second, third = vault.records[1:3]
    one = bytes(vault.data[second.payload_offset : second.end])
    two = bytes(vault.data[third.payload_offset : third.end])
    vault.data[second.payload_offset : second.end] = two
    vault.data[third.payload_offset : third.end] = one


@catalogue.damaged("the last record comes from another vault")
def record_of_another_vault(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    other = VaultBuilder("another vault").begin([put("a")]).set(put("b")).set(put("c"))
    vault.data += other.data[other.records[-1].offset :]


@catalogue.damaged("the last record comes from a copy of this vault that went another way")
def record_of_a_diverged_copy(vault: VaultBuilder) -> None:
    copy = VaultBuilder("a diverged copy", key_seed="record-of-a-diverged-copy")
    copy.begin([put("a")]).set(put("b")).set(put("c"))
    vault.begin([put("a")]).set(put("b"))
    vault.data += copy.data[copy.records[-1].offset :]


@catalogue.damaged("the first record comes from this vault as it was before a compaction")
def record_before_compaction(vault: VaultBuilder) -> None:
    before = VaultBuilder("before its compaction", key_seed="record-before-compaction")
    before.begin([put("a")]).set(put("b"))
    vault.begin([put("a")])
    vault.data += before.data[before.records[-1].offset :]


def framed(name: str, note: str, edit: Callable[[bytes], bytes]) -> None:
    """The record in the middle has another frame, whose checksum is right."""

    def build(vault: VaultBuilder) -> None:
        vault.begin([put("a")]).set(put("b")).set(put("c"), changes=RecordChanges(edit_frame=edit)).set(put("d"))

    build.__name__ = name
    catalogue.damaged(note)(build)


framed("frame_index_out_of_step", "the index length is no multiple of 16", lambda f: f[:4] + u32(168) + f[8:])
framed("frame_payload_out_of_step", "the payload length is no multiple of 16", lambda f: f[:8] + u64(40))
framed("frame_index_of_0_bytes", "the index length is 0", lambda f: f[:4] + u32(0) + f[8:])
framed("frame_index_too_long", "the index length is 1 MiB and 16 bytes", lambda f: f[:4] + u32((1 << 20) + 16) + f[8:])
framed("frame_payload_too_long", "the payload length is 512 MiB", lambda f: f[:8] + u64(512 << 20))
framed("frame_payload_of_most_bytes", "the payload length is 2^64 - 16", lambda f: f[:8] + u64(2**64 - 16))


@catalogue.damaged("the checksum of the record in the middle is made under another key")
def frame_checksum(vault: VaultBuilder) -> None:
    log_of_four(vault)
    vault.flip(vault.records[1].offset + 16)
