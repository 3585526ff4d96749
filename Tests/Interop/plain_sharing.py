"""Shamir's secret sharing over GF(256) in plain Python, from his paper, in two ways that have no code in common."""

from collections.abc import Sequence

POLYNOMIAL = 0x11B
GENERATOR = 3
ORDER = 255


def long_product(first: int, second: int) -> int:
    """The product of two polynomials over GF(2), then the remainder of its division by `POLYNOMIAL`."""
    product = 0
    for bit in range(8):
        if second >> bit & 1:
            product ^= first << bit
    for bit in range(14, 7, -1):
        if product >> bit & 1:
            product ^= POLYNOMIAL << bit - 8
    return product


def shares_by_powers(secret: bytes, rows: Sequence[bytes], count: int) -> list[bytes]:
    """The sum of each coefficient times a power of the index. `rows` are the coefficients of the powers 1, 2, …"""
    shares = []
    for index in range(1, count + 1):
        share, power = list(secret), 1
        for row in rows:
            power = long_product(power, index)
            share = [value ^ long_product(power, coefficient) for value, coefficient in zip(share, row, strict=True)]
        shares.append(bytes(share))
    return shares


def tables() -> tuple[list[int], dict[int, int]]:
    """The powers of the generator, and the logarithm of each element."""
    powers = [1]
    while len(powers) < ORDER:
        # Three times an element: its double and itself.
        element = powers[-1] << 1 ^ powers[-1]
        powers.append(element ^ POLYNOMIAL if element >> 8 else element)
    return powers, {power: exponent for exponent, power in enumerate(powers)}


POWERS, LOGARITHMS = tables()


def value_at_zero(points: dict[int, int]) -> int:
    """What a polynomial is at 0, by its values at as many other points as it has coefficients: Lagrange's formula."""
    total = 0
    for point, value in points.items():
        exponent = LOGARITHMS.get(value)
        if exponent is None:
            continue
        for other in points:
            if other != point:
                exponent += LOGARITHMS[other] - LOGARITHMS[other ^ point]
        total ^= POWERS[exponent % ORDER]
    return total


def joined_by_logarithms(shares: dict[int, bytes]) -> bytes:
    """The secret of the shares, which are given by their indices."""
    columns = zip(*shares.values(), strict=True)
    return bytes(value_at_zero(dict(zip(shares, column, strict=True))) for column in columns)
