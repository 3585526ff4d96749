"""The boxes of values: where they may lie, whose they are, what is in them, and who has signed that."""

from collections.abc import Iterable

from .entries import Entry, StoredVersion
from .errors import Damaged
from .header import CHECKPOINT_START
from .members import Members
from .sealing import Subkeys


class Values:
    """Opens each box once, keeps in mind which name each belongs to, and checks the signatures of the states."""

    def __init__(self, image: bytes, keys: Subkeys, members: Members) -> None:
        self.image = image
        self.members = members
        self.value_key = keys.value
        self.contents: dict[StoredVersion, bytes] = {}
        self.owners: dict[int, bytes] = {}

    def open_all(self, entries: Iterable[Entry], end: int) -> None:
        """Opens every version that the entries name; they have to lie before the place `end`."""
        for entry in entries:
            for version in entry.versions:
                what = f"a value of {entry.name.decode()!r}"
                if version.offset < CHECKPOINT_START or version.end > end:
                    raise Damaged("value offset: bounds", what)
                if self.owners.setdefault(version.offset, entry.name) != entry.name:
                    raise Damaged("value: box of another name", what)
                if version not in self.contents:
                    self.contents[version] = version.opened(self.image, self.value_key, what)
            self.members.authors(entry, self.contents)
