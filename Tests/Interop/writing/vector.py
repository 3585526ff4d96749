"""How a catalogue of vectors is written down, and how a vector becomes files."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .age import identity_text
from .builder import VaultBuilder
from .keys import key_line
from .reasons import REASONS

Build = Callable[[VaultBuilder], object]


@dataclass(frozen=True)
class Vector:
    """`inferred`: the format's page implies the outcome, but does not say it in so many words."""

    name: str
    expect: str
    note: str
    inferred: bool
    build: Build

    def write(self, folder: Path) -> None:
        vault = VaultBuilder(self.name)
        self.build(vault)
        expectation: dict = {"expect": self.expect, "note": self.note}
        if self.expect != "ok":
            expectation["reason"] = REASONS[self.name]
        if self.inferred:
            expectation["inferred"] = True
        if vault.passphrase is not None:
            expectation["passphrase"] = vault.passphrase
        if vault.identity is not None:
            expectation["identity"] = identity_text(vault.identity)
            expectation["fingerprint"] = (vault.known_fingerprint or vault.fingerprint()).hex()
        if vault.file_key is not None:
            expectation["file_key"] = vault.file_key.hex()
        if vault.device_key is not None:
            expectation["device_key"] = key_line(vault.device_key)
        if self.expect == "ok":
            expectation |= vault.stated
            expectation["entries"] = vault.described()
            expectation |= {"removed": removed} if (removed := vault.described_removed()) else {}
        (folder / f"{self.name}.vault").write_bytes(vault.data)
        if vault.key_file is not None:
            (folder / f"{self.name}.key").write_bytes(vault.key_file)
        text = json.dumps(expectation, ensure_ascii=False, indent=1)
        (folder / f"{self.name}.json").write_text(text + "\n", encoding="utf-8")


class Catalogue:
    """Collects the vectors of one file by decorators."""

    def __init__(self) -> None:
        self.vectors: list[Vector] = []

    def ok(self, note: str, inferred: bool = False) -> Callable[[Build], Build]:
        return self.expecting("ok", note, inferred)

    def damaged(self, note: str, inferred: bool = False) -> Callable[[Build], Build]:
        return self.expecting("damaged", note, inferred)

    def locked(self, note: str, inferred: bool = False) -> Callable[[Build], Build]:
        return self.expecting("locked", note, inferred)

    def newer(self, note: str) -> Callable[[Build], Build]:
        return self.expecting("newer", note, inferred=False)

    def expecting(self, expect: str, note: str, inferred: bool) -> Callable[[Build], Build]:
        def add(build: Build) -> Build:
            self.vectors.append(Vector(build.__name__.replace("_", "-"), expect, note, inferred, build))
            return build

        return add
