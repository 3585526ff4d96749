"""Members: their devices, what these sign, and the changes of the members in the manifest."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import nacl.bindings

from .keys import key_line
from .primitives import Randomness, counted, hash256, varint

Position = tuple[int, bytes]  # a sequence number and an authenticator
ADDITION, REMOVAL = 0, 1


class Device:
    """The device of a member, whose key file holds this `key`."""

    def __init__(self, member: str, key: bytes | None = None) -> None:
        self.member = member
        self.key = key or Randomness(f"device of {member}").take(32)
        # crypto_kdf_derive_from_key
        salt = (1).to_bytes(16, "little")
        seed = hashlib.blake2b(digest_size=32, key=self.key, salt=salt, person=b"vltdevic").digest()
        self.public_key, self.secret_key = nacl.bindings.crypto_sign_seed_keypair(seed)

    @property
    def key_file(self) -> bytes:
        return f"# vault key file: it signs, and opens no vault\n{key_line(self.key)}\n".encode()

    @property
    def text(self) -> str:
        return f"vault-device-1-{self.public_key.hex()}-{hash256(b'vault-device-1-' + self.public_key)[:4].hex()}"

    def sign(self, statement: bytes, vault_id: bytes, seen: Position) -> bytes:
        """The signature as an entry holds it."""
        position = varint(seen[0]) + seen[1]
        signed = nacl.bindings.crypto_sign(statement + vault_id + self.public_key + position, self.secret_key)
        return self.public_key[:8] + position + signed[:64]


@dataclass(frozen=True)
class Signature:
    """`described` is what a reader has to find."""

    encoded: bytes
    described: dict


@dataclass(frozen=True)
class Change:
    """A change of the members. `edit` changes what is signed, `edit_signature` the signature.

    It follows the changes `known`, or all before it.
    """

    author: Device
    device: Device
    flags: int = ADDITION
    time: int = 0
    name: str | None = None
    recipient: str = ""
    known: tuple["Change", ...] | None = None
    edit: Callable[[bytes], bytes] = lambda statement: statement
    edit_signature: Callable[[bytes], bytes] = lambda signature: signature

    def encoded(self, vault_id: bytes, seen: Position, known: list[bytes]) -> bytes:
        name = self.device.member if self.name is None else self.name
        fields = bytes([self.flags]) + varint(self.time) + counted(name.encode()) + self.device.public_key
        fields += counted(self.recipient.encode()) + varint(len(known)) + b"".join(known)
        signature = self.author.sign(self.edit(b"vault-member-1" + fields), vault_id, seen)
        return fields + self.edit_signature(signature)


class Changes:
    """The changes of the members of a vault, and which of them the next one follows.

    `known_to_key` are the heads of those that were there when the data key was made.
    """

    def __init__(
        self, encoded: list[bytes] | None = None, heads: list[bytes] | None = None, known_to_key: list[bytes] | None = None
    ) -> None:
        self.encoded, self.heads, self.known_to_key = encoded or [], heads or [], known_to_key or []
        self.ids: dict[Change, bytes] = {}

    def add(self, change: Change, vault_id: bytes, seen: Position) -> None:
        known = self.heads if change.known is None else [self.ids.get(each, bytes(16)) for each in change.known]
        encoded = change.encoded(vault_id, seen, known)
        self.ids[change] = hash256(encoded)[:16]
        self.heads = [head for head in self.heads if head not in known] + [self.ids[change]]
        self.encoded.append(encoded)

    @property
    def in_manifest(self) -> bytes:
        if not self.encoded:
            return b""
        known = varint(len(self.known_to_key)) + b"".join(self.known_to_key)
        return varint(len(self.encoded)) + b"".join(self.encoded) + known


def removed_statement(name: bytes, modified: int) -> bytes:
    return b"vault-state-1" + counted(name) + varint(modified) + b"\x01"


def state_statement(
    name: bytes, modified: int, kind: int, content: bytes, expiry: int | None, attributes: bytes
) -> bytes:
    start = b"vault-state-1" + counted(name) + varint(modified) + b"\x00"
    return start + bytes([kind]) + hash256(content) + varint(expiry or 0) + attributes
