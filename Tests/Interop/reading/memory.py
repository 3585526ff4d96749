"""The rollback memory: what a machine has seen of a vault. A file that is no memory is None."""

import hashlib
import hmac
import os
from dataclasses import dataclass

import nacl.bindings

from .cursor import Cursor
from .errors import Damaged
from .sealing import hash256
from .signatures import LogPosition
from .vault import Vault

SEEN, PATH, UPKEEP, MEMBERS, HEADS = b"vltseen1", b"vltpath1", b"vltkeep1", b"vltmemb1", b"vltheads"
CODE_SIZE = 32
FILE_SIZE, UPKEEP_SIZE, MEMBERS_SIZE, HEADS_SIZE = 88, 213, 2112, 24_640
MOST_WORDS = 127


@dataclass(frozen=True)
class Seen:
    sequence: int
    authenticator: bytes
    is_flushed_by_writer: bool


@dataclass(frozen=True)
class PathRecord:
    """`fingerprint` is None if another vault wrote the record: only its key could tell."""

    vault_id: bytes
    fingerprint: bytes | None


@dataclass(frozen=True)
class Upkeep:
    origin: bytes
    retry_at: int
    is_damage: bool
    system_error: int
    words: str


def seen_name(vault_id: bytes) -> str:
    return f"{vault_id.hex()}.seen"


def path_name(path: str) -> str:
    return f"{hashlib.blake2b(path.encode(), digest_size=16).hexdigest()}.path"


def upkeep_name(vault_id: bytes) -> str:
    return f"{vault_id.hex()}.upkeep"


def members_name(vault_id: bytes) -> str:
    return f"{vault_id.hex()}.members"


def heads_name(vault_id: bytes) -> str:
    return f"{vault_id.hex()}.heads"


def read_seen(data: bytes, vault_id: bytes, memory_key: bytes) -> Seen | None:
    cursor = body(data, SEEN, vault_id, memory_key)
    if cursor is None:
        return None
    return Seen(cursor.fixed(8, "sequence number"), cursor.take(16, "authenticator"), cursor.fixed(8, "flushed") == 1)


def read_seen_of(data: bytes, vault: Vault) -> Seen | None:
    """The position that was seen of this vault, under its memory subkey or one that it had before."""
    keys = (vault.keys.memory, *vault.manifest.former_memory_keys)
    found = (read_seen(data, vault.header.vault_id, key) for key in keys)
    return next((seen for seen in found if seen is not None), None)


def is_part_of(seen: Seen | LogPosition, vault: Vault) -> bool:
    """Whether nothing tells that the vault was rolled back behind the position, or has diverged before it."""
    newest = vault.log.records[-1].sequence if vault.log.records else vault.header.sequence
    chain, merged = vault.manifest.chain, vault.manifest.merged
    known = dict(zip(range(vault.header.sequence - len(chain), vault.header.sequence), chain, strict=True))
    known[vault.header.sequence] = vault.header.authenticator
    known |= {record.sequence: record.authenticator for record in vault.log.records}
    if seen.sequence in known or seen.sequence > newest:
        return known.get(seen.sequence) == seen.authenticator
    positions = [(position.sequence, position.authenticator) for position in merged]
    is_told = positions and positions[0][0] <= seen.sequence <= positions[-1][0]
    return not is_told or (seen.sequence, seen.authenticator) in positions


def is_whole(data: bytes) -> bool:
    """Whether the check behind `.seen` matches, which needs no key."""
    return nacl.bindings.crypto_shorthash_siphash24(data[:FILE_SIZE], bytes(16)) == data[FILE_SIZE : FILE_SIZE + 8]


def read_path(data: bytes, path: str, vault_id: bytes, memory_key: bytes) -> PathRecord | None:
    if len(data) < FILE_SIZE or not data.startswith(PATH):
        return None
    if nacl.bindings.crypto_shorthash_siphash24(data[:40], bytes(16)) != data[40:48]:
        return None
    found = data[8:24]
    if found != vault_id:
        return PathRecord(found, None)
    cursor = body(data, PATH, vault_id, memory_key, context=path.encode())
    return PathRecord(found, cursor.take(16, "fingerprint")) if cursor else None


def read_upkeep(data: bytes, vault_id: bytes, memory_key: bytes) -> Upkeep | None:
    cursor = body(data, UPKEEP, vault_id, memory_key, size=UPKEEP_SIZE)
    if cursor is None:
        return None
    origin, retry_at = cursor.take(16, "origin"), cursor.fixed(8, "sequence number")
    is_damage, system_error = cursor.fixed(1, "damage") == 1, cursor.fixed(4, "errno")
    try:
        return Upkeep(origin, retry_at, is_damage, system_error, cursor.text("words", 0, MOST_WORDS))
    except Damaged:
        return None


def read_members(data: bytes, vault_id: bytes, memory_key: bytes) -> list[bytes] | None:
    """The ids of the first change of the members and of the removals that were seen."""
    cursor = body(data, MEMBERS, vault_id, memory_key, size=MEMBERS_SIZE)
    if cursor is None:
        return None
    try:
        return [cursor.take(16, "members seen") for _ in range(cursor.fixed(8, "members seen"))]
    except Damaged:
        return None


def read_heads(data: bytes, vault_id: bytes, memory_key: bytes) -> list[tuple[int, bytes]] | None:
    """What a vault in git was seen to end with, oldest first."""
    cursor = body(data, HEADS, vault_id, memory_key, size=HEADS_SIZE)
    if cursor is None:
        return None
    try:
        count = cursor.fixed(8, "heads")
        return [(cursor.fixed(8, "sequence number"), cursor.take(16, "authenticator")) for _ in range(count)]
    except Damaged:
        return None


def body(
    data: bytes, magic: bytes, vault_id: bytes, memory_key: bytes, size: int = FILE_SIZE, context: bytes = b""
) -> Cursor | None:
    """The fields between the vault id and the code."""
    checked, code = data[: size - CODE_SIZE], data[size - CODE_SIZE : size]
    if len(data) < size or not checked.startswith(magic + vault_id):
        return None
    if not hmac.compare_digest(hash256(checked + context, key=memory_key), code):
        return None
    return Cursor(checked, "the memory", len(magic + vault_id))


def fingerprint(origin: bytes, file: os.stat_result, folder: os.stat_result) -> bytes:
    """Of a vault file whose header has the authenticator `origin`, and of the folder that it is in."""
    identities = (file.st_dev, file.st_ino, folder.st_dev, folder.st_ino, folder.st_mtime_ns % 2**64)
    numbers = b"".join(number.to_bytes(8, "little") for number in identities)
    return hashlib.blake2b(origin + numbers, digest_size=16).digest()
