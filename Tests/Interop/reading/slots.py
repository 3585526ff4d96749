"""The table of key slots in the header, and the area of their parameters."""

from dataclasses import dataclass

from .credentials import PASSPHRASE, PASSPHRASE_AND_KEY_FILE, STRETCHED_KINDS, Credentials, Slot
from .cursor import Cursor
from .errors import Damaged
from .keyfile import GENERATED, OTHER
from .sealing import open_box

SLOT_SIZE, MOST_SLOTS = 112, 16
SLOTS_OFFSET, PARAMETERS_OFFSET, PARAMETERS_END = 256, 2048, 4032
KINDS_WITHOUT_ARGON2ID = (1, 5)
PASSES = range(1, 11)
LARGEST_COST = 768 << 20
MEMORY = range(8 << 10, LARGEST_COST + 1)


@dataclass(frozen=True)
class KeySlot(Slot):
    nonce: bytes
    wrapped: bytes

    def data_key(self, credentials: Credentials) -> bytes | None:
        """The vault's data key, or None if this slot is not for these credentials."""
        wrapping_key = credentials.wrapping_key(self)
        if wrapping_key is None:
            return None
        try:
            return open_box(self.wrapped, self.nonce, wrapping_key, "wrapped data key: box", "a key slot")
        except Damaged:
            return None


def read_slots(header: bytes, count: int) -> list[KeySlot]:
    """The slots with their parameters, which follow each other from the start of their area."""
    end = SLOTS_OFFSET + count * SLOT_SIZE
    if any(header[end:PARAMETERS_OFFSET]):
        raise Damaged("header: reserved")
    area, used, slots = header[PARAMETERS_OFFSET:PARAMETERS_END], 0, []
    for start in range(SLOTS_OFFSET, end, SLOT_SIZE):
        slots.append(read_slot(header[start : start + SLOT_SIZE], area, used))
        used += len(slots[-1].parameters)
    if any(area[used:]):
        raise Damaged("slot parameters: zeros behind")
    if len({slot.salt for slot in slots}) < count:
        raise Damaged("key slots: same salt")
    return slots


def read_slot(data: bytes, area: bytes, used: int) -> KeySlot:
    """A slot, whose parameters have to begin behind the `used` bytes of their area."""
    cursor = Cursor(data, "a key slot")
    kind, reserved = cursor.fixed(1, "kind"), cursor.take(1, "reserved")
    offset, length = cursor.fixed(2, "offset"), cursor.fixed(2, "length")
    if any(reserved + cursor.take(2, "reserved")):
        raise cursor.fail("key slot: reserved")
    if offset != (used if length else 0):
        raise cursor.fail("slot parameters: offset")
    if offset + length > len(area):
        raise cursor.fail("slot parameters: bounds")
    salt, passes, memory = cursor.take(16, "salt"), cursor.fixed(8, "passes"), cursor.fixed(8, "memory")
    if kind in KINDS_WITHOUT_ARGON2ID and (passes or memory):
        raise cursor.fail("Argon2id limits: not zero")
    parameters = area[offset : offset + length]
    check_parameters(kind, parameters)
    return KeySlot(kind, salt, passes, memory, parameters, cursor.take(24, "nonce"), cursor.take(48, "wrapped"))


def check_parameters(kind: int, parameters: bytes) -> None:
    """A key file's are a command, a passphrase has none. Those of a recipient concern only who has its identity."""
    if kind in (PASSPHRASE, PASSPHRASE_AND_KEY_FILE) and parameters:
        raise Damaged("slot parameters: of a passphrase")
    if kind in (GENERATED, OTHER):
        Cursor(parameters, "a key slot").decoded(len(parameters), "slot parameters")


def check_limits(slots: list[KeySlot], credentials: Credentials) -> None:
    """`Damaged` if the slots of a kind that is tried ask for too much or too little work."""
    for kind in credentials.kinds.intersection(STRETCHED_KINDS):
        stretched = [slot for slot in slots if slot.kind == kind]
        if any(slot.passes not in PASSES or slot.memory not in MEMORY for slot in stretched):
            raise Damaged("Argon2id limits: bounds")
        if sum(slot.passes * slot.memory for slot in stretched) > LARGEST_COST:
            raise Damaged("Argon2id limits: sum")
