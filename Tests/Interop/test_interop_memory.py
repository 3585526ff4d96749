"""The rollback memory, which Python and the command have to read and write alike."""

from collections.abc import Callable
from pathlib import Path

import pytest

from interop_support import ALARM, VECTORS, Command, StoredVector
from reading import memory
from reading.vault import Vault, open_vault
from writing.members import Device
from writing.memory import coded, heads_file, members_file, path_file, seen_file, upkeep_file


@pytest.fixture
def kept(command: Command) -> Command:
    """The command over a vault with two records."""
    for name in ("a", "b"):
        command.set(name, b"value")
    return command


def folder(command: Command) -> Path:
    return command.home / ".local/state/vault"


def seen_path(command: Command) -> Path:
    return folder(command) / memory.seen_name(command.vault().header.vault_id)


def path_path(command: Command) -> Path:
    return folder(command) / memory.path_name(str(command.paths[0].resolve()))


def seen(command: Command) -> memory.Seen | None:
    vault = command.vault()
    return memory.read_seen(seen_path(command).read_bytes(), vault.header.vault_id, vault.keys.memory)


def newest(vault: Vault) -> tuple[int, bytes]:
    last = vault.log.records[-1] if vault.log.records else vault.header
    return last.sequence, last.authenticator


def test_python_finds_the_position_that_the_command_has_seen(kept: Command) -> None:
    for change in (["set", "c"], ["rm", "a"], ["compact"]):
        kept.run(*change, standard_input=b"value")
        assert seen(kept) == memory.Seen(*newest(kept.vault()), is_flushed_by_writer=True)
    seen_path(kept).unlink()
    kept.run("get", "b")
    assert seen(kept) == memory.Seen(*newest(kept.vault()), is_flushed_by_writer=False), "a reader has not flushed it"


def test_python_finds_the_vault_that_the_command_saw_at_a_path(kept: Command) -> None:
    vault, path = kept.vault(), kept.paths[0].resolve()
    path.parent.chmod(0o700)
    found = memory.read_path(path_path(kept).read_bytes(), str(path), vault.header.vault_id, vault.keys.memory)
    expected = memory.fingerprint(vault.header.authenticator, path.stat(), path.parent.stat())
    assert found == memory.PathRecord(vault.header.vault_id, expected), "the time is that of a change of names"
    assert len(list(folder(kept).iterdir())) == 2


@pytest.mark.parametrize(
    ("ahead", "other", "expecting"),
    [(-1, False, 0), (0, False, 0), (0, True, ALARM), (1, False, ALARM), (2**63, False, ALARM)],
)
def test_the_command_heeds_a_position_that_python_wrote(kept: Command, ahead: int, other: bool, expecting: int) -> None:
    vault = kept.vault()
    record = vault.log.records[ahead - 1 if ahead < 0 else -1]
    authenticator = bytes(16) if other else record.authenticator
    data = seen_file(vault.header.vault_id, newest(vault)[0] + ahead, authenticator, vault.keys.memory)
    seen_path(kept).write_bytes(data)
    kept.run("get", "a", expecting=expecting)
    kept.run("verify", expecting=expecting)
    if expecting:
        assert seen_path(kept).read_bytes() == data
    else:
        assert seen(kept).sequence == newest(vault)[0], "it rises with the file"


def positions_of_the_merged_vector(vault: Vault) -> list[tuple[int, bytes, bool]]:
    """Log positions, and whether they are part of the history as far as the vault can tell."""
    other, merged, chain = bytes(16), vault.manifest.merged, vault.manifest.chain
    first, last, own = merged[0].sequence, merged[-1].sequence, vault.header.sequence
    parts = [(position.sequence, position.authenticator) for position in merged]
    parts += [(first - 1, other), (own - 1, chain[-1]), (own, vault.header.authenticator), newest(vault)]
    others = [(first + 1, parts[0][1]), (newest(vault)[0] + 1, other)]
    others += [(sequence, other) for sequence in (first, last - 1, last, own - 1, own)]
    return [(*part, True) for part in parts] + [(*position, False) for position in others]


def test_the_reader_knows_positions_before_a_merge() -> None:
    vault = open_vault(VECTORS / "merged.vault", (VECTORS / "merged.key").read_bytes())
    for sequence, authenticator, is_part in positions_of_the_merged_vector(vault):
        assert memory.is_part_of(memory.Seen(sequence, authenticator, True), vault) == is_part, sequence


def test_the_command_heeds_positions_before_a_merge(command: Command) -> None:
    merged = command.over(StoredVector.read(VECTORS / "merged.json"))
    merged.run("get", "a")
    vault = merged.vault()
    for sequence, authenticator, is_part in positions_of_the_merged_vector(vault):
        seen_path(merged).write_bytes(seen_file(vault.header.vault_id, sequence, authenticator, vault.keys.memory))
        merged.run("get", "a", expecting=0 if is_part else ALARM)


def test_a_position_under_a_former_memory_key_counts(command: Command) -> None:
    rotated = command.over(StoredVector.read(VECTORS / "former-memory-keys.json"))
    rotated.run("get", "a")
    vault = rotated.vault()
    vault_id, former = vault.header.vault_id, vault.manifest.former_memory_keys
    assert len(former) == 9
    for key in former:
        ahead = seen_file(vault_id, newest(vault)[0] + 1, bytes(16), key)
        assert memory.read_seen_of(ahead, vault) is not None
        seen_path(rotated).write_bytes(ahead)
        rotated.run("get", "a", expecting=ALARM)
        seen_path(rotated).write_bytes(seen_file(vault_id, *newest(vault), key))
        rotated.run("get", "a")
        kept = memory.read_seen_of(seen_path(rotated).read_bytes(), vault)
        assert kept is not None and (kept.sequence, kept.authenticator) == newest(vault)
    unknown = seen_file(vault_id, newest(vault)[0] + 1, bytes(16), bytes(32))
    assert memory.read_seen_of(unknown, vault) is None
    assert memory.is_whole(unknown) and not memory.is_whole(unknown[:60] + bytes(28) + unknown[88:])
    # It is whole, so this machine has seen the vault after a rotation that the vault knows nothing of.
    seen_path(rotated).write_bytes(unknown)
    rotated.run("get", "a", expecting=ALARM)
    seen_path(rotated).write_bytes(unknown[:60] + bytes(28) + unknown[88:])
    rotated.run("get", "a")


Change = Callable[[bytes, Vault], bytes]
NO_MEMORY: dict[str, Change] = {
    "empty": lambda data, _: b"",
    "cut by one byte": lambda data, _: data[:87],
    "torn in the middle": lambda data, _: data[:44] + bytes(52),
    "zeros": lambda data, _: bytes(len(data)),
    "another magic": lambda data, vault: coded(b"vltseen2" + data[8:56], vault.keys.memory),
    "another vault's": lambda data, vault: coded(data[:8] + bytes(16) + data[24:56], vault.keys.memory),
    "another subkey": lambda data, vault: coded(data[:56], vault.keys.header),
    "a changed number": lambda data, _: data[:24] + bytes([data[24] ^ 64]) + data[25:],
    "a changed code": lambda data, _: data[:87] + bytes([data[87] ^ 1]) + data[88:],
}


@pytest.mark.parametrize("change", NO_MEMORY.values(), ids=NO_MEMORY.keys())
def test_what_is_no_memory_is_none_to_both(kept: Command, change: Change) -> None:
    vault = kept.vault()
    ahead = seen_file(vault.header.vault_id, 1000, bytes(16), vault.keys.memory)
    seen_path(kept).write_bytes(change(ahead, vault))
    assert seen(kept) is None
    kept.run("get", "a")
    seen_path(kept).write_bytes(ahead + b"bytes of a longer file")
    assert seen(kept) == memory.Seen(1000, bytes(16), is_flushed_by_writer=True)
    kept.run("get", "a", expecting=ALARM)


def test_the_command_heeds_a_path_that_python_wrote(kept: Command) -> None:
    vault, path = kept.vault(), str(kept.paths[0].resolve())
    own = path_file(vault.header.vault_id, path, vault.keys.memory)
    another = path_file(bytes(range(16)), path, bytes(32))
    for data, expecting in ((own, 0), (another, ALARM), (another[:40] + bytes(8) + another[48:], 0), (another[:-1], 0)):
        path_path(kept).write_bytes(data)
        found = memory.read_path(data, path, vault.header.vault_id, vault.keys.memory)
        assert (found is not None and found.vault_id != vault.header.vault_id) == (expecting == ALARM)
        kept.run("get", "a", expecting=expecting)
    assert memory.read_path(own, path + "x", vault.header.vault_id, vault.keys.memory) is None, "it is of that path"


def test_both_read_why_upkeep_failed(kept: Command) -> None:
    vault = kept.vault()
    upkeep_path = folder(kept) / memory.upkeep_name(vault.header.vault_id)
    with kept.paths[0].open("r+b") as file:
        file.seek(4096 + 40)
        file.write(b"\xaa")
    kept.run("compact", expecting=6)
    found = memory.read_upkeep(upkeep_path.read_bytes(), vault.header.vault_id, vault.keys.memory)
    assert found is not None and "copy" in found.words
    assert (found.origin, found.is_damage, found.system_error) == (vault.header.authenticator, True, 0)
    assert found.retry_at == newest(vault)[0] + 512

    identity = vault.header.vault_id, vault.header.authenticator
    data = upkeep_file(*identity, 1000, vault.keys.memory, is_damage=True, words="words of Python")
    for content, is_known in ((data, True), (data[:-1], False), (data[:-32] + bytes(32), False)):
        upkeep_path.write_bytes(content)
        assert (memory.read_upkeep(content, vault.header.vault_id, vault.keys.memory) is not None) == is_known
        assert (b"words of Python" in kept.run("info")) == is_known


def members_path(command: Command) -> Path:
    return folder(command) / memory.members_name(command.vault().header.vault_id)


def seen_of_members(command: Command) -> list[bytes] | None:
    vault = command.vault()
    return memory.read_members(members_path(command).read_bytes(), vault.header.vault_id, vault.keys.memory)


@pytest.fixture
def without_others(kept: Command) -> Command:
    """The command over a vault whose members were Ann, Bob and Cid, and where the last two were removed."""
    kept.run("member", "add", "Ann")
    for number, name in enumerate(("Bob", "Cid"), 1):
        kept.run("member", "add", name, "--device", Device(name, bytes([number]) * 32).text)
    for name in ("Bob", "Cid"):
        kept.run("member", "rm", name)
    return kept


def test_python_finds_what_the_command_has_seen_of_members(without_others: Command) -> None:
    def expected() -> list[bytes]:
        members = without_others.vault().manifest.members
        known = members[:1] + [change for change in members if change.is_removal]
        return [change.id for change in known]

    assert seen_of_members(without_others) == expected() and len(expected()) == 3
    before = members_path(without_others).read_bytes()
    without_others.run("key", "rotate")
    assert len(before) == memory.MEMBERS_SIZE
    without_others.set("a", b"another")
    assert seen_of_members(without_others) == expected() and members_path(without_others).read_bytes() != before


def test_the_command_heeds_what_python_wrote_of_members(without_others: Command) -> None:
    vault, known = without_others.vault(), seen_of_members(without_others)
    vault_id, key = vault.header.vault_id, vault.keys.memory
    unknown = [*known, bytes(range(16))]
    missing = members_file(vault_id, unknown, key)
    other_first = members_file(vault_id, known[1:], key)
    most = members_file(vault_id, [bytes(range(16))] * 128, key)
    for data, seen_there, expecting in (
        (members_file(vault_id, known, key), known, 0),
        (members_file(vault_id, [], key), [], 0),
        (missing, unknown, ALARM),
        (other_first, known[1:], ALARM),
        (missing + b"bytes of a longer file", unknown, ALARM),
        (most, [bytes(range(16))] * 128, ALARM),
        (missing[:-1], None, 0),
        (missing[:-1] + bytes([missing[-1] ^ 1]), None, 0),
        (members_file(vault_id, unknown, bytes(32)), None, 0),
        (members_file(bytes(16), unknown, key), None, 0),
        (members_file(vault_id, unknown, key, count=129), None, 0),
        (b"", None, 0),
    ):
        members_path(without_others).write_bytes(data)
        assert seen_of_members(without_others) == seen_there
        without_others.run("set", "a", standard_input=b"value", expecting=expecting)
        without_others.run("log", "--changes", expecting=expecting)
        without_others.run("member", "ls", expecting=expecting)
        if expecting == 0:
            assert seen_of_members(without_others) == known, "it is written anew"


@pytest.fixture
def in_git(kept: Command) -> Command:
    """The same, and the configuration says that the vault lives in git."""
    config = kept.home / ".config/vault/config"
    config.write_text(f"[default]\nvault = {kept.paths[0]}\nkey-file = {kept.paths[1]}\nkept-in = git\n")
    config.chmod(0o600)
    return kept


def heads_path(command: Command) -> Path:
    return folder(command) / memory.heads_name(command.vault().header.vault_id)


def seen_heads(command: Command) -> list[tuple[int, bytes]] | None:
    vault = command.vault()
    return memory.read_heads(heads_path(command).read_bytes(), vault.header.vault_id, vault.keys.memory)


def test_python_finds_what_the_command_has_seen_a_vault_in_git_end_with(in_git: Command) -> None:
    before = newest(in_git.vault())
    expected = [before]
    for change in (["set", "c"], ["set", "d"], ["compact"]):
        in_git.run(*change, standard_input=b"value")
        expected.append(newest(in_git.vault()))
        # A compaction announces itself by a record, which is another end.
        found = [head for head in seen_heads(in_git) if head[0] != expected[-1][0] - 1 or change != ["compact"]]
        assert found == expected
    assert len(heads_path(in_git).read_bytes()) == memory.HEADS_SIZE
    in_git.run("key", "rotate")
    in_git.set("e", b"value")
    assert seen_heads(in_git)[:3] == expected[:3], "those under the former key stay"


def test_the_command_heeds_heads_that_python_wrote(in_git: Command) -> None:
    vault, path = in_git.vault(), in_git.paths[0]
    vault_id, key, older = vault.header.vault_id, vault.keys.memory, path.read_bytes()
    head = newest(vault)
    in_git.set("c", b"value")
    for heads, count, used_key, expecting in (
        ([head], None, key, 0),
        ([(1, bytes(16)), head, (9, bytes(16))], None, key, 0),
        ([(vault.header.sequence, vault.header.authenticator)], None, key, 0),
        ([(head[0], bytes(16))], None, key, ALARM),
        ([], None, key, ALARM),
        ([head], 1025, key, ALARM),
        ([head], None, bytes(32), ALARM),
        ([(9, bytes(16))] * 1023 + [head], None, key, 0),
    ):
        path.write_bytes(older)
        seen_path(in_git).write_bytes(seen_file(vault_id, head[0] + 1, bytes(16), key))
        data = heads_file(vault_id, heads, used_key, count)
        heads_path(in_git).write_bytes(data)
        is_known = count is None and used_key == key
        assert memory.read_heads(data, vault_id, key) == (heads if is_known else None)
        in_git.run("get", "a", expecting=expecting)
