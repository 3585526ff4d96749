"""Who may change the vault: the changes of the members in the manifest, and who has signed each state of a name."""

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
    """`statement` is what its author has signed, `known` the ids of the changes that it follows."""

    is_removal: bool
    time: int
    name: str
    device: bytes
    recipient: str
    known: tuple[bytes, ...]
    signature: Signature
    statement: bytes

    @property
    def encoded(self) -> bytes:
        return self.statement.removeprefix(CHANGE) + self.signature.encoded

    @property
    def id(self) -> bytes:
        return hash256(self.encoded)[:16]

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
    """What the changes that count say of a device: the index of the one that added it, and who has it."""

    device: bytes
    name: str
    addition: int
    removed: LogPosition | None = None


@dataclass
class Members:
    """`devices` by their ids: of two with one id the first one that is named. Those who are or were members: `standings`.

    `indices` are those of the changes by their ids; `past` holds for each the indices of all that its author knew.
    """

    vault_id: bytes
    changes: list[MemberChange] = field(default_factory=list)
    indices: dict[bytes, int] = field(default_factory=dict)
    past: list[frozenset[int]] = field(default_factory=list)
    devices: dict[bytes, bytes] = field(default_factory=dict)
    standings: dict[bytes, Standing] = field(default_factory=dict)

    def add(self, change: MemberChange) -> None:
        """Takes the next change in; `Damaged` unless it follows some that are there, and a named device has signed it."""
        identifier, is_first = change.id, not self.changes
        follows = all(known in self.indices for known in change.known)
        if identifier in self.indices or is_first == bool(change.known) or not follows:
            raise Damaged("members: order", "the manifest")
        device = self.devices.get(change.signature.author) or (change.device if change.adds_its_author else None)
        if device is None:
            raise Damaged("members: unknown author", "the manifest")
        if not change.signature.holds(change.statement, self.vault_id, device):
            raise Damaged("members: signature", "the manifest")
        self.devices.setdefault(change.device[:ID_SIZE], change.device)
        self.indices[identifier] = len(self.changes)
        self.changes.append(change)
        parents = {self.indices[known] for known in change.known}
        self.past.append(frozenset(parents.union(*(self.past[parent] for parent in parents))))

    def follow(self) -> None:
        """Finds out who is a member."""
        for index in self.counting():
            change = self.changes[index]
            identifier = change.device[:ID_SIZE]
            known = self.standings.get(identifier)
            if self.devices[identifier] != change.device:
                continue
            if change.is_removal:
                if known and known.addition in self.past[index]:
                    known.removed = change.signature.seen
            elif (known is None or known.removed) and self.may_add(change):
                self.standings[identifier] = Standing(change.device, change.name, index)

    def counting(self) -> list[int]:
        """The indices of the changes that count."""
        valid: set[int] = set()
        for index in range(len(self.changes)):
            if self.may_author(index, valid):
                valid.add(index)
        counting: set[int] = set()
        for index in sorted(valid):
            if self.may_author(index, counting) and not self.is_revoked(index, valid):
                counting.add(index)
        return sorted(counting)

    def may_author(self, index: int, counting: set[int]) -> bool:
        """Whether the author was a member by what it knew, or added itself where nobody was."""
        change, members = self.changes[index], self.members_by(self.past[index] & counting)
        return change.signature.author in members or change.adds_its_author and not members

    def members_by(self, counting: set[int] | frozenset[int]) -> set[bytes]:
        """The devices with an addition that no removal among these knew."""
        additions: dict[bytes, set[int]] = {}
        for index in sorted(counting):
            device = self.changes[index].device
            if self.devices[device[:ID_SIZE]] != device:
                continue
            if self.changes[index].is_removal:
                additions[device] = additions.get(device, set()) - self.past[index]
            else:
                additions.setdefault(device, set()).add(index)
        return {device[:ID_SIZE] for device, left in additions.items() if left}

    def is_revoked(self, index: int, valid: set[int]) -> bool:
        """Whether it is an addition whose author was removed by somebody who did not know it, nor its author that."""
        change = self.changes[index]
        return not change.is_removal and any(
            other.is_removal
            and other.device[:ID_SIZE] == change.signature.author
            and number in valid
            and number not in self.past[index]
            and index not in self.past[number]
            for number, other in enumerate(self.changes)
        )

    def may_add(self, change: MemberChange) -> bool:
        """Nobody gets into another member's name."""
        author = self.standings.get(change.signature.author)
        taken = any(each.name == change.name and not each.removed for each in self.standings.values())
        return not taken or author is not None and author.name == change.name

    @property
    def present(self) -> list[tuple[str, bytes]]:
        """The names and devices of the members."""
        standings = sorted(self.standings.values(), key=lambda each: each.addition)
        return [(each.name, each.device) for each in standings if each.removed is None]

    @property
    def heads(self) -> list[bytes]:
        """The changes that no other one follows."""
        followed = frozenset().union(*self.past)
        return [change.id for index, change in enumerate(self.changes) if index not in followed]

    def author(self, statement: bytes, signature: Signature | None, what: str) -> Author | None:
        if signature is None:
            return None
        device, standing = self.devices.get(signature.author), self.standings.get(signature.author)
        if device is None:
            raise Damaged("signature: unknown author", what)
        if not signature.holds(statement, self.vault_id, device):
            raise Damaged("signature: does not hold", what)
        if standing is None:
            return Author(device_text(device), False, signature.seen.sequence)
        is_late = standing.removed is not None and standing.removed.sequence <= signature.seen.sequence
        return Author(standing.name, not is_late, signature.seen.sequence)

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
    members.follow()
    return members


def read_changes(cursor: Cursor) -> list[MemberChange]:
    return [read_change(cursor) for _ in range(cursor.varint("members", 1, MOST_CHANGES))]


def read_known_to_key(cursor: Cursor, changes: list[MemberChange]) -> list[bytes]:
    known = [cursor.take(16, "known to the key") for _ in range(cursor.varint("known to the key", 0, MOST_CHANGES))]
    if not set(known) <= {change.id for change in changes}:
        raise cursor.fail("known to the key: not there")
    return known


def read_change(cursor: Cursor) -> MemberChange:
    start = cursor.offset
    flags, time = cursor.fixed(1, "members"), cursor.varint("members")
    if flags & ~REMOVAL:
        raise cursor.fail("members: reserved")
    name, device = cursor.text("members", 0, MOST_NAME_BYTES), cursor.take(DEVICE_SIZE, "members")
    recipient = cursor.text("members", 0, MOST_RECIPIENT_BYTES)
    known = tuple(cursor.take(16, "members") for _ in range(cursor.varint("members", 0, MOST_CHANGES)))
    statement = CHANGE + cursor.data[start : cursor.offset]
    return MemberChange(flags == REMOVAL, time, name, device, recipient, known, Signature.read(cursor), statement)


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
