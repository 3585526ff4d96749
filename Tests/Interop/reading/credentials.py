"""What a reader opens key slots with: a key file, a passphrase, an identity."""

from dataclasses import dataclass

import nacl.bindings

from .age import read_identity, read_stanzas, unwrapped_file_key
from .keyfile import GENERATED, OTHER, KeyFile
from .sealing import hash256

PASSPHRASE, PASSPHRASE_AND_KEY_FILE, RECIPIENT = 3, 4, 5
STRETCHED_KINDS = (OTHER, PASSPHRASE, PASSPHRASE_AND_KEY_FILE)


@dataclass(frozen=True)
class Slot:
    """The fields of a key slot that its wrapping key depends on."""

    kind: int
    salt: bytes
    passes: int
    memory: int
    parameters: bytes


@dataclass(frozen=True)
class Credentials:
    """`identity` is an X25519 secret key. `fingerprint` is the one that the reader knows for the vault."""

    key_file: KeyFile | None = None
    passphrase: bytes | None = None
    identity: bytes | None = None
    fingerprint: bytes | None = None

    @classmethod
    def given(
        cls, key_file: bytes | None, passphrase: str | None, identity: str | None, fingerprint: bytes | None
    ) -> "Credentials":
        """`Locked` if the key file or the identity is none."""
        return cls(
            None if key_file is None else KeyFile.parsed(key_file),
            None if passphrase is None else passphrase.encode(),
            None if identity is None else read_identity(identity),
            fingerprint,
        )

    @property
    def kinds(self) -> set[int]:
        """The kinds of slots that they may open."""
        kinds = {self.key_file.slot_kind} if self.key_file else set()
        if self.passphrase is not None:
            kinds |= {PASSPHRASE, PASSPHRASE_AND_KEY_FILE} if self.key_file else {PASSPHRASE}
        return kinds | ({RECIPIENT} if self.identity else set())

    def wrapping_key(self, slot: Slot) -> bytes | None:
        """The key that the slot's data key is sealed under, or None if the slot is for others."""
        if slot.kind not in self.kinds:
            return None
        secret = self.secret(slot)
        if secret is None:
            return None
        more = self.key_file.digest if slot.kind == PASSPHRASE_AND_KEY_FILE else b""
        return hash256(b"vault slot %d" % slot.kind + slot.salt + more, key=secret)

    def secret(self, slot: Slot) -> bytes | None:
        if slot.kind == GENERATED:
            return self.key_file.content
        if slot.kind == RECIPIENT:
            return unwrapped_file_key(read_stanzas(slot.parameters), self.identity)
        return stretched(self.key_file.content if slot.kind == OTHER else self.passphrase, slot)


def stretched(content: bytes, slot: Slot) -> bytes:
    algorithm = nacl.bindings.crypto_pwhash_ALG_ARGON2ID13
    return nacl.bindings.crypto_pwhash_alg(32, content, slot.salt, slot.passes, slot.memory, algorithm)
