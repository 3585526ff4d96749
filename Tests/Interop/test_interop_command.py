"""What the command wrote: the independent reader has to find it, and nothing else."""

import time

import pytest

from interop_support import Command

DAY = 86_400_000
PRIVATE_KEY_LIKE = b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + b"b3BlbnNzaC1rZXk\n" * 25 + b"-----END-----\n"


def test_reader_finds_what_was_set_removed_and_moved(command: Command) -> None:
    for name in ("kept", "removed", "moved", "changed"):
        command.set(name, f"value of {name}\n".encode())
    command.set("changed", b"another value")
    command.run("rm", "removed")
    command.run("mv", "moved", "there")
    assert command.values() == {"kept": b"value of kept", "there": b"value of moved", "changed": b"another value"}
    assert {"removed", "moved"} <= command.vault().removed.keys()


def test_times_are_in_milliseconds(command: Command) -> None:
    command.set("name", b"value")
    entry = command.vault().entries["name"]
    now = time.time() * 1000
    assert now - DAY < entry.created <= entry.modified < now + DAY


def test_totals_are_those_of_a_replay(command: Command) -> None:
    for number in range(5):
        command.set(f"name {number % 3}", b"v" * (number * 20 + 1))
    vault = command.vault()
    totals = vault.log.records[-1].totals if vault.log.records else vault.manifest.totals
    assert (totals.names, totals.live_bytes) == (len(vault.entries), vault.live_bytes)


@pytest.mark.parametrize("value", [PRIVATE_KEY_LIKE, bytes(range(256)), b"one\ntwo", b"\n\n", "\u00e9\u0301".encode()])
def test_values_of_any_bytes_are_kept(command: Command, value: bytes) -> None:
    command.set("ssh/key", value)
    assert command.values() == {"ssh/key": value}
    assert command.run("get", "ssh/key") == value


def test_attributes_are_kept(command: Command) -> None:
    command.set("login", b"secret", "--attribute", "user=ann", "--attribute", "host=example.org")
    assert command.vault().entries["login"].attributes == {"host": "example.org", "user": "ann"}
    command.set("login", b"another")
    assert command.vault().entries["login"].attributes == {"host": "example.org", "user": "ann"}


def test_a_rotation_derives_each_nonce_from_the_former_one_and_the_value(command: Command) -> None:
    for name, value in (("a", b"first"), ("b", b"another"), ("c", b"another"), ("a", b"second")):
        command.set(name, value)
    former = command.vault()
    command.run("key", "rotate")
    vault = command.vault()
    expected = {
        vault.keys.resealed_nonce(version.nonce, former.contents[version])
        for entry in former.current.values()
        for version in entry.versions
    }
    assert len(expected) == 4
    assert {version.nonce for entry in vault.current.values() for version in entry.versions} == expected


def test_neither_names_nor_values_are_in_the_file(command: Command) -> None:
    command.set("name-in-clear", b"value-in-clear")
    image = (command.home / ".local/share/vault/default.vault").read_bytes()
    assert b"name-in-clear" not in image and b"value-in-clear" not in image


def test_600_sets_leave_at_most_150_records_to_read(command: Command) -> None:
    for number in range(600):
        command.set(f"name/{number:03}", f"value {number}".encode())
    command.run("rm", "name/300")
    expected = {f"name/{number:03}": f"value {number}".encode() for number in range(600) if number != 300}
    assert command.values() == expected
    vault = command.vault()
    trees = [index for index, record in enumerate(vault.log.records) if record.tree]
    assert trees or vault.manifest.chain, "neither a minor checkpoint nor a compaction"
    assert len(vault.log.records) - (trees[-1] if trees else 0) <= 151
    if trees:
        assert vault.hinted_record == vault.log.records[trees[-1]]


def test_compaction_keeps_entries_and_the_chain(command: Command) -> None:
    for number in range(40):
        command.set(f"name/{number % 10}", f"value {number}".encode())
    command.run("rm", "name/3")
    before = command.vault()
    command.run("compact")
    after = command.vault()
    assert after.entries == before.entries
    assert not after.log.records and after.header.vault_id == before.header.vault_id
    assert after.header.sequence == before.log.records[-1].sequence + 2, "a notice, and then the new header"
    assert after.manifest.chain[-2] == before.log.records[-1].authenticator
    assert after.manifest.created == before.manifest.created
    assert (after.manifest.totals.names, after.manifest.totals.live_bytes) == (len(after.entries), after.live_bytes)
    command.set("after", b"it")
    assert command.values() == {name: entry.value for name, entry in before.entries.items()} | {"after": b"it"}
