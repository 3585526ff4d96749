"""The access log, which Python and the command have to read and write alike."""

import json
import os
from pathlib import Path

import pytest

from interop_support import Command
from reading import access
from writing.access import authenticator, record

DAMAGED = 6
ZERO = bytes(16)


@pytest.fixture
def logged(command: Command) -> Command:
    """The command over a vault whose access log is on, and has two reads."""
    for name in ("a", "ü" * 300):
        command.set(name, b"value")
    command.run("log", "--on")
    for name in ("a", "ü" * 300):
        command.run("get", name)
    return command


def path(command: Command) -> Path:
    return command.home / ".local/state/vault" / access.log_name(command.vault().header.vault_id)


def shown(command: Command, expecting: int = 0) -> list[dict]:
    return json.loads(command.run("log", "--json", expecting=expecting))["accesses"]


def test_python_reads_what_the_command_has_recorded(logged: Command) -> None:
    vault = logged.vault()
    assert vault.header.is_access_logged
    log = access.read_log(path(logged).read_bytes(), vault)
    assert log.damage == [] and log.accesses[0].previous == ZERO
    found = [(one.number, one.name, one.command, one.process, one.user) for one in log.accesses]
    pid, user = os.getpid(), os.getuid()
    assert found == [(1, "", "log --on", pid, user), (2, "a", "get", pid, user), (3, "ü" * 300, "get", pid, user)]
    assert {one.program for one in log.accesses} == {str(Path("/proc/self/exe").resolve())}
    assert {one.started for one in log.accesses} == {""}
    logged.run("log", "--off")
    assert not logged.vault().header.is_access_logged


def test_what_was_recorded_before_a_rotation_is_read_after_it(logged: Command) -> None:
    before = shown(logged)
    logged.run("key", "rotate")
    logged.run("get", "a")
    log = access.read_log(path(logged).read_bytes(), logged.vault())
    assert log.damage == [] and [one.number for one in log.accesses] == [1, 2, 3, 4]
    assert shown(logged)[:3] == before and len(shown(logged)) == 4
    former = access.access_key(logged.vault().manifest.former_memory_keys[-1])
    newest = path(logged).read_bytes()[-log.accesses[-1].size :]
    assert access.read_record(newest, 0, logged.vault().header.vault_id, [former]) is None, "under the new key"


def test_the_command_reads_what_python_has_written_and_continues_it(command: Command) -> None:
    command.set("a", b"value")
    command.run("log", "--on")
    vault = command.vault()
    key = access.keys_of(vault)[0]
    first = record(vault.header.vault_id, key, 7, ZERO, "a", time=1000, started="/bin/x")
    second = record(vault.header.vault_id, key, 8, authenticator(first), "x" * 1024, time=2000)
    path(command).write_bytes(first + second)
    command.run("get", "a")
    one, two, three = shown(command)
    assert one == {
        "number": 7, "name": "a", "time": "1970-01-01T00:00:01.000Z", "command": "get", "process": 4711,
        "program": "/usr/bin/python3", "user": 1000, "started": "/bin/x", "refused": False,
    }  # fmt: skip
    assert two["name"] == "x" * 1024 and three["number"] == 9
    log = access.read_log(path(command).read_bytes(), vault)
    assert log.damage == [] and [one.number for one in log.accesses] == [7, 8, 9]


def test_both_say_where_a_log_was_changed(logged: Command) -> None:
    vault, original = logged.vault(), path(logged).read_bytes()
    sizes = [one.size for one in access.read_log(original, vault).accesses]
    first, second, third = (original[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(3))
    changes = {
        "a byte of the first": (bytes([original[0] ^ 1]) + original[1:], 0, 2),
        "a byte of the box in the middle": (first + second[:60] + bytes([second[60] ^ 1]) + second[61:] + third, 1, 2),
        "a byte of the last": (original[:-9] + bytes([original[-9] ^ 1]) + original[-8:], 2, 2),
        "dropped": (first + third, 1, 2),
        "doubled": (first + second + second + third, 2, 4),
        "swapped": (first + third + second, 1, 3),
        "cut within": (first + second[:64] + third, 1, 2),
        "junk behind": (original + os.urandom(4160), 3, 3),
    }
    for what, (changed, record_number, count) in changes.items():
        path(logged).write_bytes(changed)
        log = access.read_log(changed, vault)
        assert log.damage[0] == sum(sizes[:record_number]), what
        assert len(log.accesses) == count, what
        finished = logged.finished("log", "--json")
        assert finished.returncode == DAMAGED, what
        assert len(json.loads(finished.stdout)["accesses"]) == count, what
        assert f"byte {log.damage[0]:,} of {path(logged)}".encode() in finished.stderr, what


@pytest.mark.parametrize("kept", [0, 1, 16, 63, 64, 100])
@pytest.mark.parametrize("zeros", [0, 500])
def test_a_torn_record_is_no_damage_and_makes_room(logged: Command, kept: int, zeros: int) -> None:
    vault, original = logged.vault(), path(logged).read_bytes()
    last = access.read_log(original, vault).accesses[-1]
    torn = original[: len(original) - last.size + kept] + bytes(zeros)
    path(logged).write_bytes(torn)
    log = access.read_log(torn, vault)
    assert log.damage == [] and [one.number for one in log.accesses] == [1, 2]
    assert [one["number"] for one in shown(logged)] == [1, 2]
    logged.run("get", "a")
    log = access.read_log(path(logged).read_bytes(), vault)
    assert log.damage == [] and [one.name for one in log.accesses] == ["", "a", "a"]
