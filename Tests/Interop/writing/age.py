"""Identities of age, their recipients, and the stanzas in which a file key is wrapped for one (C2SP, age.md)."""

import base64
import hashlib
import hmac

import nacl.bindings

LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
FILE_KEY_SIZE = 16


def recipient_of(identity: bytes) -> bytes:
    return nacl.bindings.crypto_scalarmult_base(identity)


def identity_text(identity: bytes) -> str:
    return bech32("age-secret-key-", identity).upper()


def recipient_text(identity: bytes) -> str:
    return bech32("age", recipient_of(identity))


def bech32(prefix: str, data: bytes) -> str:
    """BIP 173: five bits a letter, the last ones filled up with zeros, and six letters of a checksum."""
    number, bits = int.from_bytes(data, "big"), 8 * len(data)
    count = -(-bits // 5)
    groups = [number << 5 * count - bits >> 5 * index & 31 for index in reversed(range(count))]
    expanded = [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix]
    remainder = polymod(expanded + groups + [0] * 6) ^ 1
    checksum = [remainder >> 5 * index & 31 for index in reversed(range(6))]
    return f"{prefix}1{''.join(LETTERS[group] for group in groups + checksum)}"


def polymod(groups: list[int]) -> int:
    remainder = 1
    for group in groups:
        top = remainder >> 25
        remainder = (remainder & 0x1FF_FFFF) << 5 ^ group
        for bit, term in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            if top >> bit & 1:
                remainder ^= term
    return remainder


def stanza(*arguments: str, body: bytes) -> bytes:
    """Lines of at most 64 letters, the last of them shorter, and so perhaps empty."""
    text = encoded(body)
    lines = [text[start : start + 64] for start in range(0, len(text) + 1, 64)]
    return "".join(f"{line}\n" for line in (" ".join(("->", *arguments)), *lines)).encode()


def x25519_stanza(file_key: bytes, recipient: bytes, ephemeral: bytes) -> bytes:
    """The file key for a recipient; `ephemeral` is the secret key whose public one is the share."""
    share = recipient_of(ephemeral)
    secret = nacl.bindings.crypto_scalarmult(ephemeral, recipient)
    extracted = hmac.digest(share + recipient, secret, hashlib.sha256)
    key = hmac.digest(extracted, b"age-encryption.org/v1/X25519" + b"\x01", hashlib.sha256)
    body = nacl.bindings.crypto_aead_chacha20poly1305_ietf_encrypt(file_key, None, bytes(12), key)
    return stanza("X25519", encoded(share), body=body)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")
