"""A vault file under construction: header and checkpoint first, then one record after the other.

Every part takes *changes*; see changes.py.
"""

from collections.abc import Callable, Iterable

from .changes import CheckpointChanges, RecordChanges
from .draft import CHECKPOINT_START, HEADER_SIZE, HINT_OFFSET, MAC_OFFSET, NAME_OFFSET, NAME_SIZE, Draft, WrittenRecord
from .entries import MADE, Entry
from .keys import SLOT_SIZE
from .primitives import counted, hash256, padded, seal, siphash, u32, u64, varint
from .trees import Reference, TreeWriter

SLOTS_OFFSET, PARAMETERS_OFFSET = 256, 2048


class VaultBuilder(Draft):
    """Writes the parts of a file in their order."""

    # Checkpoint and header

    def begin(
        self, entries: Iterable[Entry] = (), cells_per_page: int = 100, levels: int = 1,
        changes: CheckpointChanges | None = None,
    ) -> "VaultBuilder":  # fmt: skip
        """Writes the header and a checkpoint of these entries."""
        changes = changes or CheckpointChanges()
        ordered = sorted(entries, key=lambda entry: entry.name_bytes)
        self.data += bytes(CHECKPOINT_START)
        self.data += self.seal_values(ordered, CHECKPOINT_START)
        self.data += bytes(changes.gap)
        writer = TreeWriter(len(self.data), self.key(2), self.random, cells_per_page, changes.edit_page, levels)
        root = writer.write(changes.arrange([(entry.name_bytes, entry.encoded()) for entry in ordered]))
        self.data += writer.pages
        self.note(ordered)
        manifest = self.seal_manifest(changes.edit_manifest)
        self.data += bytes(changes.gap_at_the_end)
        self.write_header(root, manifest, changes.edit_header)
        self.since = {}
        return self

    def seal_manifest(self, edit: Callable[[bytes], bytes]) -> Reference:
        chain = varint(len(self.chain)) + b"".join(self.chain)
        labels = b"".join(self.label(number) for number in range(len(self.slots)))
        settings, keys = varint(0), varint(len(self.former_memory_keys)) + b"".join(self.former_memory_keys)
        keys += varint(len(self.removed_keys)) + b"".join(self.removed_keys)
        merged = b"".join(varint(sequence) + authenticator for sequence, authenticator in self.merged)
        content = varint(MADE) + self.totals() + chain + labels + settings + keys + varint(len(self.merged)) + merged
        content += self.members.in_manifest
        nonce = self.random.take(24)
        box = seal(padded(edit(content)), nonce, self.key(2))
        reference = Reference(len(self.data), len(box), nonce)
        self.data += box
        return reference

    def label(self, number: int) -> bytes:
        """That of a slot."""
        return varint(MADE) + counted(f"slot {number}".encode()) + counted(self.recipients.get(number, "").encode())

    def write_header(self, root: Reference, manifest: Reference, edit: Callable[[bytearray], None]) -> None:
        header = bytearray(MAC_OFFSET)
        fields = b"\x89VLT\r\n\x1a\n" + u32(1) + u32(len(self.slots)) + self.vault_id + u64(self.sequence)
        fields += root.in_header() + manifest.in_header() + u64(len(self.data))
        fields += u32(self.history[0]) + u32(self.history[1]) + u32(int(self.is_access_logged) + 2 * bool(self.members.encoded))
        header[: len(fields)] = fields
        parameters = b""
        for number, slot in enumerate(self.slots):
            offset = SLOTS_OFFSET + SLOT_SIZE * number
            header[offset : offset + SLOT_SIZE] = slot.sealed(self.data_key, len(parameters))
            parameters += slot.parameters
        header[PARAMETERS_OFFSET : PARAMETERS_OFFSET + len(parameters)] = parameters
        edit(header)
        mac = hash256(bytes(header), key=self.key(4))
        if self.name:
            header[NAME_OFFSET : NAME_OFFSET + NAME_SIZE] = self.bound_name(mac)
        self.data[:MAC_OFFSET] = header
        self.data[MAC_OFFSET:HINT_OFFSET] = mac
        self.data[HEADER_SIZE : HEADER_SIZE + HINT_OFFSET] = self.data[:HINT_OFFSET]
        self.authenticator = self.header_authenticator = bytes(self.data[MAC_OFFSET : MAC_OFFSET + 16])

    # Records

    def set(self, *entries: Entry, changes: RecordChanges | None = None) -> "VaultBuilder":
        """Appends a record with one transaction."""
        return self.append([list(entries)], changes=changes)

    def append(
        self, transactions: list[list[Entry]], changes: RecordChanges | None = None, notice: bool = False
    ) -> "VaultBuilder":
        entries = [entry for transaction in transactions for entry in transaction]

        changes = changes or RecordChanges()

        def index_and_payload(offset: int) -> tuple[bytes, bytes]:
            payload = changes.leading_payload + self.seal_values(entries, offset + len(changes.leading_payload))
            encoded = [varint(len(each)) + b"".join(entry.encoded() for entry in each) for each in transactions]
            return varint(len(transactions)) + b"".join(encoded), payload

        self.note(entries)
        return self.write_record(2 if notice else 0, index_and_payload, changes)

    def notice(self) -> "VaultBuilder":
        return self.append([], notice=True)

    def minor_checkpoint(
        self, *entries: Entry, cells_per_page: int = 100, changes: RecordChanges | None = None
    ) -> "VaultBuilder":
        """Appends a record with a tree over all that was set since the checkpoint, and over `entries`."""
        changes = changes or RecordChanges()
        self.note(entries)
        in_tree = [self.since[name] for name in sorted(self.since)]

        def index_and_payload(offset: int) -> tuple[bytes, bytes]:
            payload = changes.leading_payload + self.seal_values(list(entries), offset + len(changes.leading_payload))
            tree_offset = offset + len(payload)
            writer = TreeWriter(tree_offset, self.key(2), self.random, cells_per_page, changes.edit_page)
            root = writer.write(changes.arrange([(entry.name_bytes, entry.encoded()) for entry in in_tree]))
            count = len(in_tree) if changes.tree_count is None else changes.tree_count
            authenticator = changes.tree_authenticator or self.header_authenticator
            tree = authenticator + changes.tree_root(root).in_units() + varint(count)
            return varint(0) + tree, payload + writer.pages

        return self.write_record(1, index_and_payload, changes)

    def write_record(
        self, flags: int, index_and_payload: Callable[[int], tuple[bytes, bytes]], changes: RecordChanges
    ) -> "VaultBuilder":
        """Seals a record. The index tells places in the payload behind it, so its own length is found by trial."""
        offset, nonce, length = len(self.data), self.random.take(24), 0
        while True:
            payload_offset = offset + 48 + length
            end_of_index, payload = index_and_payload(payload_offset)
            payload += changes.extra_payload
            index = self.index(flags, end_of_index, payload, changes)
            if len(index) + 16 == length:
                break
            length = len(index) + 16
        box = seal(index, nonce, self.key(1))
        frame = changes.edit_frame(b"vrec" + u32(length) + u64(len(payload)))
        self.data += frame + siphash(frame, self.vault_id) + nonce + box + payload
        self.sequence, self.authenticator = self.sequence + 1, box[:16]
        self.records.append(WrittenRecord(offset, len(self.data), self.sequence, payload_offset))
        return self

    def index(self, flags: int, end: bytes, payload: bytes, changes: RecordChanges) -> bytes:
        sequence = self.sequence + 1 if changes.sequence is None else changes.sequence
        start = u64(sequence) + (changes.previous or self.authenticator) + (changes.payload_hash or hash256(payload))
        mark = self.mark() if changes.mark is None else changes.mark
        start += bytes([(flags if changes.flags is None else changes.flags) | (4 if mark else 0)]) + mark
        content = changes.edit_index(start + (changes.totals or self.totals()) + end)
        return changes.edit_padded_index(padded(content))
