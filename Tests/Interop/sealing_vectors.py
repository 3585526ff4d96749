#!/usr/bin/env python3
"""Writes known-answer vectors for the Sealing module into a folder, each answer found in two independent ways."""

import argparse
import hashlib
import json
from pathlib import Path

import nacl.bindings
from argon2.low_level import Type, hash_secret_raw

from plain_primitives import secretbox, siphash24
from sharing_vectors import sharing_vectors
from writing.primitives import Randomness

COMPUTED = "computed"
RFC_7693 = "RFC 7693, appendix A"
BLAKE2_KAT = "BLAKE2 reference test vectors, keyed, first input"
LIBSODIUM_KDF = "libsodium, test/default/kdf"
SIPHASH = "SipHash reference test vectors"
NACL_SECRETBOX = "NaCl, tests/secretbox"
ABC_512 = (
    "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
    "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
)
EMPTY_KEYED = (
    "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
    "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568"
)
NACL_KEY = "1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389"
NACL_NONCE = "69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37"
NACL_MESSAGE = (
    "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c6129"
    "6cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde"
    "048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705"
)
NACL_BOX = (
    "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a"
    "c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae"
    "90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74"
    "e355a5"
)
KDF_32 = "154b291f11196737f8b7f491e4ca11764e0227d34f94295408a869f007aa8618"
SIPHASH_FIRST = ("310e0edd47db6f72", "fd67dc93c539f874", "5a4fa9d909806c0d", "2d7efbd796666785")
SIPHASH_15 = "e545be4961ca29a1"


def agreed(first: bytes, second: bytes, published: str | None = None) -> str:
    """The answer in hex that both ways gave, and that was published where it was."""
    if first != second or (published is not None and first.hex() != published):
        raise ValueError(f"two answers: {first.hex()}, {second.hex()}, published {published}")
    return first.hex()


def secretbox_vectors() -> list[dict]:
    def vector(message: bytes, nonce: bytes, key: bytes, origin: str = COMPUTED, published: str | None = None) -> dict:
        box = agreed(secretbox(message, nonce, key), nacl.bindings.crypto_secretbox(message, nonce, key), published)
        return {"origin": origin, "key": key.hex(), "nonce": nonce.hex(), "message": message.hex(), "box": box}

    random = Randomness("secretbox")
    nacl_input = (bytes.fromhex(text) for text in (NACL_MESSAGE, NACL_NONCE, NACL_KEY))
    sizes = (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 1000)
    computed = [vector(random.take(size), random.take(24), random.take(32)) for size in sizes]
    return [vector(*nacl_input, NACL_SECRETBOX, NACL_BOX), *computed]


def blake2b_vectors() -> list[dict]:
    def vector(
        message: bytes, key: bytes = b"", size: int = 32, origin: str = COMPUTED, published: str | None = None
    ) -> dict:
        ours = hashlib.blake2b(message, digest_size=size, key=key).digest()
        sodium = nacl.bindings.crypto_generichash_blake2b_salt_personal(message, size, key)
        hashed = agreed(ours, sodium, published)
        return {"origin": origin, "key": key.hex(), "message": message.hex(), "size": size, "hash": hashed}

    random = Randomness("blake2b")
    sizes = (0, 1, 16, 64, 127, 128, 129, 256, 1000)
    unkeyed = [vector(random.take(size)) for size in sizes]
    keyed = [vector(random.take(size), random.take(32)) for size in sizes]
    return [
        vector(b"abc", size=64, origin=RFC_7693, published=ABC_512),
        vector(b"", bytes(range(64)), 64, BLAKE2_KAT, EMPTY_KEYED),
        vector(b"abc"),
        *unkeyed,
        *keyed,
    ]


def kdf_vectors() -> list[dict]:
    def vector(
        key: bytes, context: bytes, identifier: int, origin: str = COMPUTED, published: str | None = None
    ) -> dict:
        salt, personal = identifier.to_bytes(16, "little"), context + bytes(8)
        ours = hashlib.blake2b(b"", digest_size=32, key=key, salt=salt, person=personal).digest()
        sodium = nacl.bindings.crypto_generichash_blake2b_salt_personal(b"", 32, key, salt, personal)
        subkey = agreed(ours, sodium, published)
        return {"origin": origin, "key": key.hex(), "context": context.hex(), "id": identifier, "subkey": subkey}

    key = Randomness("kdf").take(32)
    computed = [vector(key, b"vault-01", identifier) for identifier in (1, 2, 3, 4, 5, 0, 2**32)]
    return [vector(bytes(range(32)), b"KDF test", 32, LIBSODIUM_KDF, KDF_32), *computed]


def argon2id_vectors() -> list[dict]:
    def vector(password: bytes, salt: bytes, passes: int, memory: int) -> dict:
        reference = hash_secret_raw(password, salt, passes, memory // 1024, 1, 32, Type.ID)
        algorithm = nacl.bindings.crypto_pwhash_ALG_ARGON2ID13
        sodium = nacl.bindings.crypto_pwhash_alg(32, password, salt, passes, memory, algorithm)
        return {
            "origin": COMPUTED,
            "password": password.hex(),
            "salt": salt.hex(),
            "passes": passes,
            "memory": memory,
            "key": agreed(reference, sodium),
        }

    random = Randomness("argon2id")
    passwords = (b"password", b"correct horse battery staple\n", random.take(1000), bytes(16), "\u00fc".encode())
    limits = ((1, 8192), (1, 65536), (3, 1 << 20), (2, 1_000_000), (10, 16384))
    return [vector(password, random.take(16), *each) for password, each in zip(passwords, limits, strict=True)]


def siphash_vectors() -> list[dict]:
    def vector(message: bytes, key: bytes, origin: str = COMPUTED, published: str | None = None) -> dict:
        hashed = agreed(siphash24(message, key), nacl.bindings.crypto_shorthash_siphash24(message, key), published)
        return {"origin": origin, "key": key.hex(), "message": message.hex(), "hash": hashed}

    published = {**dict(enumerate(SIPHASH_FIRST)), 15: SIPHASH_15}
    reference = [vector(bytes(range(size)), bytes(range(16)), SIPHASH, published.get(size)) for size in range(64)]
    random = Randomness("siphash")
    return [*reference, *(vector(random.take(16), random.take(16)) for _ in range(4))]


FILES = {
    "secretbox": secretbox_vectors,
    "blake2b": blake2b_vectors,
    "kdf": kdf_vectors,
    "argon2id": argon2id_vectors,
    "siphash": siphash_vectors,
    "shamir": sharing_vectors,
}


def write_vectors(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, vectors in FILES.items():
        (folder / f"{name}.json").write_text(json.dumps(vectors(), indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    write_vectors(parser.parse_args().folder)
