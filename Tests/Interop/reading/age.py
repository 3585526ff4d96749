"""How an age identity opens the stanzas of a key slot (C2SP, age.md), for recipients of the type X25519."""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass

import nacl.bindings
from nacl.exceptions import CryptoError
from nacl.exceptions import RuntimeError as SodiumError

from .errors import Damaged, Locked

BECH32_DIGITS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
BECH32_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
CHECKSUM_SIZE = 6
IDENTITY_PREFIX = "age-secret-key-"
INFO = b"age-encryption.org/v1/X25519"
FILE_KEY_SIZE, TAG_SIZE = 16, 16
COLUMNS = 64
ARGUMENTS = re.compile(rb"-> [!-~]+( [!-~]+)*")


@dataclass(frozen=True)
class Stanza:
    arguments: list[bytes]
    body: bytes


def read_identity(text: str) -> bytes:
    """The X25519 secret key of `AGE-SECRET-KEY-1...`; `Locked` if the text is no such identity."""
    prefix, _, rest = text.lower().rpartition("1")
    if text not in (text.lower(), text.upper()) or prefix != IDENTITY_PREFIX or set(rest) - set(BECH32_DIGITS):
        raise Locked("identity: form")
    digits = [BECH32_DIGITS.index(letter) for letter in rest]
    if bech32_checksum(prefix, digits) != 1:
        raise Locked("identity: checksum")
    bits = "".join(f"{digit:05b}" for digit in digits[:-CHECKSUM_SIZE])
    if len(bits) != 260 or "1" in bits[256:]:
        raise Locked("identity: form")
    return int(bits[:256], 2).to_bytes(32, "big")


def bech32_checksum(prefix: str, digits: list[int]) -> int:
    """1 if the last six digits are the checksum of all before them."""
    checksum = 1
    for digit in [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix] + digits:
        top, checksum = checksum >> 25, (checksum & 0x1FFFFFF) << 5 ^ digit
        for index, generator in enumerate(BECH32_GENERATORS):
            checksum ^= generator if top >> index & 1 else 0
    return checksum


def read_stanzas(data: bytes) -> list[Stanza]:
    """Recipient stanzas as an age header has them: lines of arguments, each with its body behind it."""
    lines = data.split(b"\n")
    if len(lines) < 2 or lines.pop():
        raise malformed()
    stanzas = []
    while lines:
        first, encoded = lines.pop(0), b""
        if not ARGUMENTS.fullmatch(first):
            raise malformed()
        while True:
            if not lines or len(lines[0]) > COLUMNS:
                raise malformed()
            line = lines.pop(0)
            encoded += line
            if len(line) < COLUMNS:
                break
        stanzas.append(Stanza(first.split(b" ")[1:], unpadded_base64(encoded)))
    return stanzas


def unpadded_base64(data: bytes) -> bytes:
    try:
        decoded = base64.b64decode(data + b"=" * (-len(data) % 4), validate=True)
    except binascii.Error:
        raise malformed() from None
    if base64.b64encode(decoded).rstrip(b"=") != data:
        raise malformed()
    return decoded


def unwrapped_file_key(stanzas: list[Stanza], identity: bytes) -> bytes | None:
    """The file key of the first stanza that is for this identity."""
    recipient = nacl.bindings.crypto_scalarmult_base(identity)
    for stanza in stanzas:
        if stanza.arguments[0] != b"X25519":
            continue
        if len(stanza.arguments) != 2 or len(stanza.body) != FILE_KEY_SIZE + TAG_SIZE:
            raise malformed()
        share = unpadded_base64(stanza.arguments[1])
        if len(share) != 32:
            raise malformed()
        try:
            key = hkdf_sha256(nacl.bindings.crypto_scalarmult(identity, share), salt=share + recipient, info=INFO)
            return nacl.bindings.crypto_aead_chacha20poly1305_ietf_decrypt(stanza.body, None, bytes(12), key)
        except SodiumError:
            raise malformed() from None
        except CryptoError:
            continue
    return None


def hkdf_sha256(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """RFC 5869 with an output of 32 bytes, which is one block."""
    extracted = hmac.digest(salt, secret, hashlib.sha256)
    return hmac.digest(extracted, info + b"\x01", hashlib.sha256)


def malformed() -> Damaged:
    return Damaged("slot parameters: stanzas", "a recipient's slot")
