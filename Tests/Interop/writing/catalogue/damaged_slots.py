"""Key slots that fail, each for one reason; the key file itself is sound, and so is the identity."""

from ..builder import VaultBuilder
from ..keys import Slot, other_file_slot, passphrase_and_key_file_slot, passphrase_slot
from ..vector import Catalogue
from .damaged_headers import with_header
from .sound_slots import PASSPHRASE, another_recipients_slot, for_recipient, salt_and_nonce

catalogue = Catalogue()


@catalogue.damaged("the salt of a slot that is passed over has a bit flipped: the MAC does not match")
def header_other_slot_flipped(vault: VaultBuilder) -> None:
    vault.slots.append(other_file_slot(b"other", vault.random.take(16), vault.random.take(24)))
    with_header(vault, lambda header: None).flip_in_both_headers(256 + 112 + 8)


@catalogue.damaged("a slot of the unknown kind 77 with a reserved byte that is 1")
def slot_of_unknown_kind_reserved(vault: VaultBuilder) -> None:
    slot = Slot(77, vault.secret, vault.random.take(16), vault.random.take(24))
    vault.slots.append(slot.changed(reserved=b"\x01" + bytes(2)))
    with_header(vault, lambda header: None)


@catalogue.damaged("the slot of a recipient, which the key file passes over, with its last reserved byte 1")
def recipient_slot_reserved(vault: VaultBuilder) -> None:
    vault.slots.insert(0, another_recipients_slot(vault).changed(reserved=bytes(2) + b"\x01"))
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


@catalogue.damaged("the slot of a recipient says 1 pass over 8 KiB, which it does not need")
def recipient_slot_with_limits(vault: VaultBuilder) -> None:
    vault.slots.append(another_recipients_slot(vault).changed(passes=1, memory=8192))
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


@catalogue.damaged("two slots have the same salt; the first one opens")
def slots_of_one_salt(vault: VaultBuilder) -> None:
    own = vault.slots[0]
    vault.slots.append(other_file_slot(b"other", own.salt, vault.random.take(24)))
    with_header(vault, lambda header: None)


# Passphrases and recipients


@catalogue.damaged("Argon2id with 11 passes in a slot for a passphrase; another one would open")
def passphrase_with_11_passes(vault: VaultBuilder) -> None:
    vault.key_file, vault.passphrase = None, PASSPHRASE
    own = passphrase_slot(PASSPHRASE, *salt_and_nonce(vault))
    vault.slots = [own, own.changed(passes=11, salt=vault.random.take(16))]
    with_header(vault, lambda header: None)


@catalogue.locked("the passphrase has an end of line, and is another one without it")
def passphrase_with_a_line_end(vault: VaultBuilder) -> None:
    vault.key_file, vault.passphrase = None, f"{PASSPHRASE}\n"
    vault.slots = [passphrase_slot(PASSPHRASE, *salt_and_nonce(vault))]
    with_header(vault, lambda header: None)


@catalogue.locked("the passphrase is right, and the key file beside it is another vault's")
def passphrase_with_another_key_file(vault: VaultBuilder) -> None:
    vault.passphrase = PASSPHRASE
    vault.slots = [passphrase_and_key_file_slot(PASSPHRASE, vault.secret, *salt_and_nonce(vault))]
    with_header(vault, lambda header: None).key_file = VaultBuilder("some other vault").key_file


@catalogue.locked("the key file is right, and the passphrase that belongs to it is missing")
def key_file_without_its_passphrase(vault: VaultBuilder) -> None:
    vault.slots = [passphrase_and_key_file_slot(PASSPHRASE, vault.secret, *salt_and_nonce(vault))]
    with_header(vault, lambda header: None)


@catalogue.locked("the identity is that of another recipient")
def recipient_with_another_identity(vault: VaultBuilder) -> None:
    with_header(for_recipient(vault), lambda header: None)
    vault.identity, vault.file_key = vault.random.take(32), None


@catalogue.locked("the identity opens a vault whose fingerprint is not the one that its owner knows", inferred=True)
def recipient_of_a_vault_of_anyone(vault: VaultBuilder) -> None:
    with_header(for_recipient(vault), lambda header: None)
    vault.known_fingerprint = vault.random.take(16)


# Parameters


def misplaced(name: str, note: str, offsets: list[tuple[int, int]], area: bytes) -> None:
    """The slots state these offsets and lengths of their parameters; the first slot opens."""

    def build(vault: VaultBuilder) -> None:
        def edit(header: bytearray) -> None:
            header[2048 : 2048 + len(area)] = area

        vault.slots += [other_file_slot(b"other", *salt_and_nonce(vault)) for _ in offsets[1:]]
        stated = zip(vault.slots, offsets, strict=True)
        vault.slots = [slot.changed(offset=offset, length=length) for slot, (offset, length) in stated]
        with_header(vault, edit)

    build.__name__ = name
    catalogue.damaged(note)(build)


misplaced("slot_parameters_behind_a_gap", "a byte lies between two slots' parameters", [(0, 5), (6, 5)], b"first other")
misplaced("slot_parameters_overlapping", "two slots' parameters share a byte", [(0, 5), (4, 5)], b"firstther")
misplaced("slot_parameters_out_of_order", "those of the second slot come first", [(5, 5), (0, 5)], b"otherfirst")
misplaced("slot_parameters_beyond_their_area", "parameters reach one byte into the MAC", [(0, 1985)], b"c" * 1984)
misplaced("slot_parameters_with_bytes_behind", "a byte behind the last parameters is 1", [(0, 5)], b"first\x01")
misplaced("slot_parameters_of_no_bytes", "a slot has an offset of parameters, and none", [(0, 5), (5, 0)], b"first")


@catalogue.damaged("a slot for a key file has parameters that are not UTF-8")
def slot_command_not_utf8(vault: VaultBuilder) -> None:
    vault.slots = [vault.slots[0].changed(parameters=b"cat caf\xe9")]
    with_header(vault, lambda header: None)


@catalogue.damaged("a slot for a passphrase has parameters", inferred=True)
def passphrase_with_parameters(vault: VaultBuilder) -> None:
    vault.slots.append(passphrase_slot(PASSPHRASE, *salt_and_nonce(vault)).changed(parameters=b"pinentry"))
    with_header(vault, lambda header: None)
