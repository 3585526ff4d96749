"""Headers that open: every kind of slot, and slots that a reader passes over."""

from ..builder import VaultBuilder
from ..changes import CheckpointChanges
from ..entries import put
from ..keys import Slot, generated_slot, other_file_slot
from ..primitives import counted, varint
from ..vector import Catalogue

catalogue = Catalogue()


def unknown_slot(vault: VaultBuilder, kind: int) -> Slot:
    return Slot(kind, vault.random.take(32), vault.random.take(16), vault.random.take(24))


@catalogue.ok("no entries and no records: the root's place is 0")
def empty(vault: VaultBuilder) -> None:
    vault.begin()


@catalogue.ok("the key file is any other file, through Argon2id at the lowest limits")
def slot_argon2id(vault: VaultBuilder) -> None:
    vault.key_file = b"correct horse battery staple\n"
    vault.slots = [other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))]
    vault.begin().set(put("token", "behind Argon2id"))


@catalogue.ok("Argon2id with 3 passes over 1 MiB; the key file is binary and holds zeros")
def slot_argon2id_binary(vault: VaultBuilder) -> None:
    vault.key_file = bytes(range(256)) * 20
    vault.slots = [other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24), 3, 1 << 20)]
    vault.begin([put("token", "behind Argon2id")])


@catalogue.ok("two slots for generated key files; the second opens")
def slot_second_of_two(vault: VaultBuilder) -> None:
    other = generated_slot(vault.random.take(32), vault.random.take(16), vault.random.take(24))
    vault.slots = [other, *vault.slots]
    vault.begin([put("token")])


@catalogue.ok("16 slots; the last opens")
def slot_last_of_sixteen(vault: VaultBuilder) -> None:
    others = [generated_slot(vault.random.take(32), vault.random.take(16), vault.random.take(24)) for _ in range(15)]
    vault.slots = others + vault.slots
    vault.begin([put("token")])


@catalogue.ok("slots for other files before that of the key file; the limits of one count only for such a file")
def slot_argon2id_beside_generated(vault: VaultBuilder) -> None:
    other = other_file_slot(b"some other secret", vault.random.take(16), vault.random.take(24))
    vault.slots = [other, other.changed(passes=11, salt=vault.random.take(16)), *vault.slots]
    vault.begin([put("token")])


@catalogue.ok("a slot of the unknown kind 77 is passed over")
def slot_of_unknown_kind(vault: VaultBuilder) -> None:
    vault.slots = [unknown_slot(vault, 77), *vault.slots]
    vault.begin([put("token")])


@catalogue.ok("slots of the kinds 3, 4 and 5, which a key file alone does not open, are passed over")
def slots_of_reserved_kinds(vault: VaultBuilder) -> None:
    passphrases = [unknown_slot(vault, kind).changed(passes=1, memory=8192) for kind in (3, 4)]
    recipient = unknown_slot(vault, 5).changed(trailing=vault.random.take(32))
    vault.slots = [*passphrases, recipient, *vault.slots]
    vault.begin([put("token")])


@catalogue.ok("as a compaction leaves it: in the manifest are the authenticators of all numbers before the header's")
def chain_in_manifest(vault: VaultBuilder) -> None:
    vault.sequence = 7
    vault.chain = [vault.random.take(16) for _ in range(7)]
    vault.begin([put("a"), put("b")]).set(put("c"))


@catalogue.ok("a header with a sequence number just below 2^62, and records beyond it")
def sequence_near_its_limit(vault: VaultBuilder) -> None:
    vault.sequence = (1 << 62) - 2
    vault.begin([put("token")]).set(put("b")).set(put("c"))


@catalogue.ok("settings in the manifest, which this version does not know")
def settings_in_manifest(vault: VaultBuilder) -> None:
    settings = varint(2) + counted(b"one") + counted(b"1") + counted(b"two") + counted("\u00e9\0".encode() * 40)
    vault.begin([put("a")], changes=CheckpointChanges(edit_manifest=lambda content: content[:-1] + settings))


@catalogue.ok("the label of a key slot has 256 bytes")
def label_of_256_bytes(vault: VaultBuilder) -> None:
    def edit(content: bytes) -> bytes:
        return content.replace(counted(b"slot 0"), counted(b"l" * 256))

    vault.begin([put("a")], changes=CheckpointChanges(edit_manifest=edit))
