"""The access log: which values were read on a machine. Damage is told by its place; the rest is read all the same."""

import hashlib
from dataclasses import dataclass, field

import nacl.bindings

from .cursor import Cursor
from .errors import Damaged
from .sealing import NONCE_SIZE, TAG_SIZE, open_box
from .vault import Vault

MAGIC = b"vacc"
FRAME_SIZE = 16
HEAD_SIZE = FRAME_SIZE + NONCE_SIZE
ALIGNMENT, LARGEST = 64, 4096
MOST_NAME, MOST_COMMAND, MOST_PROGRAM = 1024, 64, 1024


@dataclass(frozen=True)
class Access:
    number: int
    previous: bytes
    time: int
    user: int
    process: int
    name: str
    command: str
    program: str
    started: str
    authenticator: bytes
    size: int


@dataclass
class AccessLog:
    accesses: list[Access] = field(default_factory=list)
    # The places of what does not open, or does not follow.
    damage: list[int] = field(default_factory=list)


def log_name(vault_id: bytes) -> str:
    return f"{vault_id.hex()}.access"


def access_key(memory_key: bytes) -> bytes:
    salt = (1).to_bytes(16, "little")
    return hashlib.blake2b(b"", digest_size=32, key=memory_key, salt=salt, person=b"vltaccs1").digest()


def keys_of(vault: Vault) -> list[bytes]:
    return [access_key(key) for key in (vault.keys.memory, *reversed(vault.manifest.former_memory_keys))]


def read_log(data: bytes, vault: Vault) -> AccessLog:
    vault_id, keys = vault.header.vault_id, keys_of(vault)
    log, offset, last = AccessLog(), 0, None
    while offset < len(data):
        access = read_record(data, offset, vault_id, keys)
        if access is None:
            behind = range(offset + ALIGNMENT, len(data), ALIGNMENT)
            following = next((other for other in behind if read_record(data, other, vault_id, keys)), None)
            if following is not None or is_damage(data[offset:], vault_id):
                log.damage.append(offset)
            if following is None:
                break
            offset, last = following, None
            continue
        if last is not None and (access.number, access.previous) != (last.number + 1, last.authenticator):
            log.damage.append(offset)
        log.accesses.append(access)
        offset, last = offset + access.size, access
    return log


def size_of_record(data: bytes, vault_id: bytes) -> int | None:
    """What the frame says, if it holds."""
    if len(data) < FRAME_SIZE or not data.startswith(MAGIC):
        return None
    if nacl.bindings.crypto_shorthash_siphash24(data[:8], vault_id) != data[8:16]:
        return None
    size = int.from_bytes(data[4:8], "little")
    return size if 0 < size <= LARGEST and size % ALIGNMENT == 0 else None


def read_record(data: bytes, offset: int, vault_id: bytes, keys: list[bytes]) -> Access | None:
    rest = data[offset : offset + LARGEST]
    size = size_of_record(rest, vault_id)
    if size is None or size > len(rest):
        return None
    nonce, box = rest[FRAME_SIZE:HEAD_SIZE], rest[HEAD_SIZE:size]
    for key in keys:
        try:
            return parsed(open_box(box, nonce, key, "access: box", "the access log"), box[:TAG_SIZE], size)
        except Damaged:
            continue
    return None


def parsed(content: bytes, authenticator: bytes, size: int) -> Access:
    cursor = Cursor(content, "the access log")
    number, previous = cursor.fixed(8, "number"), cursor.take(16, "previous")
    time, user, process = (cursor.varint(name) for name in ("time", "user", "process"))
    name, command = cursor.text("name", 0, MOST_NAME), cursor.text("command", 0, MOST_COMMAND)
    program, started = (cursor.text(name, 0, MOST_PROGRAM) for name in ("program", "started"))
    cursor.finish_padding("access")
    return Access(number, previous, time, user, process, name, command, program, started, authenticator, size)


def is_damage(rest: bytes, vault_id: bytes) -> bool:
    """Of bytes behind the last record: whether they are more than zeros and one torn record."""
    if not any(rest):
        return False
    size = size_of_record(rest, vault_id)
    is_whole = size is not None and size <= len(rest) and rest[size - 1] != 0
    return len(rest) > LARGEST or is_whole
