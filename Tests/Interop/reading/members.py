"""Who may change the vault: the changes of the members in the manifest, and who has signed each state of a name."""

import itertools
from dataclasses import dataclass, field

from .cursor import Cursor
from .entries import Attributes, EarlierVersion, Entry, StoredVersion
from .errors import Damaged
from .sealing import hash256
from .signatures import DEVICE_SIZE, ID_SIZE, LogPosition, Signature

MOST_CHANGES = 1024
MOST_NAME_BYTES, MOST_RECIPIENT_BYTES = 256, 4096
REMOVAL = 1
STATE, CHANGE = b"vault-state-1", b"vault-member-1"


@dataclass(frozen=True)
class MemberChange:
    """`statement` is what its author has signed."""

    is_removal: bool
    time: int
    name: str
    device: bytes
    recipient: str
    signature: Signature
    statement: bytes

    @property
    def encoded(self) -> bytes:
        return self.statement.removeprefix(CHANGE) + self.signature.encoded

    @property
    def adds_its_author(self) -> bool:
        return not self.is_removal and self.signature.author == self.device[:ID_SIZE]


@dataclass(frozen=True)
class Author:
    """Who has signed a state, knowing the history up to the number `seen`.

    `name` is the device's text if it never was a member's. `was_member` is False then, and if the author knew of its
    own removal.
    """

    name: str
    was_member: bool
    seen: int


@dataclass
class Standing:
    """What the changes say of a device that is named in them."""

    device: bytes
    name: str | None = None
    removed: LogPosition | None = None

    @property
    def is_member(self) -> bool:
        return self.name is not None and self.removed is None


@dataclass
class Members:
    """The devices by their ids. In a vault without members there are none."""

    vault_id: bytes
    changes: list[MemberChange] = field(default_factory=list)
    standings: dict[bytes, Standing] = field(default_factory=dict)

    def add(self, change: MemberChange) -> None:
        """Takes the next change into account; `Damaged` unless a known device has signed it."""
        author = self.standings.get(change.signature.author)
        if author is None and not change.adds_its_author:
            raise Damaged("members: unknown author", "the manifest")
        if not change.signature.holds(change.statement, self.vault_id, author.device if author else change.device):
            raise Damaged("members: signature", "the manifest")
        counts = author.is_member if author else not self.changes
        self.changes.append(change)
        device = self.standings.setdefault(change.device[:ID_SIZE], Standing(change.device))
        # Of two devices with one id, the first one is known by it.
        if not counts or device.device != change.device:
            return
        if change.is_removal:
            device.removed = change.signature.seen
        elif not device.is_member and self.may_add(change.name, author):
            device.name, device.removed = change.name, None

    def may_add(self, name: str, author: Standing | None) -> bool:
        """Nobody gets into another member's name."""
        taken = any(each.is_member and each.name == name for each in self.standings.values())
        return not taken or author is not None and author.name == name

    @property
    def present(self) -> list[tuple[str, bytes]]:
        """The names and devices of the members."""
        return [(each.name, each.device) for each in self.standings.values() if each.name and each.is_member]

    def author(self, statement: bytes, signature: Signature | None, what: str) -> Author | None:
        if signature is None:
            return None
        standing = self.standings.get(signature.author)
        if standing is None:
            raise Damaged("signature: unknown author", what)
        if not signature.holds(statement, self.vault_id, standing.device):
            raise Damaged("signature: does not hold", what)
        is_late = standing.removed is not None and standing.removed.sequence <= signature.seen.sequence
        was_member = standing.name is not None and not is_late
        return Author(standing.name or device_text(standing.device), was_member, signature.seen.sequence)

    def authors(self, entry: Entry, contents: dict[StoredVersion, bytes]) -> list[Author | None]:
        """Of the entry's state and of its earlier versions; `Damaged` for a signature that does not hold."""
        what = f"the signature of {entry.name.decode()!r}"
        state = state_statement(entry.name, entry, contents)
        earlier = [(state_statement(entry.name, old, contents), old.signature) for old in entry.earlier]
        return [self.author(*signed, what) for signed in [(state, entry.signature), *earlier]]


def read_members(changes: list[MemberChange], vault_id: bytes) -> Members:
    members = Members(vault_id)
    for change in changes:
        members.add(change)
    return members


def read_changes(cursor: Cursor) -> list[MemberChange]:
    changes = [read_change(cursor) for _ in range(cursor.varint("members", 1, MOST_CHANGES))]
    if any(first.time > second.time for first, second in itertools.pairwise(changes)):
        raise cursor.fail("members: order")
    return changes


def read_change(cursor: Cursor) -> MemberChange:
    start = cursor.place
    flags, time = cursor.fixed(1, "members"), cursor.varint("members")
    if flags & ~REMOVAL:
        raise cursor.fail("members: reserved")
    name, device = cursor.text("members", 0, MOST_NAME_BYTES), cursor.take(DEVICE_SIZE, "members")
    recipient = cursor.text("members", 0, MOST_RECIPIENT_BYTES)
    statement = CHANGE + cursor.data[start : cursor.place]
    return MemberChange(flags == REMOVAL, time, name, device, recipient, Signature.read(cursor), statement)


def state_statement(name: bytes, state: Entry | EarlierVersion, contents: dict[StoredVersion, bytes]) -> bytes:
    """What the author of a state signs, apart from the vault, the device and the log position."""
    start = STATE + counted(name) + varint(state.modified)
    if state.version is None:
        return start + b"\x01"
    value = bytes([state.version.kind]) + hash256(contents[state.version])
    return start + b"\x00" + value + varint(state.expiry or 0) + encoded(state.attributes)


def encoded(attributes: Attributes) -> bytes:
    pairs = b"".join(counted(key.encode()) + counted(text.encode()) for key, text in attributes)
    return varint(len(attributes)) + pairs


def counted(data: bytes) -> bytes:
    return varint(len(data)) + data


def varint(number: int) -> bytes:
    groups = [number >> shift & 0x7F for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])


def device_text(device: bytes) -> str:
    """As people pass it on."""
    return f"vault-device-1-{device.hex()}-{hash256(b'vault-device-1-' + device)[:4].hex()}"
