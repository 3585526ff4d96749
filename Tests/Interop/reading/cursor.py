"""Fields of an opened box, one after the other."""

from .errors import Damaged

LARGEST_NUMBER = 2**64 - 1


class Cursor:
    """Reads the fields of `data` in order; one that breaks a rule is `Damaged`, by its name, in `what`."""

    def __init__(self, data: bytes, what: str, offset: int = 0) -> None:
        self.data = data
        self.what = what
        self.offset = offset

    def fail(self, reason: str) -> Damaged:
        return Damaged(reason, self.what)

    def take(self, count: int, field: str) -> bytes:
        if count > len(self.data) - self.offset:
            raise self.fail(f"{field}: cut")
        self.offset += count
        return self.data[self.offset - count : self.offset]

    def fixed(self, width: int, field: str) -> int:
        """An unsigned number of `width` bytes, little-endian."""
        return int.from_bytes(self.take(width, field), "little")

    def varint(self, field: str, least: int = 0, most: int = LARGEST_NUMBER) -> int:
        """Unsigned LEB128 in its shortest form, between the two bounds."""
        number = 0
        for position in range(10):
            byte = self.fixed(1, field)
            number |= (byte & 0x7F) << (7 * position)
            if byte < 0x80:
                if (byte == 0 and position > 0) or number > LARGEST_NUMBER:
                    raise self.fail(f"{field}: varint")
                if not least <= number <= most:
                    raise self.fail(f"{field}: bounds")
                return number
        raise self.fail(f"{field}: varint")

    def units(self, field: str) -> int:
        """A place or length that counts 16 bytes each, in bytes."""
        return self.varint(field) * 16

    def counted(self, field: str, least: int = 0, most: int = LARGEST_NUMBER) -> bytes:
        """A varint length within the bounds, and that many bytes."""
        return self.take(self.varint(field, least, most), field)

    def text(self, field: str, least: int = 0, most: int = LARGEST_NUMBER) -> str:
        return self.decoded(self.varint(field, least, most), field)

    def decoded(self, count: int, field: str) -> str:
        """That many bytes of UTF-8."""
        try:
            return self.take(count, field).decode("utf-8")
        except UnicodeDecodeError:
            raise self.fail(f"{field}: UTF-8") from None

    def finish_padding(self, field: str) -> None:
        """What is left is zeros, however many."""
        if any(self.data[self.offset :]):
            raise self.fail(f"{field}: padding")
