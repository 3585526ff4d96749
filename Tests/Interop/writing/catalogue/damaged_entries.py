"""Entries that fail, each for one reason, between sound ones."""

from collections.abc import Callable

from ..builder import VaultBuilder
from ..entries import ATTRIBUTES, EARLIER, OTHER_ATTRIBUTES, Attributes, Entry, Value, encoded_attributes, put
from ..primitives import varint
from ..vector import Catalogue
from .sound_checkpoints import LARGEST

catalogue = Catalogue()
NAME_SIZE = 2  # of a name of one byte, with its length


def holding(name: str, note: str, entry: Callable[[], Entry], twice: bool = False) -> None:
    """A vector with this entry between sound ones in a record; `twice`: and another with it in a checkpoint."""

    def in_record(vault: VaultBuilder) -> None:
        vault.begin([put(" before")]).set(put("one"), entry(), put("~ behind"))

    def in_checkpoint(vault: VaultBuilder) -> None:
        vault.begin([put(" before"), entry(), put("~ behind")])

    in_record.__name__, in_checkpoint.__name__ = name, f"{name}_in_a_checkpoint"
    catalogue.damaged(note)(in_record)
    if twice:
        catalogue.damaged(f"{note}, in a checkpoint")(in_checkpoint)


def flagged(bits: int) -> Callable[[bytes], bytes]:
    """An edit that adds flag bits to an entry with a name of one byte."""
    return lambda encoded: encoded[:NAME_SIZE] + bytes([encoded[NAME_SIZE] | bits]) + encoded[NAME_SIZE + 1 :]


def sized(content: bytes, stated_length: int | None = None, padding: bytes | None = None) -> Entry:
    return Entry("m", Value(content, stated_length=stated_length, padding=padding))


class Flagged(Value):
    """An earlier version with further flags, and with its attributes whatever they are."""

    def __init__(self, content: bytes, flags: int, attributes: Attributes | None = None) -> None:
        super().__init__(content, attributes=attributes or [])
        self.flags = flags

    def as_earlier(self, following: Attributes) -> bytes:
        encoded = varint(self.modified) + bytes([self.flags]) + self.stored()
        return encoded + (encoded_attributes(self.attributes) if self.flags & OTHER_ATTRIBUTES else b"")


holding("name_empty", "a name of 0 bytes", lambda: put(""))
holding("name_of_1025_bytes", "a name of 1,025 bytes", lambda: put("n" * 1025))
holding("name_with_escape", "a name with the control character U+001B", lambda: put("a\u001b[31m"), twice=True)
holding("name_with_zero_byte", "a name with the control character U+0000", lambda: put("a\u0000b"))
holding("name_with_delete", "a name with the control character U+007F", lambda: put("a\u007f"))
holding("name_with_c1_control", "a name with the control character U+009B", lambda: put("a\u009b31m"))
holding("name_not_utf8", "a name with the byte FF", lambda: put(b"a\xff"))
holding("name_overlong_utf8", "a name with an overlong form of a slash", lambda: put(b"a\xc0\xaf"))
holding("name_with_surrogate", "a name with a surrogate in UTF-8", lambda: put(b"a\xed\xa0\x80"))
holding(
    "name_length_varint", "the length of a name is a varint in 2 bytes where 1 does",
    lambda: put("m", edit=lambda encoded: varint(1, needless_bytes=1) + encoded[1:]),
)  # fmt: skip
holding(
    "name_longer_than_its_box", "the length of a name is 2^63",
    lambda: put("m", edit=lambda encoded: varint(1 << 63) + encoded[1:]),
)  # fmt: skip
holding("entry_flag_128", "an entry with the unknown flag 128", lambda: put("m", edit=flagged(128)))
holding("removed_and_more", "a removed entry with the flag 2", lambda: Entry("m", edit=flagged(2)))
holding("removed_with_an_expiry", "a removed entry that expires", lambda: Entry("m", expiry=LARGEST))
holding(
    "removed_with_attributes_and_versions", "a removed entry with an earlier version and attributes",
    lambda: Entry("m", attributes=[("a", "1")], earlier=[Value(b"earlier")]),
)  # fmt: skip
holding("removed_with_no_versions", "a removed entry, flag 8, and 0 of them", lambda: Entry("m", edit=no_earlier))
holding(
    "modified_varint", "the time of an entry is a varint with a needless byte",
    lambda: Entry("m", edit=lambda encoded: encoded[:3] + varint(1000, needless_bytes=1)),
)  # fmt: skip
holding(
    "modified_of_11_bytes", "the time of an entry is a varint of 11 bytes",
    lambda: Entry("m", edit=lambda encoded: encoded[:3] + b"\x80" * 10 + b"\x01"),
)  # fmt: skip
holding(
    "modified_of_2_to_64", "the time of an entry is a varint of 10 bytes that is 2^64",
    lambda: Entry("m", edit=lambda encoded: encoded[:3] + varint(2**64)),
)  # fmt: skip
holding("age_beyond_1970", "an entry that is older than its time", lambda: put("m", modified=5, created=-1))
holding("version_flag_8", "an earlier version with the unknown flag 8", lambda: put("m", earlier=[Flagged(b"x", 8)]))
holding(
    "version_attributes_for_nothing", "an earlier version that states the attributes of what followed it",
    lambda: put("m", attributes=[("a", "1")], earlier=[Flagged(b"x", 1, attributes=[("a", "1")])]),
)  # fmt: skip
holding(
    "version_attributes_unordered", "an earlier version with keys that descend",
    lambda: put("m", earlier=[Value(b"x", attributes=[("b", "1"), ("a", "2")])]),
)  # fmt: skip
holding("value_at_2_to_61", "a value at the offset 2^61", lambda: sized_at(1 << 61))
holding("attributes_none", "the flag for attributes, and 0 of them", lambda: put("m", edit=no_attributes))
holding("attributes_65", "65 attributes", lambda: put("m", attributes=[(f"{n:02}", "") for n in range(65)]))
holding("attributes_unordered", "keys that descend", lambda: put("m", attributes=[("b", "1"), ("a", "2")]))
holding("attributes_doubled", "a key that is there twice", lambda: put("m", attributes=[("a", "1"), ("a", "2")]))
holding(
    "attribute_not_utf8", "a value of an attribute with the byte FF",
    lambda: put("m", attributes=[("a", "#")], edit=lambda encoded: encoded[:-1] + b"\xff"),
)  # fmt: skip
holding("earlier_none", "the flag for earlier versions, and 0 of them", lambda: put("m", edit=no_earlier))
holding("value_offset_0", "a value at offset 0", lambda: sized_at(0))
holding("value_in_the_header", "a value in the header", lambda: sized_at(64))
holding("value_behind_the_end", "a value behind the end of the file", lambda: sized_at(1 << 40), twice=True)
holding("value_at_the_largest_offset", "a value at 2^64 - 1 units", lambda: sized_at(LARGEST * 16))
holding("value_longer_than_its_box", "a value that is stated 16 bytes longer", lambda: sized(b"12", stated_length=18))
holding("value_shorter_than_its_box", "a value stated 16 bytes shorter", lambda: sized(b"v" * 32, stated_length=16))
holding("value_of_too_many_bytes", "a value of 16 MiB and one byte", lambda: sized(b"", stated_length=(16 << 20) + 1))
holding("value_of_most_bytes", "a value of 2^64 - 1 bytes", lambda: sized(b"", stated_length=LARGEST))
holding("value_padding", "the padding of a value is not 0", lambda: sized(b"ab", padding=b"\x01" * 14))


def no_attributes(encoded: bytes) -> bytes:
    return flagged(ATTRIBUTES)(encoded) + varint(0)


def no_earlier(encoded: bytes) -> bytes:
    return flagged(EARLIER)(encoded) + varint(0)


def sized_at(offset: int) -> Entry:
    """An entry whose value is stated to be at another offset than its box is."""
    value = Value(b"a value")

    def edit(encoded: bytes) -> bytes:
        return encoded.replace(value.nonce + varint(value.offset // 16), value.nonce + varint(offset // 16))

    return Entry("m", value, edit=edit)
