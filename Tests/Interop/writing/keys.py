"""Key files, and the key slots that they open."""

from dataclasses import dataclass, replace

import nacl.bindings

from .primitives import hash256, seal, u64


def key_line(secret: bytes, upper: bool = False) -> str:
    key, checksum = secret.hex(), hash256(b"vault-key-1-" + secret)[:4].hex()
    line = f"vault-key-1-{key}-{checksum}"
    return line.upper() if upper else line


def generated_key_file(secret: bytes) -> bytes:
    return f"# vault key file: made for tests, it protects nothing\n{key_line(secret)}\n".encode()


@dataclass(frozen=True)
class Slot:
    """A key slot before it is wrapped around a data key; `reserved` and `trailing` are zero in a sound one."""

    kind: int
    secret: bytes
    salt: bytes
    nonce: bytes
    passes: int = 0
    memory: int = 0
    reserved: bytes = bytes(7)
    trailing: bytes = bytes(32)
    final: bytes = bytes(16)

    def sealed(self, data_key: bytes) -> bytes:
        wrapping_key = hash256(f"vault slot {self.kind}".encode() + self.salt, key=self.secret)
        wrapped = seal(data_key, self.nonce, wrapping_key) + self.trailing
        limits = u64(self.passes) + u64(self.memory)
        return bytes([self.kind]) + self.reserved + self.salt + limits + self.nonce + wrapped + self.final

    def changed(self, **fields) -> "Slot":
        return replace(self, **fields)


def generated_slot(secret: bytes, salt: bytes, nonce: bytes) -> Slot:
    return Slot(1, secret, salt, nonce)


def other_file_slot(content: bytes, salt: bytes, nonce: bytes, passes: int = 1, memory: int = 8 << 10) -> Slot:
    """A slot for any other key file; the low limits keep the tests quick."""
    algorithm = nacl.bindings.crypto_pwhash_ALG_ARGON2ID13
    secret = nacl.bindings.crypto_pwhash_alg(32, content, salt, passes, memory, algorithm)
    return Slot(2, secret, salt, nonce, passes, memory)
