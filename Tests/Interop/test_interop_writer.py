"""Python and the command write the same vault: each has to go on where the other one stopped."""

import itertools
import multiprocessing
import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

import live_vault
from interop_support import Command
from live_vault import LiveVault, opened
from reading.log import SECTOR

NAMES = [f"name/{number}" for number in range(6)]
WALKS, TURNS = 5, 40
SETS = 100


def python(command: Command) -> AbstractContextManager[LiveVault]:
    file, key = command.paths
    return opened(file, key.read_bytes())


def agree(command: Command, expected: dict[str, bytes]) -> None:
    assert command.values() == expected
    assert command.names() == sorted(expected)
    assert {name: command.run("get", name) for name in expected} == expected


@pytest.fixture
def pythons(command: Command) -> Command:
    """The command over a vault and a key file that Python has created in the standard places."""
    live_vault.create(*command.paths)
    return command


def test_the_command_uses_a_vault_that_python_created(pythons: Command) -> None:
    assert pythons.names() == []
    with python(pythons) as vault:
        vault.set("a", b"of Python")
    pythons.set("b", b"of the command")
    pythons.set("a", b"changed by the command")
    agree(pythons, {"a": b"changed by the command", "b": b"of the command"})
    pythons.run("compact")
    pythons.run("verify")
    agree(pythons, {"a": b"changed by the command", "b": b"of the command"})


def test_python_goes_on_in_a_vault_that_the_command_created(command: Command) -> None:
    command.set("a", b"of the command", "--attribute", "user=ann")
    size = command.paths[0].stat().st_size
    before = command.vault()
    with python(command) as vault:
        vault.set("b", b"of Python")
        vault.set("a", b"changed by Python")
    after = command.vault()
    sequences = [record.sequence - after.header.sequence for record in after.log.records]
    assert sequences == [1, 2, 3]
    assert after.entries["a"].attributes == {"user": "ann"}
    assert after.entries["a"].created == before.entries["a"].created
    assert command.paths[0].stat().st_size == size, "the zeros were there before"
    agree(command, {"a": b"changed by Python", "b": b"of Python"})
    command.run("verify")


def test_python_and_the_command_keep_the_same_history(pythons: Command) -> None:
    def earlier() -> list[bytes]:
        vault = pythons.vault()
        return [version.value for version in (vault.entries.get("a") or vault.removed["a"]).earlier]

    for number in range(3):
        with python(pythons) as vault:
            vault.set("a", f"{number} of Python".encode())
        pythons.set("a", f"{number} of the command".encode())
    assert earlier() == [b"2 of Python", b"1 of the command", b"1 of Python"], "three versions, newest first"
    pythons.run("rm", "a")
    removed = [b"2 of the command", b"2 of Python", b"1 of the command"]
    assert earlier() == removed
    with python(pythons) as vault:
        vault.compact()
    assert earlier() == removed
    with python(pythons) as vault:
        vault.set("a", b"again")
    assert earlier() == removed, "a removal is no version"
    with python(pythons) as vault:
        vault.remove("a")
    pythons.set("a", b"by the command")
    pythons.run("compact")
    assert earlier() == [b"again", b"2 of the command", b"2 of Python"]
    pythons.run("verify")


def test_zeros_are_kept_ahead_of_what_python_appends(command: Command) -> None:
    command.set("a", b"a")
    with python(command) as vault:
        vault.set("large", b"l" * 40_000)
    size, end = command.paths[0].stat().st_size, command.vault().log.end
    assert size % live_vault.GROWTH == 0 and 0 < size - end <= live_vault.GROWTH
    agree(command, {"a": b"a", "large": b"l" * 40_000})


def test_python_clears_a_torn_tail(command: Command) -> None:
    for name in ("kept", "torn"):
        command.set(name, b"v" * 2000)
    path, last = command.paths[0], command.vault().log.records[-1].frame
    with path.open("r+b") as file:
        file.seek(last.offset - last.offset % SECTOR + SECTOR)
        file.write(bytes(SECTOR))
    # This machine's memory knows the torn record, which was acknowledged here.
    forget(command)
    with python(command) as vault:
        vault.set("after", b"of Python")
    agree(command, {"kept": b"v" * 2000, "after": b"of Python"})
    command.run("verify")


def forget(command: Command) -> None:
    for file in (command.home / ".local/state/vault").iterdir():
        file.unlink()


def test_the_command_reads_a_minor_checkpoint_and_a_compaction_of_python(command: Command) -> None:
    expected = {name: f"value of {name}".encode() for name in NAMES}
    for name, value in expected.items():
        command.set(name, value)
    with python(command) as vault:
        vault.add_minor_checkpoint()
    assert command.vault().hinted_record is not None
    agree(command, expected)
    command.run("rm", NAMES[0])
    del expected[NAMES[0]]
    before = command.vault()
    with python(command) as vault:
        vault.compact()
    agree(command, expected)
    after = command.vault()
    assert not after.log.records and after.manifest.chain[-2] == before.log.records[-1].authenticator
    assert (after.manifest.totals.names, after.manifest.totals.live_bytes) == (len(expected), after.live_bytes)
    assert (after.manifest.created, after.manifest.labels) == (before.manifest.created, before.manifest.labels)
    command.run("verify")


@pytest.mark.parametrize("seed", range(WALKS))
def test_python_and_the_command_write_by_turns(command: Command, seed: int) -> None:
    chance = random.Random(seed)
    expected = {"first": b"value"}
    command.set("first", b"value")
    for turn in range(TURNS):
        by_python, arguments, value = change(chance, expected, turn)
        if chance.random() < 0.5:
            with python(command) as vault:
                by_python(vault)
        else:
            command.run(*arguments, standard_input=value)
        agree(command, expected)
    command.run("verify")


def change(
    chance: random.Random, expected: dict[str, bytes], turn: int
) -> tuple[Callable[[LiveVault], None], list[str], bytes]:
    """Makes a change to what is expected, and tells how either side makes it."""
    kind = chance.choices(["set", "remove", "rename", "compact", "minor checkpoint"], [6, 2, 2, 1, 1])[0]
    if kind == "compact":
        return LiveVault.compact, ["compact"], b""
    if kind == "minor checkpoint":
        # The command adds one only behind many records.
        return LiveVault.add_minor_checkpoint, ["compact"], b""
    if kind == "set" or not expected:
        name, value = chance.choice(NAMES), chance.randbytes(chance.choice([1, 16, 300, 3000]))
        expected[name] = value
        return partial(LiveVault.set, name=name, content=value), ["set", "--exact", name], value
    name = chance.choice(sorted(expected))
    value = expected.pop(name)
    if kind == "remove":
        return partial(LiveVault.remove, name=name), ["rm", name], b""
    to = f"renamed/{turn}"
    expected[to] = value
    return partial(LiveVault.rename, name=name, to=to), ["mv", name, to], b""


def write_from_python(paths: tuple[Path, Path]) -> None:
    file, key = paths
    for number in range(SETS):
        with opened(file, key.read_bytes()) as vault:
            vault.set(f"python/{number}", f"value {number}".encode())
            if number % 20 == 19:
                vault.compact()
        # The kernel hands the lock to nobody: who takes it again at once would always get it.
        time.sleep(0.005)


def test_python_and_the_command_write_at_once_and_lose_nothing(command: Command) -> None:
    command.set("first", b"value")
    writer = multiprocessing.get_context("fork").Process(target=write_from_python, args=(command.paths,))
    writer.start()
    for number in range(SETS):
        command.set(f"command/{number}", f"value {number}".encode())
        if number % 20 == 9:
            command.run("compact")
    writer.join(60)
    assert writer.exitcode == 0
    values = {f"{who}/{number}": f"value {number}".encode() for who in ("python", "command") for number in range(SETS)}
    assert command.values() == values | {"first": b"value"}
    command.run("verify")
    entries = sorted(command.vault().entries.items(), key=lambda item: item[1].modified)
    turns = len(list(itertools.groupby(entries, key=lambda item: item[0].split("/")[0])))
    assert turns > SETS / 20, "one waited until the other had ended"
