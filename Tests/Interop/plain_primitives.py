"""XSalsa20-Poly1305 and SipHash-2-4 in plain Python, from their papers: answers that libsodium had no part in."""

import struct

WORD, LONG = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF
SIGMA = struct.unpack("<4I", b"expand 32-byte k")
QUARTERS = (
    (0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11),
    (0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14),
)  # fmt: skip


def salsa20_rounds(words: list[int]) -> list[int]:
    words = list(words)
    for _ in range(10):
        for a, b, c, d in QUARTERS:
            for target, first, second, turn in ((b, a, d, 7), (c, b, a, 9), (d, c, b, 13), (a, d, c, 18)):
                total = (words[first] + words[second]) & WORD
                words[target] ^= (total << turn | total >> (32 - turn)) & WORD
    return words


def salsa20_input(key: bytes, middle: bytes) -> list[int]:
    k, m = struct.unpack("<8I", key), struct.unpack("<4I", middle)
    return [SIGMA[0], *k[:4], SIGMA[1], *m, SIGMA[2], *k[4:], SIGMA[3]]


def hsalsa20(key: bytes, middle: bytes) -> bytes:
    words = salsa20_rounds(salsa20_input(key, middle))
    return struct.pack("<8I", *(words[index] for index in (0, 5, 10, 15, 6, 7, 8, 9)))


def xsalsa20(length: int, nonce: bytes, key: bytes) -> bytes:
    """The first `length` bytes of the key stream."""
    inner, stream = hsalsa20(key, nonce[:16]), b""
    for counter in range(-(-length // 64)):
        words = salsa20_input(inner, nonce[16:] + struct.pack("<Q", counter))
        mixed = zip(words, salsa20_rounds(words), strict=True)
        stream += struct.pack("<16I", *((first + second) & WORD for first, second in mixed))
    return stream[:length]


def poly1305(message: bytes, key: bytes) -> bytes:
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC_0FFFFFFC_0FFFFFFC_0FFFFFFF
    total = 0
    for start in range(0, len(message), 16):
        total = (total + int.from_bytes(message[start : start + 16] + b"\x01", "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def secretbox(message: bytes, nonce: bytes, key: bytes) -> bytes:
    stream = xsalsa20(32 + len(message), nonce, key)
    ciphertext = bytes(first ^ second for first, second in zip(message, stream[32:], strict=True))
    return poly1305(ciphertext, stream[:32]) + ciphertext


def siphash24(message: bytes, key: bytes) -> bytes:
    k0, k1 = struct.unpack("<2Q", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        siprounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    siprounds(v, 4)
    return struct.pack("<Q", v[0] ^ v[1] ^ v[2] ^ v[3])


def siprounds(v: list[int], count: int) -> None:
    def turned(number: int, by: int) -> int:
        return (number << by | number >> (64 - by)) & LONG

    for _ in range(count):
        v[0] = (v[0] + v[1]) & LONG
        v[1] = turned(v[1], 13) ^ v[0]
        v[0] = turned(v[0], 32)
        v[2] = (v[2] + v[3]) & LONG
        v[3] = turned(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & LONG
        v[3] = turned(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & LONG
        v[1] = turned(v[1], 17) ^ v[2]
        v[2] = turned(v[2], 32)
