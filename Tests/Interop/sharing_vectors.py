"""Known answers for secret sharing, split by one implementation in Python and joined again by another."""

from plain_sharing import joined_by_logarithms, shares_by_powers
from writing.primitives import Randomness

# How many choices of shares are joined, of those that each vector has.
JOINS = 40

# The size of the secret, the threshold, the number of shares.
SHAPES = ((1, 2, 2), (1, 3, 5), (16, 2, 3), (32, 3, 5), (40, 3, 5), (40, 2, 32), (40, 32, 32), (256, 5, 8))


def vector(secret: bytes, rows: list[bytes], count: int, random: Randomness) -> dict:
    shares = shares_by_powers(secret, rows, count)
    threshold, indices = len(rows) + 1, range(1, count + 1)
    drawn = [sorted(indices, key=lambda _: random.take(4))[:threshold] for _ in range(JOINS)]
    for chosen in ([*indices[:threshold]], [*indices[-threshold:]], *drawn):
        joined = joined_by_logarithms({index: shares[index - 1] for index in chosen})
        if joined != secret:
            raise ValueError(f"two answers for the shares {chosen}: {joined.hex()}, {secret.hex()}")
    return {
        "origin": "computed",
        "secret": secret.hex(),
        "threshold": threshold,
        "coefficients": b"".join(rows).hex(),
        "shares": [share.hex() for share in shares],
    }


def sharing_vectors() -> list[dict]:
    random = Randomness("shamir")
    drawn = [
        vector(random.take(size), [random.take(size) for _ in range(1, threshold)], count, random)
        for size, threshold, count in SHAPES
    ]
    zeros = vector(bytes(8), [bytes(8), bytes(8)], 4, random)
    # Without higher powers, each share is the secret.
    constant = vector(random.take(8), [bytes(8), bytes(8)], 4, random)
    return [*drawn, zeros, constant]
