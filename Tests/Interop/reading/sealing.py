"""The cryptography that the format names: boxes, hashes, subkeys."""

import hashlib
from dataclasses import dataclass

import nacl.bindings
from nacl.exceptions import CryptoError

from .errors import Damaged

TAG_SIZE = 16
NONCE_SIZE = 24


def open_box(box: bytes, nonce: bytes, key: bytes, reason: str, what: str) -> bytes:
    """The content of `tag ‖ ciphertext`; `Damaged` for this reason if it does not authenticate."""
    try:
        return nacl.bindings.crypto_secretbox_open(box, nonce, key)
    except (CryptoError, ValueError):
        raise Damaged(reason, what) from None


def hash256(data: bytes, key: bytes = b"") -> bytes:
    return hashlib.blake2b(data, digest_size=32, key=key).digest()


@dataclass(frozen=True)
class Subkeys:
    """In the order of their ids, from 1 on."""

    record: bytes
    page: bytes
    value: bytes
    header: bytes
    memory: bytes
    commitment: bytes
    drop_box: bytes
    resealing: bytes
    fingerprint_of_values: bytes
    name: bytes

    @classmethod
    def derived(cls, data_key: bytes) -> "Subkeys":
        """As `crypto_kdf_derive_from_key`: BLAKE2b under the key, salted by the id, of nothing."""

        def subkey(identifier: int) -> bytes:
            salt = identifier.to_bytes(16, "little")
            return hashlib.blake2b(b"", digest_size=32, key=data_key, salt=salt, person=b"vault-01").digest()

        return cls(*(subkey(identifier) for identifier in range(1, 11)))

    def resealed_nonce(self, former: bytes, value: bytes) -> bytes:
        """That of a value that was sealed anew under this data key."""
        return hashlib.blake2b(former + hash256(value), digest_size=NONCE_SIZE, key=self.resealing).digest()

    def fingerprint(self, vault_id: bytes) -> bytes:
        """Of the vault with this id and the data key that these subkeys come from."""
        return hash256(vault_id, key=self.commitment)[:16]
