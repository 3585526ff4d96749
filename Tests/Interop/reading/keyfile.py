"""What a key file holds: a generated key with a checksum, or any other bytes."""

import re
from dataclasses import dataclass

from .errors import Locked
from .sealing import hash256

KEY_LINE = re.compile(rb"vault-key-1-([0-9a-f]{64})-([0-9a-f]{8})", re.IGNORECASE)
SIGNS_OF_A_GENERATED_FILE = (b"vault-key-", b"# vault key file")
LARGEST_FILE = 1 << 20
VAULT_MAGIC = b"\x89VLT\r\n\x1a\n"
LARGEST_GENERATED_FILE = 4096
GENERATED, OTHER = 1, 2


@dataclass(frozen=True)
class KeyFile:
    """`slot_kind` names the kind of key slot that this file opens by itself."""

    slot_kind: int
    content: bytes

    @classmethod
    def parsed(cls, data: bytes) -> "KeyFile":
        if not data.strip(b" \t\n\v\f\r\0"):
            raise Locked("key file: blank")
        if data.startswith(VAULT_MAGIC):
            raise Locked("key file: a vault")
        if len(data) > LARGEST_FILE:
            raise Locked("key file: too large")
        letters = data.replace(b"\0", b"").lower()
        if len(data) <= LARGEST_GENERATED_FILE and any(sign in letters for sign in SIGNS_OF_A_GENERATED_FILE):
            return cls(GENERATED, generated_key(re.split(rb"[\n\r]", data)))
        return cls(OTHER, data)

    @property
    def digest(self) -> bytes:
        """The 32 bytes that stand for the file beside a passphrase."""
        return self.content if self.slot_kind == GENERATED else hash256(self.content)


def generated_key(lines: list[bytes]) -> bytes:
    """The 32 random bytes; `Locked` if anything else in the file does not hold."""
    others = [line for line in lines if line and not line.startswith(b"#")]
    match = KEY_LINE.fullmatch(others[0]) if len(others) == 1 else None
    if match is None:
        raise Locked("key file: form")
    key, checksum = (bytes.fromhex(group.decode()) for group in match.groups())
    if hash256(b"vault-key-1-" + key)[:4] != checksum:
        raise Locked("key file: checksum")
    return key
