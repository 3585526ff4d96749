"""Fields of an opened box, one after the other."""

from .errors import Damaged

LARGEST_NUMBER = 2**64 - 1


class Cursor:
    """Reads the fields of `data` in order; a field that breaks a rule is `Damaged`, named by `what`."""

    def __init__(self, data: bytes, what: str, place: int = 0) -> None:
        self.data = data
        self.what = what
        self.place = place

    def fail(self, reason: str) -> Damaged:
        return Damaged(f"{self.what}: {reason}")

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.place:
            raise self.fail("a field reaches past the end")
        self.place += count
        return self.data[self.place - count : self.place]

    def fixed(self, width: int) -> int:
        """An unsigned number of `width` bytes, little-endian."""
        return int.from_bytes(self.take(width), "little")

    def varint(self, least: int = 0, most: int = LARGEST_NUMBER) -> int:
        """Unsigned LEB128 in its shortest form, between the two bounds."""
        number = 0
        for position in range(10):
            byte = self.fixed(1)
            number |= (byte & 0x7F) << (7 * position)
            if byte < 0x80:
                if byte == 0 and position > 0:
                    raise self.fail("a varint is not in its shortest form")
                if not least <= number <= most:
                    raise self.fail(f"the number {number} is not within {least} to {most}")
                return number
        raise self.fail("a varint is longer than 10 bytes")

    def units(self) -> int:
        """A place or length that counts 16 bytes each, in bytes."""
        return self.varint() * 16

    def counted(self, least: int = 0, most: int = LARGEST_NUMBER) -> bytes:
        """A varint length within the bounds, and that many bytes."""
        return self.take(self.varint(least, most))

    def text(self, least: int = 0, most: int = LARGEST_NUMBER) -> str:
        return decode_text(self.counted(least, most), self.what)

    def finish_padding(self) -> None:
        """What is left is zeros, however many."""
        if any(self.data[self.place :]):
            raise self.fail("what follows the last field is not padding")


def decode_text(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Damaged(f"{what}: text is not UTF-8") from None
