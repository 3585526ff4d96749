"""What Python wrote: the reader and the command, which share no code, have to agree with every vector."""

from collections.abc import Callable
from pathlib import Path

import pytest

import sealing_vectors
import vault_writer
from interop_support import (
    EXIT_CODES,
    SEALING_VECTORS,
    VECTORS,
    Command,
    StoredVector,
    changes,
    each_vector,
    outcome,
    stated,
)
from reading.manifest import Manifest
from said_reasons import is_said
from vault_reader import described
from writing.catalogue import MODULES, large
from writing.reasons import REFUSED
from writing.vector import Vector

# Of RFCs: nobody writes them anew.
PUBLISHED = {"chacha20poly1305.json", "hkdf.json", "hmac.json", "x25519.json"}
WRITTEN_BEHIND = "added by the command"


@pytest.mark.parametrize(
    ("write", "stored"), [(vault_writer.write_vectors, VECTORS), (sealing_vectors.write_vectors, SEALING_VECTORS)]
)
def test_the_stored_vectors_are_those_that_the_writer_makes(
    write: Callable[[Path], object], stored: Path, tmp_path: Path
) -> None:
    def contents(folder: Path) -> dict[str, bytes]:
        files = (file for file in folder.iterdir() if file.suffix != ".md" and file.name not in PUBLISHED)
        return {file.name: file.read_bytes() for file in files}

    write(tmp_path)
    assert contents(tmp_path) == contents(stored)


@each_vector()
def test_reader_finds_what_the_vector_expects(vector: StoredVector) -> None:
    assert vector.found() == (vector.entries if vector.expect == "ok" else vector.expect), vector.expectation["note"]


@each_vector("locked", "damaged", "newer")
def test_reader_refuses_the_vector_for_its_reason(vector: StoredVector) -> None:
    assert vector.reason_found() == vector.expectation["reason"], vector.expectation["note"]


@each_vector("ok")
def test_reader_finds_what_is_beside_the_entries(vector: StoredVector) -> None:
    vault = vector.read_by_the_reader()
    found = stated(vault)
    assert {field: found[field] for field in found if field in vector.expectation} == {
        field: vector.expectation[field] for field in found if field in vector.expectation
    }
    assert {name: described(entry) for name, entry in vault.removed.items() if entry.earlier} == vector.removed


def test_each_bad_vector_has_one_reason() -> None:
    built = [vector for module in (*MODULES, large) for vector in module.catalogue.vectors]
    bad = sorted(vector.name for vector in built if vector.expect != "ok")
    assert bad == sorted(name for names in REFUSED.values() for name in names.split())


@each_vector("ok", by_key_file=True)
def test_command_reads_the_vector(command: Command, vector: StoredVector) -> None:
    read_all(command.over(vector), vector)


def read_all(vault: Command, vector: StoredVector) -> None:
    assert vault.names() == vector.names_in_order()
    for name, value in vector.values.items():
        assert vault.run("get", name) == value, name
    vault.run("verify", expecting=vector.exit_code_of_verify)


@each_vector("ok", by_key_file=True, having="device_key")
def test_command_names_the_members_and_authors_of_the_vector(command: Command, vector: StoredVector) -> None:
    vault = command.over(vector)
    found = vault.vault()
    assert vault.changes() == changes(found)
    assert sorted(vault.members()) == sorted(stated(found)["members"])


@each_vector("locked", "damaged", "newer", by_key_file=True)
def test_command_refuses_the_vector(command: Command, vector: StoredVector) -> None:
    vault = command.over(vector)
    refuse(vault, vector)
    assert Path(vault.options[1]).read_bytes() == vector.vault.read_bytes()


def refuse(vault: Command, vector: StoredVector) -> None:
    finished = vault.finished("verify")
    message = finished.stderr.decode()
    assert finished.returncode == EXIT_CODES[vector.expect], message
    assert is_said(vector.expectation["reason"], message), message


@each_vector(by_key_file=True)
def test_no_command_traps(command: Command, vector: StoredVector) -> None:
    vault = command.over(vector)
    for arguments in (["info"], ["salvage", str(command.home / "salvaged")], ["set", "a"]):
        assert vault.finished(*arguments, standard_input=b"value").returncode >= 0, arguments


@each_vector("newer", by_key_file=True)
def test_command_tells_a_later_version_from_damage(command: Command, vector: StoredVector) -> None:
    command.over(vector).run("verify", expecting=EXIT_CODES["newer"], saying="a later format")


@each_vector("ok", by_key_file=True)
def test_command_writes_behind_the_vector(command: Command, vector: StoredVector) -> None:
    vault = command.over(vector)
    vault.set(WRITTEN_BEHIND, b"value")
    assert vault.values() == vector.values | {WRITTEN_BEHIND: b"value"}


def without_history(entries: dict) -> dict:
    """Of the history, a compaction drops what is too old."""
    kept = {name: {key: value for key, value in entry.items() if key != "earlier"} for name, entry in entries.items()}
    return {name: entry for name, entry in kept.items() if "value_base64" in entry}


@each_vector("ok", by_key_file=True)
def test_compaction_keeps_all_that_the_vector_holds(command: Command, vector: StoredVector) -> None:
    def kept(manifest: Manifest) -> tuple:
        lists = manifest.labels, manifest.settings, manifest.former_memory_keys, manifest.merged, manifest.members
        return manifest.created, *lists

    vault = command.over(vector)
    before = vault.vault()
    vault.run("compact", expecting=None if vector.name == "sequence-near-its-limit" else 0)
    after = vault.vault()
    assert without_history(outcome(lambda: after)) == without_history(vector.entries)
    assert kept(after.manifest) == kept(before.manifest)
    assert (after.header.history, after.header.slots) == (before.header.history, before.header.slots)
    assert after.header.is_access_logged == before.header.is_access_logged
    assert after.header.has_members == before.header.has_members
    vault.run("verify", expecting=vector.exit_code_of_verify)


@pytest.mark.parametrize("built", large.catalogue.vectors, ids=lambda vector: vector.name)
def test_reader_and_command_keep_the_bounds_of_size(command: Command, tmp_path: Path, built: Vector) -> None:
    vector = StoredVector.written(built, tmp_path)
    assert vector.found() == (vector.entries if vector.expect == "ok" else vector.expect)
    if vector.expect == "ok":
        read_all(command.over(vector), vector)
    else:
        assert vector.reason_found() == vector.expectation["reason"]
        refuse(command.over(vector), vector)
