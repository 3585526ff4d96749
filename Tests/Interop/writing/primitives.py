"""Numbers, boxes, hashes, and random bytes that are the same in every run."""

import hashlib

import nacl.bindings


def varint(number: int, needless_bytes: int = 0) -> bytes:
    """Unsigned LEB128; with `needless_bytes` longer than it may be."""
    groups = []
    while True:
        groups.append(number & 0x7F)
        number >>= 7
        if not number:
            break
    groups += [0] * needless_bytes
    return bytes(group | 0x80 for group in groups[:-1]) + bytes([groups[-1]])


def counted(data: bytes) -> bytes:
    return varint(len(data)) + data


def u16(number: int) -> bytes:
    return number.to_bytes(2, "little")


def u32(number: int) -> bytes:
    return number.to_bytes(4, "little")


def u64(number: int) -> bytes:
    return number.to_bytes(8, "little")


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)


def seal(content: bytes, nonce: bytes, key: bytes) -> bytes:
    return nacl.bindings.crypto_secretbox(content, nonce, key)


def hash256(data: bytes, key: bytes = b"") -> bytes:
    return hashlib.blake2b(data, digest_size=32, key=key).digest()


def siphash(data: bytes, key: bytes) -> bytes:
    return nacl.bindings.crypto_shorthash_siphash24(data, key)


def subkey(data_key: bytes, identifier: int) -> bytes:
    """`crypto_kdf_derive_from_key` with the vault's context."""
    salt = identifier.to_bytes(16, "little")
    return hashlib.blake2b(digest_size=32, key=data_key, salt=salt, person=b"vault-01").digest()


class Randomness:
    """Bytes that look random and depend on the seed alone."""

    def __init__(self, seed: str) -> None:
        self.seed = seed.encode()
        self.count = 0

    def take(self, size: int) -> bytes:
        self.count += 1
        blocks = range(-(-size // 64))
        key = hash256(b"vault test vectors " + self.seed)
        return b"".join(hashlib.blake2b(u64(self.count) + u64(block), key=key).digest() for block in blocks)[:size]
