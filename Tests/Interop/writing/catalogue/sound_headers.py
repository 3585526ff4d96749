"""Headers and manifests with everything that they may say; for the slots, see sound_slots.py."""

from ..age import recipient_text
from ..builder import VaultBuilder
from ..changes import CheckpointChanges
from ..entries import put
from ..primitives import counted, varint
from ..vector import Catalogue
from .sound_slots import another_recipients_slot

catalogue = Catalogue()


@catalogue.ok("no entries and no records: the root's offset is 0")
def empty(vault: VaultBuilder) -> None:
    vault.begin()


@catalogue.ok("no entries: the offset and the length of the root are 0, and its nonce says nothing", inferred=True)
def empty_with_a_nonce(vault: VaultBuilder) -> None:
    def edit(header: bytearray) -> None:
        header[56:80] = b"n" * 24

    vault.begin(changes=CheckpointChanges(edit_header=edit))


@catalogue.ok("the limits of the history at their largest: 255 versions, 2^32 - 1 days")
def history_of_255_versions(vault: VaultBuilder) -> None:
    vault.history = (255, 2**32 - 1)
    vault.stated["history"] = list(vault.history)
    vault.begin([put("a")]).set(put("b"))


@catalogue.ok("reads are to be recorded")
def access_logged(vault: VaultBuilder) -> None:
    vault.is_access_logged = True
    vault.stated["is_access_logged"] = True
    vault.begin([put("a")]).set(put("b"))


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

    def edit(content: bytes) -> bytes:
        return content[:-4] + settings + content[-3:]

    vault.begin([put("a")], changes=CheckpointChanges(edit_manifest=edit))


@catalogue.ok("the label of a key slot has 256 bytes")
def label_of_256_bytes(vault: VaultBuilder) -> None:
    def edit(content: bytes) -> bytes:
        return content.replace(counted(b"slot 0"), counted(b"l" * 256))

    vault.begin([put("a")], changes=CheckpointChanges(edit_manifest=edit))


@catalogue.ok("the labels of two recipients have public keys, one of 4,096 bytes, and that of a key file has none")
def labels_of_recipients(vault: VaultBuilder) -> None:
    identity = vault.random.take(32)
    vault.slots = [another_recipients_slot(vault, identity), *vault.slots, another_recipients_slot(vault)]
    vault.recipients = {0: recipient_text(identity), 2: "age1tag" + "q" * 4089}
    vault.stated["recipients"] = [vault.recipients[0], "", vault.recipients[2]]
    vault.begin([put("a")])


@catalogue.ok("as nine rotations of the data key leave it: in the manifest are the memory keys before its own")
def former_memory_keys(vault: VaultBuilder) -> None:
    vault.sequence = 20
    vault.former_memory_keys = [vault.random.take(32) for _ in range(9)]
    vault.stated["former_memory_keys"] = [key.hex() for key in vault.former_memory_keys]
    vault.begin([put("a")]).set(put("b"))


@catalogue.ok("as the removal of 256 keys leaves it: they are named in the manifest")
def removed_keys(vault: VaultBuilder) -> None:
    vault.removed_keys = [vault.random.take(16) for _ in range(256)]
    vault.stated["removed_keys"] = [key.hex() for key in vault.removed_keys]
    vault.begin([put("a")]).set(put("b"))


@catalogue.ok("as a merge leaves it: log positions of both histories, two with the same number, and a new chain")
def merged(vault: VaultBuilder) -> None:
    vault.sequence = 12
    vault.chain = [vault.random.take(16) for _ in range(2)]
    vault.merged = [(number, vault.random.take(16)) for number in (5, 6, 6, 9)]
    vault.stated["merged"] = [[number, authenticator.hex()] for number, authenticator in vault.merged]
    vault.begin([put("a")]).set(put("b"))
