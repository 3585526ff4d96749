"""Headers that fail, each for one reason. The MAC is right wherever the note does not speak of it."""

import struct
from collections.abc import Callable

from ..builder import VaultBuilder
from ..changes import CheckpointChanges, RecordChanges
from ..draft import HEADER_SIZE
from ..entries import put
from ..primitives import hash256, u32, u64
from ..vector import Build, Catalogue

catalogue = Catalogue()
Add = Callable[[str], Callable[[Build], Build]]


def with_header(vault: VaultBuilder, edit: Callable[[bytearray], None]) -> VaultBuilder:
    return vault.begin([put("a"), put("b")], changes=CheckpointChanges(edit_header=edit)).set(put("c"))


def overwriting(name: str, note: str, offset: int, data: bytes, add: Add = catalogue.damaged) -> None:
    """A vector whose header has other bytes at a place."""

    def build(vault: VaultBuilder) -> None:
        def edit(header: bytearray) -> None:
            header[offset : offset + len(data)] = data

        with_header(vault, edit)

    build.__name__ = name
    add(note)(build)


overwriting("header_magic", "the magic's line end was turned from CR LF into LF LF, as text tools do", 4, b"\n\n")
overwriting("header_version_0", "format version 0, which never was", 8, u32(0))
overwriting("header_version_2", "format version 2, a later one", 8, u32(2), catalogue.newer)
overwriting("header_version_65537", "format version 65,537: its low 16 bits are 1", 8, u32(65537), catalogue.newer)
overwriting("header_without_slots", "the number of key slots is 0", 12, u32(0))
overwriting("header_with_17_slots", "the number of key slots is 17", 12, u32(17))
overwriting("header_reserved_flag", "the first reserved flag is set", 136, b"\x04")
overwriting("header_reserved_first", "the first reserved byte is 1", 212, b"\x01")
overwriting("history_of_256_versions", "writers are to keep 256 earlier versions", 128, u32(256))
overwriting("header_slot_past_the_number", "a byte in a slot past the number of slots is 1", 256 + 112 + 30, b"\x01")
overwriting("header_reserved_last", "the last reserved byte before the slots is 128", 255, b"\x80")
overwriting("slot_reserved_first", "a reserved byte behind the slot's kind is 1", 257, b"\x01")
overwriting("slot_reserved_last", "the last reserved byte of the slot is 1", 256 + 7, b"\x01")
overwriting("slot_parameters_last_byte", "the last byte of the area of parameters is 1", 4031, b"\x01")
overwriting("root_of_17408_bytes", "the root's sealed length is more than 16,384", 48, u64(17408))
overwriting("root_of_16_bytes", "the root's sealed length is 16: a tag alone", 48, u64(16))
overwriting("root_behind_the_end", "the root lies behind the end of the file", 40, u64(1 << 40))
overwriting("root_at_the_largest_offset", "offset and length of the root do not fit 64 bits", 40, u64(2**64 - 16))
overwriting("root_in_the_header", "the root lies in the header", 40, u64(16))
overwriting("root_out_of_step", "the root's offset is no multiple of 16", 40, u64(8200))
overwriting("root_nonce", "the root's nonce is another one", 56, bytes(24))
overwriting("root_of_0_bytes", "the root has a offset and no length", 48, u64(0))
overwriting("root_missing", "the root's offset is 0, but the checkpoint holds values and a page", 40, bytes(40))
overwriting("manifest_at_no_offset", "the manifest's offset is 0", 80, u64(0))
overwriting("manifest_at_the_largest_offset", "offset and length of the manifest do not fit 64 bits", 80, u64(2**64 - 16))
overwriting("manifest_too_long", "the manifest's sealed length is more than 1 MiB", 88, u64((1 << 20) + 16))
overwriting("manifest_of_the_largest_length", "the manifest's sealed length is 2^64 - 16", 88, u64(2**64 - 16))
overwriting("checkpoint_end_behind_the_file", "the checkpoint ends behind the end of the file", 120, u64(1 << 40))
overwriting("checkpoint_end_at_the_largest_offset", "the checkpoint's end is 2^64 - 16", 120, u64(2**64 - 16))
overwriting("checkpoint_end_in_the_header", "the checkpoint ends in the header", 120, u64(64))
overwriting("checkpoint_end_in_the_headers_copy", "the checkpoint ends in the header's copy", 120, u64(4160))
overwriting("root_in_the_headers_copy", "the root lies in the header's copy", 40, u64(4112))
overwriting("checkpoint_end_out_of_step", "the checkpoint's end is no multiple of 16", 120, u64(8200))


@catalogue.damaged("one bit of the MAC's first half, the authenticator, is flipped")
def header_mac_first_half(vault: VaultBuilder) -> None:
    with_header(vault, lambda header: None).flip_in_both_headers(4032)


@catalogue.damaged("one bit of the MAC's second half is flipped")
def header_mac_second_half(vault: VaultBuilder) -> None:
    with_header(vault, lambda header: None).flip_in_both_headers(4063)


@catalogue.damaged("the MAC is BLAKE2b-256 without a key")
def header_mac_without_key(vault: VaultBuilder) -> None:
    vault.begin([put("a")])
    for start in (0, HEADER_SIZE):
        vault.data[start + 4032 : start + 4064] = hash256(bytes(vault.data[start : start + 4032]))


@catalogue.damaged("one bit of the sequence number is flipped: the MAC does not match")
def header_sequence_flipped(vault: VaultBuilder) -> None:
    with_header(vault, lambda header: None).flip_in_both_headers(32)


@catalogue.damaged("the sequence number is 2^62")
def header_sequence_of_2_to_62(vault: VaultBuilder) -> None:
    vault.sequence = 1 << 62
    with_header(vault, lambda header: None)


@catalogue.damaged("there are no entries, and the root has a length and no offset")
def root_at_no_offset(vault: VaultBuilder) -> None:
    def edit(header: bytearray) -> None:
        header[48:56] = u64(64)

    vault.begin(changes=CheckpointChanges(edit_header=edit))


@catalogue.damaged("the root's offset is no multiple of 16, and the key is another vault's: no key is tried")
def header_offset_and_another_key(vault: VaultBuilder) -> None:
    data = with_header(vault, lambda header: None).data
    data[40:48] = data[HEADER_SIZE + 40 : HEADER_SIZE + 48] = u64(8200)
    vault.key_file = VaultBuilder("some other vault").key_file


@catalogue.damaged("a reserved byte is 1, and the key is another vault's: no key is tried")
def header_reserved_and_another_key(vault: VaultBuilder) -> None:
    with_header(vault, lambda header: None).flip_in_both_headers(220)
    vault.key_file = VaultBuilder("some other vault").key_file


def behind_the_checkpoint(name: str, what: str, field: int) -> None:
    """What the header names at `field` lies in a record's payload instead, of which nothing else speaks."""

    def build(vault: VaultBuilder) -> None:
        twin = vault.twin().begin([put("a")])
        offset, length = struct.unpack_from("<QQ", twin.data, field)
        inserted = RecordChanges(leading_payload=bytes(twin.data[offset : offset + length]))
        there = twin.set(put("b"), changes=inserted).records[-1].payload_offset

        def edit(header: bytearray) -> None:
            header[field : field + 8] = u64(there)

        vault.begin([put("a")], changes=CheckpointChanges(edit_header=edit)).set(put("b"), changes=inserted)

    build.__name__ = name
    catalogue.damaged(f"{what} does not lie in the checkpoint, where a copy of it is, but in a record")(build)


behind_the_checkpoint("root_behind_the_checkpoint", "the root", 40)
behind_the_checkpoint("manifest_behind_the_checkpoint", "the manifest", 80)


# The header and its copy


def apart(name: str, note: str, edit: Callable[[bytearray], object]) -> None:
    """A vector in which the header and its copy are no longer the same."""

    def build(vault: VaultBuilder) -> None:
        edit(with_header(vault, lambda header: None).data)

    build.__name__ = name
    catalogue.damaged(note)(build)


def setting(start: int, end: int, data: bytes | None = None) -> Callable[[bytearray], None]:
    """An edit that overwrites a range; with zeros unless it says with what."""

    def edit(image: bytearray) -> None:
        image[start:end] = bytes(end - start) if data is None else data

    return edit


apart("header_zeroed", "the header is zero, and its copy is whole", setting(0, 4096))
apart("header_sector_zeroed", "the sector with the key slot is zero, and the copy is whole", setting(0, 512))
apart("header_slot_flipped", "one bit of the wrapped key is flipped in the header alone", setting(340, 341, b"\xff"))
apart("header_version_in_the_copy", "the version is 2 in the header alone: not a later format", setting(8, 12, u32(2)))
apart("header_mac_in_the_copy", "the header's MAC is zero, that of its copy holds", setting(4032, 4064))
apart("copy_zeroed", "the copy of the header is zero", setting(4096, 8192))
apart("copy_flipped", "one byte of the copy of the header is another one", setting(4096 + 40, 4096 + 41, b"\xaa"))
apart("copy_with_a_hint", "in the copy a byte stands where the header has its hint", setting(8191, 8192, b"\x01"))
