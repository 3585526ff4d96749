"""Key files, and the key slots that they, passphrases and recipients open."""

from dataclasses import dataclass, replace
from typing import Protocol

import nacl.bindings

from .primitives import hash256, seal, u16, u64

SLOT_SIZE = 112
PASSPHRASE, PASSPHRASE_AND_KEY_FILE, RECIPIENT = 3, 4, 5


def key_line(secret: bytes, upper: bool = False) -> str:
    key, checksum = secret.hex(), hash256(b"vault-key-1-" + secret)[:4].hex()
    line = f"vault-key-1-{key}-{checksum}"
    return line.upper() if upper else line


def generated_key_file(secret: bytes) -> bytes:
    return f"# vault key file: made for tests, it protects nothing\n{key_line(secret)}\n".encode()


@dataclass(frozen=True)
class Slot:
    """A key slot before it is wrapped around a data key.

    `behind_the_salt` is what is hashed behind it. `offset` and `length` are stated in place of those of the parameters.
    `reserved` are the bytes behind the kind and behind the length; they are zero in a sound slot.
    """

    kind: int
    secret: bytes
    salt: bytes
    nonce: bytes
    passes: int = 0
    memory: int = 0
    behind_the_salt: bytes = b""
    parameters: bytes = b""
    offset: int | None = None
    length: int | None = None
    reserved: bytes = bytes(3)

    def sealed(self, data_key: bytes, behind: int) -> bytes:
        """The slot whose parameters begin at this place in their area."""
        salted = self.salt + self.behind_the_salt
        wrapping_key = hash256(f"vault slot {self.kind}".encode() + salted, key=self.secret)
        behind = behind if self.parameters else 0
        offset = u16(behind if self.offset is None else self.offset)
        length = u16(len(self.parameters) if self.length is None else self.length)
        start = bytes([self.kind]) + self.reserved[:1] + offset + length + self.reserved[1:]
        limits = u64(self.passes) + u64(self.memory)
        return start + self.salt + limits + self.nonce + seal(data_key, self.nonce, wrapping_key)

    def changed(self, **fields) -> "Slot":
        return replace(self, **fields)


class AnySlot(Protocol):
    """A slot that is sealed for a vault, or bytes of one that stay."""

    kind: int
    parameters: bytes

    def sealed(self, data_key: bytes, behind: int) -> bytes: ...


def generated_slot(secret: bytes, salt: bytes, nonce: bytes) -> Slot:
    return Slot(1, secret, salt, nonce)


def other_file_slot(content: bytes, salt: bytes, nonce: bytes, passes: int = 1, memory: int = 8 << 10) -> Slot:
    """A slot for any other key file; the low limits keep the tests quick."""
    return Slot(2, stretched(content, salt, passes, memory), salt, nonce, passes, memory)


def passphrase_slot(text: str, salt: bytes, nonce: bytes, passes: int = 1, memory: int = 8 << 10) -> Slot:
    return Slot(PASSPHRASE, stretched(text.encode(), salt, passes, memory), salt, nonce, passes, memory)


def passphrase_and_key_file_slot(text: str, file_part: bytes, salt: bytes, nonce: bytes) -> Slot:
    """`file_part` is the key of a generated key file, or the hash of any other one."""
    slot = passphrase_slot(text, salt, nonce)
    return slot.changed(kind=PASSPHRASE_AND_KEY_FILE, behind_the_salt=file_part)


def recipient_slot(file_key: bytes, stanzas: bytes, salt: bytes, nonce: bytes) -> Slot:
    return Slot(RECIPIENT, file_key, salt, nonce, parameters=stanzas)


def stretched(content: bytes, salt: bytes, passes: int, memory: int) -> bytes:
    algorithm = nacl.bindings.crypto_pwhash_ALG_ARGON2ID13
    return nacl.bindings.crypto_pwhash_alg(32, content, salt, passes, memory, algorithm)
