"""Files of the rollback memory."""

from .primitives import counted, hash256, siphash, u32, u64


def seen_file(
    vault_id: bytes, sequence: int, authenticator: bytes, memory_key: bytes, is_flushed: bool = True
) -> bytes:
    memory = coded(b"vltseen1" + vault_id + u64(sequence) + authenticator + u64(is_flushed), memory_key)
    return memory + siphash(memory, bytes(16))


def path_file(vault_id: bytes, path: str, memory_key: bytes, fingerprint: bytes = bytes(16)) -> bytes:
    checked = b"vltpath1" + vault_id + fingerprint
    return coded(checked + siphash(checked, bytes(16)) + bytes(8), memory_key, path.encode())


def upkeep_file(
    vault_id: bytes, origin: bytes, retry_at: int, memory_key: bytes, is_damage: bool, words: str
) -> bytes:
    text = counted(words.encode())
    start = b"vltkeep1" + vault_id + origin + u64(retry_at) + bytes([is_damage]) + u32(0)
    return coded(start + text + bytes(128 - len(text)), memory_key)


def members_file(vault_id: bytes, changes: list[bytes], memory_key: bytes, count: int | None = None) -> bytes:
    """`count` is stated in place of that of the changes."""
    start = b"vltmemb1" + vault_id + u64(len(changes) if count is None else count)
    return coded(start + b"".join(changes) + bytes(2048 - 16 * len(changes)), memory_key)


def heads_file(
    vault_id: bytes, heads: list[tuple[int, bytes]], memory_key: bytes, count: int | None = None
) -> bytes:
    """`count` is stated in place of that of the heads."""
    start = b"vltheads" + vault_id + u64(len(heads) if count is None else count)
    positions = b"".join(u64(sequence) + authenticator for sequence, authenticator in heads)
    return coded(start + positions + bytes(24_576 - len(positions)), memory_key)


def coded(content: bytes, memory_key: bytes, context: bytes = b"") -> bytes:
    return content + hash256(content + context, key=memory_key)
