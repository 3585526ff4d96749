"""Reads the index that `swift build` writes: which symbols each file declares and refers to.

It calls the toolchain's own library, libIndexStore. FUNCTIONS replaces that library's C header.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from ctypes import CDLL, CFUNCTYPE, Structure, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint64
from ctypes import c_void_p, string_at
from pathlib import Path
from typing import NamedTuple


class Occurrence(NamedTuple):
    """A symbol at one location of a file."""

    symbol: str  # unique in the whole program
    name: str
    is_declared: bool  # otherwise the file refers to it


class Text(Structure):
    """The library's `indexstore_string_ref_t`."""

    _fields_ = [("start", c_void_p), ("length", c_size_t)]

    def __str__(self) -> str:
        return string_at(self.start, self.length).decode()


# The type of the result, then the types of the arguments.
FUNCTIONS = {
    "store_create": (c_void_p, c_char_p, c_void_p),
    "store_units_apply_f": (c_bool, c_void_p, c_uint, c_void_p, c_void_p),
    "store_get_unit_modification_time": (c_bool, c_void_p, c_char_p, c_void_p, c_void_p, c_void_p),
    "unit_reader_create": (c_void_p, c_void_p, c_char_p, c_void_p),
    "unit_reader_dispose": (None, c_void_p),
    "unit_reader_get_main_file": (Text, c_void_p),
    "unit_reader_dependencies_apply_f": (c_bool, c_void_p, c_void_p, c_void_p),
    "unit_dependency_get_kind": (c_int, c_void_p),
    "unit_dependency_get_filepath": (Text, c_void_p),
    "unit_dependency_get_name": (Text, c_void_p),
    "record_reader_create": (c_void_p, c_void_p, c_char_p, c_void_p),
    "record_reader_dispose": (None, c_void_p),
    "record_reader_occurrences_apply_f": (c_bool, c_void_p, c_void_p, c_void_p),
    "occurrence_get_symbol": (c_void_p, c_void_p),
    "occurrence_get_roles": (c_uint64, c_void_p),
    "symbol_get_usr": (Text, c_void_p),
    "symbol_get_name": (Text, c_void_p),
}
DECLARATION, DEFINITION, REFERENCE, IMPLICIT = 1 << 0, 1 << 1, 1 << 2, 1 << 8
RECORD_DEPENDENCY = 2


class SwiftIndex:
    """The index of one build folder."""

    def __init__(self, path: Path):
        info = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, check=True).stdout
        library = CDLL(str(Path(json.loads(info)["paths"]["runtimeResourcePath"]).parent / "libIndexStore.so"))
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(library, f"indexstore_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.store = self.store_create(bytes(path), None)
        # The library's functions crash without a store.
        if not self.store:
            raise FileNotFoundError(f"{path}: there is no index; run `swift build`")

    def newest_records(self) -> dict[Path, tuple[str, int]]:
        """Returns for each compiled file the name of its newest record and the time of that compilation in nanoseconds.

        The index keeps records of deleted files, and several records of one file.
        """
        newest: dict[Path, tuple[str, int]] = {}
        for unit in each(self.store_units_apply_f, self.store, 0, item=Text, read=str):
            written = self._time(unit)
            for file, record in self._own_records(unit):
                if written > newest.get(file, ("", 0))[1]:
                    newest[file] = record, written
        return newest

    def occurrences(self, record: str) -> list[Occurrence]:
        """Returns the symbols that are written in the source, without those that the compiler adds."""

        def read(item: int) -> tuple[int, Occurrence]:
            symbol, roles = self.occurrence_get_symbol(item), self.occurrence_get_roles(item)
            usr, name = str(self.symbol_get_usr(symbol)), str(self.symbol_get_name(symbol))
            return roles, Occurrence(usr, name, bool(roles & (DECLARATION | DEFINITION)))

        reader = self.record_reader_create(self.store, record.encode(), None)
        found = each(self.record_reader_occurrences_apply_f, reader, read=read)
        self.record_reader_dispose(reader)
        wanted = DECLARATION | DEFINITION | REFERENCE
        return [occurrence for roles, occurrence in found if roles & wanted and not roles & IMPLICIT]

    def _time(self, unit: str) -> int:
        seconds, nanoseconds = c_int64(), c_int64()
        self.store_get_unit_modification_time(self.store, unit.encode(), byref(seconds), byref(nanoseconds), None)
        return seconds.value * 10**9 + nanoseconds.value

    def _own_records(self, unit: str) -> list[tuple[Path, str]]:
        """Returns the record of the unit's main file, without those of imported modules."""

        def read(item: int) -> tuple[int, str, str]:
            file, name = self.unit_dependency_get_filepath(item), self.unit_dependency_get_name(item)
            return self.unit_dependency_get_kind(item), str(file), str(name)

        reader = self.unit_reader_create(self.store, unit.encode(), None)
        main = str(self.unit_reader_get_main_file(reader))
        found = each(self.unit_reader_dependencies_apply_f, reader, read=read)
        self.unit_reader_dispose(reader)
        return [(Path(file), name) for kind, file, name in found if kind == RECORD_DEPENDENCY and file == main]


def each(apply: Callable, owner: int, *options: int, item: type = c_void_p, read: Callable) -> list:
    """Returns the result of `read` for each item that the library's function passes. Items are valid only meanwhile."""
    found = []

    @CFUNCTYPE(c_bool, c_void_p, item)
    def visit(_, passed) -> bool:
        found.append(read(passed))
        return True

    # ctypes only prints an error of `read`, and ends the iteration.
    if not (owner and apply(owner, *options, None, visit)):
        sys.exit("the index cannot be read; delete it and run `swift build`")
    return found
