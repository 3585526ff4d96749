"""Records of the access log."""

import os

import nacl.bindings

from .primitives import counted, siphash, u32, u64, varint


def record(
    vault_id: bytes, key: bytes, number: int, previous: bytes, name: str, time: int = 0, started: str = ""
) -> bytes:
    content = u64(number) + previous + varint(time) + varint(1000) + varint(4711)
    content += b"".join(counted(text.encode()) for text in (name, "get", "/usr/bin/python3", started))
    size = -(-(16 + 24 + 16 + len(content)) // 64) * 64
    frame = b"vacc" + u32(size)
    padded = content.ljust(size - 16 - 24 - 16, b"\0")
    while True:
        nonce = os.urandom(24)
        box = nacl.bindings.crypto_secretbox(padded, nonce, key)
        if box[-1] != 0:
            return frame + siphash(frame, vault_id) + nonce + box


def authenticator(record: bytes) -> bytes:
    return record[40:56]
