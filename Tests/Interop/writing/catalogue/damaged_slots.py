"""Key slots that fail, each for one reason; the key file itself is sound."""

from ..builder import VaultBuilder
from ..keys import Slot, other_file_slot
from ..vector import Catalogue
from .damaged_headers import with_header

catalogue = Catalogue()


@catalogue.damaged("the salt of a slot that is passed over has a bit flipped: the MAC does not match")
def header_other_slot_flipped(vault: VaultBuilder) -> None:
    vault.slots.append(other_file_slot(b"other", vault.random.take(16), vault.random.take(24)))
    with_header(vault, lambda header: None).flip_in_both_headers(256 + 160 + 8)


@catalogue.damaged("a slot of the unknown kind 77 with a reserved byte that is 1")
def slot_of_unknown_kind_reserved(vault: VaultBuilder) -> None:
    slot = Slot(77, vault.secret, vault.random.take(16), vault.random.take(24))
    vault.slots.append(slot.changed(reserved=b"\x01" + bytes(6)))
    with_header(vault, lambda header: None)


def argon2id_limits(name: str, note: str, passes: int, memory: int) -> None:
    def build(vault: VaultBuilder) -> None:
        vault.key_file = b"a passphrase"
        slot = other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))
        vault.slots = [slot.changed(passes=passes, memory=memory)]
        with_header(vault, lambda header: None)

    build.__name__ = name
    catalogue.damaged(note)(build)


argon2id_limits("argon2id_without_passes", "Argon2id with 0 passes", 0, 8192)
argon2id_limits("argon2id_with_11_passes", "Argon2id with 11 passes", 11, 8192)
argon2id_limits("argon2id_with_too_little_memory", "Argon2id with 8,191 bytes", 1, 8191)
argon2id_limits("argon2id_with_too_much_memory", "Argon2id with 768 MiB and one byte", 1, (768 << 20) + 1)
argon2id_limits("argon2id_with_most_memory", "Argon2id with 2^64 - 1 bytes", 1, 2**64 - 1)


@catalogue.damaged("the slot of a generated key file says 1 pass over 8 KiB, which it does not need")
def generated_slot_with_limits(vault: VaultBuilder) -> None:
    vault.slots = [vault.slots[0].changed(passes=1, memory=8192)]
    with_header(vault, lambda header: None)


@catalogue.damaged("ten slots with 10 passes over 8 MiB each: more than 768 MiB in all, so none is tried, and one would open")
def argon2id_too_much_in_all(vault: VaultBuilder) -> None:
    vault.key_file = b"a passphrase"
    own = other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))
    costly = [own.changed(passes=10, memory=8 << 20, salt=vault.random.take(16)) for _ in range(10)]
    vault.slots = [own, *costly]
    with_header(vault, lambda header: None)


@catalogue.damaged("the first slot opens, and the limits of the second are out of bounds: none is tried")
def argon2id_limits_behind_a_sound_slot(vault: VaultBuilder) -> None:
    vault.key_file = b"a passphrase"
    own = other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))
    vault.slots = [own, own.changed(passes=0, salt=vault.random.take(16))]
    with_header(vault, lambda header: None)
