"""Members: Python and the command have to agree who has signed what, and each has to go on where the other stopped."""

import json
import time
from contextlib import AbstractContextManager

import pytest

import live_vault
from interop_support import Command, changes
from live_vault import LiveVault, opened
from reading.keyfile import KeyFile
from reading.memory import is_part_of
from writing.members import REMOVAL, Change, Device

LOCKED = 5
ANN, BOB = Device("Ann"), Device("Bob")


def python(command: Command, device: Device | None = None) -> AbstractContextManager[LiveVault]:
    file, key = command.paths
    return opened(file, key.read_bytes(), device)


def authors(command: Command) -> dict[str, list[str | None]]:
    """Of each name's state and earlier versions, newest first; the command has to find the same."""
    vault = command.vault()
    assert command.changes() == changes(vault)
    found = {}
    for name, entry in vault.current.items():
        known = vault.members.authors(entry, vault.contents)
        found[name.decode()] = [author and f"{author.name}{'' if author.was_member else '?'}" for author in known]
    return found


def verified(command: Command) -> tuple[list[str], list[str]]:
    """The names that nobody has signed, and those from another history."""
    report = json.loads(command.run("verify", "--json"))
    return report["unsigned"], report["foreign"]


def adding(author: Device, device: Device) -> Change:
    return Change(author, device, time=int(time.time() * 1000))


@pytest.fixture
def commands(command: Command) -> Command:
    """The command over a vault that it made: a name is from before its first member, Ann."""
    command.set("before", b"nobody's")
    command.run("member", "add", "Ann")
    return command


@pytest.fixture
def pythons(command: Command) -> Command:
    """The command over a vault that Python made, with Ann as its first member, and a name from before."""
    live_vault.create(*command.paths)
    with python(command) as vault:
        vault.set("before", b"nobody's")
        vault.compact(Change(ANN, ANN, time=1))
    return command


def test_python_derives_the_device_of_the_command(command: Command) -> None:
    text = command.run("member", "device").decode().strip()
    key = KeyFile.parsed(command.device_key.read_bytes()).content
    assert Device("this one", key).text == text
    command.use_device(ANN.key_file)
    assert command.run("member", "device").decode().strip() == ANN.text


def test_python_finds_who_has_signed_what_the_command_wrote(commands: Command) -> None:
    commands.set("a", b"first")
    commands.set("a", b"second", "--attribute", "user=ann", "--expires", "2100-01-01")
    commands.run("attr", "a", "host=example.org")
    commands.set("before", b"Ann's")
    commands.set("gone", b"value")
    commands.run("rm", "gone")
    commands.run("mv", "a", "moved")
    expected = {
        "a": ["Ann", "Ann", "Ann", "Ann"], "before": ["Ann", None], "gone": ["Ann", "Ann"], "moved": ["Ann"],
    }  # fmt: skip
    assert authors(commands) == expected
    for change in (["compact"], ["key", "rotate"]):
        commands.run(*change)
        assert authors(commands) == expected, change
        assert verified(commands) == ([], [])
    vault = commands.vault()
    assert all(
        is_part_of(state.signature.seen, vault)
        for entry in vault.current.values()
        for state in (entry, *entry.earlier)
        if state.signature
    )
    commands.run("restore", "a")
    assert authors(commands)["a"][0] == "Ann"


def test_a_rotation_knows_the_changes_of_the_members_that_are_there(commands: Command) -> None:
    commands.run("member", "add", "Bob", "--device", BOB.text)
    assert commands.vault().manifest.known_to_key == []
    commands.run("key", "rotate")
    known = commands.vault().members.heads
    assert commands.vault().manifest.known_to_key == known and len(known) == 1
    commands.run("member", "rm", "Bob")
    commands.run("compact")
    assert commands.vault().manifest.known_to_key == known != commands.vault().members.heads
    with python(commands) as vault:
        vault.compact()
    assert commands.vault().manifest.known_to_key == known
    commands.run("key", "rotate")
    assert commands.vault().manifest.known_to_key == commands.vault().members.heads != known


def test_python_goes_on_as_a_member_of_a_vault_of_the_command(commands: Command) -> None:
    commands.set("a", b"Ann's")
    commands.run("member", "add", "Bob", "--device", BOB.text)
    assert commands.vault().members.present[1] == ("Bob", BOB.public_key)
    with python(commands, BOB) as vault:
        vault.set("a", b"Bob's")
        vault.set("b", b"Bob's")
        vault.remove("before")
    assert authors(commands) == {"a": ["Bob", "Ann"], "b": ["Bob"], "before": ["Bob", None]}
    with python(commands, BOB) as vault:
        vault.add_minor_checkpoint()
        vault.compact()
    commands.set("b", b"Ann's")
    assert authors(commands) == {"a": ["Bob", "Ann"], "b": ["Ann", "Bob"], "before": ["Bob", None]}
    assert verified(commands) == ([], [])
    assert sorted(commands.members())[1] == ["Bob", BOB.text]


def test_the_command_goes_on_in_a_vault_with_members_that_python_made(pythons: Command) -> None:
    pythons.run("set", "a", standard_input=b"of a stranger", expecting=LOCKED)
    pythons.use_device(BOB.key_file)
    pythons.run("set", "a", standard_input=b"Bob's, who is no member", expecting=LOCKED)
    with python(pythons, ANN) as vault:
        vault.set("a", b"Ann's")
        vault.compact(adding(ANN, BOB))
    pythons.set("a", b"Bob's")
    pythons.run("rm", "before")
    assert authors(pythons) == {"a": ["Bob", "Ann"], "before": ["Bob", None]}
    assert pythons.members() == [["Ann", ANN.text], ["Bob", BOB.text]]
    assert verified(pythons) == ([], [])
    versions = json.loads(pythons.run("history", "a", "--json"))["versions"]
    assert [version["author"] for version in versions] == ["Ann"]


def test_what_a_removed_member_signs_is_told_apart(commands: Command) -> None:
    commands.run("member", "add", "Bob", "--device", BOB.text)
    with python(commands, BOB) as vault:
        vault.set("a", b"of a member")
    commands.run("member", "rm", "Bob")
    assert [name for name, _ in commands.vault().members.present] == ["Ann"]
    with python(commands, BOB) as vault:
        vault.set("b", b"of nobody")
        vault.compact(adding(BOB, Device("Eve")))
    assert authors(commands) == {"a": ["Bob"], "b": ["Bob?"], "before": [None]}
    assert [name for name, _ in commands.members()] == ["Ann"]
    told = b'"Bob" (not a member at that time)'
    for name, by_a_member in (("a", True), ("b", False)):
        commands.set(name, b"Ann's")
        [version] = json.loads(commands.run("history", name, "--json"))["versions"]
        assert (version["author"], version["author_was_member"]) == ("Bob", by_a_member)
        assert (told in commands.run("history", name)) == (told in commands.run("log", "--changes", name)) != by_a_member


def test_both_see_members_that_python_removed(pythons: Command) -> None:
    with python(pythons, ANN) as vault:
        vault.compact(adding(ANN, BOB))
        vault.compact(Change(ANN, BOB, REMOVAL, int(time.time() * 1000)))
    assert pythons.members() == [["Ann", ANN.text]]
    pythons.use_device(BOB.key_file)
    pythons.run("set", "a", standard_input=b"value", expecting=LOCKED)
    pythons.use_device(ANN.key_file)
    pythons.set("a", b"value")
    assert authors(pythons) == {"a": ["Ann"], "before": [None]}


def test_a_state_that_nobody_has_signed_is_no_damage_but_told(commands: Command) -> None:
    with python(commands) as vault:
        vault.set("a", b"nobody's")
    assert authors(commands) == {"a": [None], "before": [None]}
    assert verified(commands) == (["a"], [])
