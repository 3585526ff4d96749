"""`vault log`: who has read which value."""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from homes import NO_MEMORY, Home
from tracing import Call, trace, with_fault
from volumes import fill, volume

pytestmark = pytest.mark.both_paths_in_full

USAGE, NOT_FOUND, REFUSED, DAMAGED, BUSY, IO = 2, 3, 4, 6, 7, 8


@pytest.fixture
def logged(home: Home) -> Home:
    """A vault whose access log is on."""
    home.set("u.token", b"tok")
    home.output("log", "--on")
    return home


def log_file(home: Home) -> Path:
    (path,) = home.memory.glob("*.access")
    return path


def accesses(home: Home, *words: str) -> list[dict]:
    return json.loads(home.output("log", "--json", *words))["accesses"]


def read_names(home: Home) -> list[str | None]:
    return [access["name"] for access in accesses(home)]


# The log


def test_nothing_is_recorded_unless_it_is_switched_on(home: Home) -> None:
    home.set("u.token", b"tok")
    home.get("u.token")
    assert list(home.memory.glob("*access*")) == []
    finished = home.run("log")
    assert (finished.returncode, finished.stdout) == (0, b"") and b"The access log is off" in finished.stderr
    assert json.loads(home.output("log", "--json")) == {
        "is_on": False, "file": str(home.memory / f"{identifier(home)}.access"), "dropped": 0, "accesses": []
    }  # fmt: skip


def identifier(home: Home) -> str:
    return json.loads(home.output("info", "--json"))["id"]


def test_each_read_says_who_read_what_and_when(logged: Home) -> None:
    logged.set("mail", b"secret", "-a", "username=ada")
    for name in ("u.token", "mail", "mail.username"):
        logged.get(name)
    logged.refusal(NOT_FOUND, "get", "nothing")
    switched, *found = accesses(logged)
    assert (switched["name"], switched["command"]) == (None, "log --on")
    assert [access["name"] for access in found] == ["u.token", "mail", "mail.username"]
    program = str(Path("/proc/self/exe").resolve())
    for access in found:
        assert (access["command"], access["program"], access["process"]) == ("get", program, os.getpid())
        assert (access["user"], access["started"]) == (os.getuid(), None)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", access["time"])
    lines = logged.output("log").decode().splitlines()
    assert len(lines) == 4 and lines[1].endswith(f"get       u.token        {program} ({os.getpid()})")


def test_reads_are_chosen_by_name_number_and_time(logged: Home) -> None:
    logged.set("b", b"x")
    for name in ("u.token", "b", "u.token"):
        logged.get(name)
    assert [access["number"] for access in accesses(logged, "u.token")] == [2, 4]
    assert [access["number"] for access in accesses(logged, "--last", "2")] == [3, 4]
    assert [access["number"] for access in accesses(logged, "u.token", "--last", "1")] == [4]
    assert len(accesses(logged, "--since", "1h")) == 4 and accesses(logged, "--since", "2999-01-01") == []
    since = accesses(logged)[2]["time"]
    assert [access["number"] for access in accesses(logged, "--since", since)] == [3, 4]
    assert accesses(logged, "nothing") == []
    for words in (("--since", "yesterday"), ("--last", "0"), ("--on", "--off"), ("--on", "u.token"), ("--off", "--last=1")):
        logged.refusal(USAGE, "log", *words)


def test_switched_off_it_records_no_more_and_shows_what_it_has(logged: Home) -> None:
    logged.get("u.token")
    assert json.loads(logged.output("log", "--off", "--json")) == {"is_on": False, "file": str(log_file(logged))}
    before = log_file(logged).read_bytes()
    logged.get("u.token")
    logged.output("log", "--off")
    assert log_file(logged).read_bytes() == before
    assert [access["command"] for access in accesses(logged)] == ["log --on", "get", "log --off"]
    logged.output("log", "--on")
    logged.output("log", "--on")
    assert [access["command"] for access in accesses(logged)][3:] == ["log --on"]


def test_no_name_and_no_program_is_in_the_file(logged: Home) -> None:
    logged.set("canary/0f1e2d3c", b"a value")
    logged.get("canary/0f1e2d3c")
    content = log_file(logged).read_bytes()
    for text in (b"canary", b"0f1e2d3c", b"a value", b"python", b"get"):
        assert text not in content
    assert log_file(logged).stat().st_mode & 0o777 == 0o600


def test_a_changed_log_is_exit_6_and_shows_what_is_intact(logged: Home) -> None:
    for _ in range(3):
        logged.get("u.token")
    path, content = log_file(logged), log_file(logged).read_bytes()
    path.write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    finished = logged.run("log", "--json")
    assert finished.returncode == DAMAGED
    assert [access["number"] for access in json.loads(finished.stdout)["accesses"]] in ([1, 3, 4], [2, 3, 4])
    assert str(path).encode() in finished.stderr and b"byte " in finished.stderr
    assert logged.get("u.token") == b"tok", "its readers go on"
    assert logged.run("log").returncode == DAMAGED, "and the damage stays"


def test_parallel_reads_lose_no_record(logged: Home) -> None:
    with ThreadPoolExecutor(20) as pool:
        values = list(pool.map(lambda _: logged.get("u.token"), range(20)))
    assert values == [b"tok"] * 20
    assert [access["number"] for access in accesses(logged)] == list(range(1, 22))


def writes(home: Home) -> list[Call]:
    calls = trace(home, "get", "u.token", names=("pwrite64",))
    return [call for call in calls if ".access" in call.line]


@pytest.mark.parametrize("torn", [False, True])
def test_killed_at_any_write_it_stays_readable(logged: Home, torn: bool) -> None:
    logged.get("u.token")
    content = log_file(logged).read_bytes()
    torn_content = content[:-30] if torn else content
    log_file(logged).write_bytes(torn_content)
    calls = writes(logged)
    assert len(calls) == (2 if torn else 1), "the rest of a torn record is overwritten first"
    for call in calls:
        log_file(logged).write_bytes(torn_content)
        killed = with_fault(logged, call.name, f"signal=KILL:when={call.ordinal}", "get", "u.token")
        assert killed.stdout == b"", "what is not recorded is not read"
        assert read_names(logged)[:1] == [None]
        logged.get("u.token")
        assert read_names(logged)[-1] == "u.token"


@pytest.fixture
def small(binary: str, tmp_path: Path) -> Iterator[Home]:
    """A home whose state folder is on a small file system."""
    home = Home(binary, tmp_path / "home")
    home.set("u.token", b"tok")
    with volume(tmp_path / "small", "64k") as folder:
        yield home.with_variables(XDG_STATE_HOME=str(folder))


def test_a_log_that_cannot_be_written_refuses_the_read(small: Home) -> None:
    small.output("log", "--on")
    state = Path(small.variables["XDG_STATE_HOME"])
    filler = fill(state)
    finished = small.run("get", "u.token")
    while finished.returncode == 0:
        # What is left of the last page.
        finished = small.run("get", "u.token")
    assert (finished.returncode, finished.stdout) == (IO, b"")
    assert b"No space left on device" in finished.stderr and b"`vault log --off`" in finished.stderr
    assert small.names() == ["u.token"], "names are no values"
    filler.unlink()
    assert small.get("u.token") == b"tok"
    fill(state)
    small.output("log", "--off")
    assert small.get("u.token") == b"tok"


def test_where_nothing_can_be_recorded_it_stays_off(small: Home) -> None:
    state = Path(small.variables["XDG_STATE_HOME"])
    small.run("log", "--on")
    small.output("log", "--off")
    fill(state)
    finished = small.run("log", "--on")
    while finished.returncode == 0:
        # What is left of the last page.
        small.output("log", "--off")
        finished = small.run("log", "--on")
    assert finished.returncode == IO and b"The log stays off." in finished.stderr
    assert small.get("u.token") == b"tok"


def test_without_a_folder_for_it_it_is_not_switched_on_and_nothing_is_read(logged: Home) -> None:
    for home in (logged.without_memory(), logged.with_variables(XDG_STATE_HOME="/proc")):
        assert "The access log of" in home.run("get", "u.token").stderr.decode()
        assert home.run("get", "u.token").returncode == IO
    logged.output("log", "--off")
    other = logged.with_variables(**NO_MEMORY)
    assert other.run("log", "--on").returncode == IO
    assert other.run("get", "u.token").stdout == b"tok"


def test_a_refused_read_is_recorded_as_refused(logged: Home) -> None:
    logged.set("bank", b"a secret", "-a", "policy=run")
    logged.set("bank.pin", b"4711")
    for name in ("bank", "bank.pin"):
        logged.refusal(REFUSED, "get", name)
    logged.output("run", "--env", "X=bank", "--", "true")
    logged.run("get", "nothing")
    recorded = [(access["name"], access["command"], access["refused"]) for access in accesses(logged)[1:]]
    assert recorded == [("bank", "get", True), ("bank.pin", "get", True), ("bank", "run", False)]
    assert b"get: refused  bank" in logged.output("log")


def test_a_refused_read_stays_refused_where_it_cannot_be_recorded(logged: Home) -> None:
    logged.set("bank", b"a secret", "-a", "policy=run")
    assert "Only `vault run`" in logged.with_variables(**NO_MEMORY).run("get", "bank").stderr.decode()


@pytest.mark.in_a_file
@pytest.mark.parametrize("switch", ["--on", "--off"])
def test_a_refused_switch_is_not_recorded_as_done(home: Home, switch: str) -> None:
    home.set("u.token", b"tok")
    if switch == "--off":
        home.output("log", "--on")
    with home.vault.open("rb") as vault:
        fcntl.flock(vault, fcntl.LOCK_EX)
        home.refusal(BUSY, "log", switch, "--timeout", "0.2")
    *former, last = accesses(home)
    assert (last["command"], last["refused"]) == (f"log {switch}", True)
    assert len(former) == (switch == "--off"), "one record tells of it"
    home.output("log", switch)
    last = accesses(home)[-1]
    assert (last["command"], last["refused"]) == (f"log {switch}", False)


def test_a_log_that_cannot_be_written_is_not_switched_on(home: Home) -> None:
    home.set("u.token", b"tok")
    blocked = home.without_memory()
    assert "The log stays off." in blocked.refusal(8, "log", "--on")
    assert blocked.get("u.token") == b"tok" and b'"is_on":false' in home.output("log", "--json").replace(b" ", b"")
