"""Signatures of devices: how they are written, and what they are about."""

from dataclasses import dataclass

import nacl.bindings
from nacl.exceptions import BadSignatureError

from .cursor import Cursor

ID_SIZE, DEVICE_SIZE, SIGNATURE_SIZE = 8, 32, 64


@dataclass(frozen=True)
class LogPosition:
    sequence: int
    authenticator: bytes


@dataclass(frozen=True)
class Signature:
    """`author` is the id of a device, `seen` the newest log position that the author knew."""

    author: bytes
    seen: LogPosition
    signature: bytes
    encoded: bytes

    @classmethod
    def read(cls, cursor: Cursor) -> "Signature":
        start, field = cursor.offset, "signature"
        author, seen = cursor.take(ID_SIZE, field), LogPosition(cursor.varint(field), cursor.take(16, field))
        return cls(author, seen, cursor.take(SIGNATURE_SIZE, field), cursor.data[start : cursor.offset])

    def holds(self, statement: bytes, vault_id: bytes, device: bytes) -> bool:
        """Whether the device has signed the statement in this vault."""
        position = self.encoded[ID_SIZE:-SIGNATURE_SIZE]
        try:
            nacl.bindings.crypto_sign_open(self.signature + statement + vault_id + device + position, device)
        except (BadSignatureError, ValueError):
            return False
        return True
