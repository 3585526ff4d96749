"""Machines whose clocks are wrong: what they set, what others set, and what is told."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from executables import executable
from homes import Home
from postgres import Cluster
from test_shared_vault import other_machine

CLOCK = Path(__file__).parent / "clock_ahead.c"
DAY, YEAR = 86_400, 31_557_600
FAR = [5 * YEAR, 7_900 * YEAR]


@pytest.fixture(scope="session")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("clock") / "clock_ahead.so"
    subprocess.run(["clang", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, CLOCK], check=True)
    return library


@pytest.fixture
def shared(home: Home, cluster: Cluster, vault_name: str) -> Home:
    home = home.with_variables(VAULT_FILE=cluster.url(vault_name))
    home.set("a", b"first")
    home.set("b", b"first")
    return home


def ahead(home: Home, clock: Path, seconds: int) -> Home:
    # Nothing can be loaded before a static executable.
    dynamic = executable("VAULT_SHARED_DYNAMIC", "`vault-shared`, not static")
    return home.changed(binary=dynamic).with_variables(LD_PRELOAD=str(clock), CLOCK_AHEAD=str(seconds))


def modified(home: Home, name: str) -> str:
    return json.loads(home.output("show", "--json", name))["modified"]


def is_now(text: str) -> bool:
    return text[:4] in {time.strftime("%Y", time.gmtime(time.time() + offset)) for offset in (-60, 0)}


@pytest.mark.parametrize("seconds", FAR)
def test_an_offline_change_of_the_future_does_not_beat_what_others_set_later(
    shared: Home, clock: Path, tmp_path: Path, seconds: int
) -> None:
    shared.output("verify")
    wrong = ahead(shared, clock, seconds)
    wrong.output("set", "--offline", "a", stdin=b"offline")
    others = other_machine(shared, tmp_path / "other")
    others.set("a", b"later")
    finished = wrong.run("get", "a")
    assert finished.stdout == b"later"
    assert b"Also changed by others" in finished.stderr, finished.stderr
    assert others.get("a") == b"later" and shared.get("a") == b"later"
    shared.output("restore", "a")
    assert others.get("a") == b"offline", "it is in the history"
    for machine in (others, shared, wrong):
        machine.set("a", b"set after the merge")
        assert {one.get("a") for one in (others, shared, wrong)} == {b"set after the merge"}


@pytest.mark.parametrize("seconds", [2 * DAY, *FAR])
def test_an_offline_removal_of_the_future_that_does_not_count_is_told(
    shared: Home, clock: Path, tmp_path: Path, seconds: int
) -> None:
    shared.output("verify")
    wrong = ahead(shared, clock, seconds)
    wrong.output("rm", "--offline", "a")
    others = other_machine(shared, tmp_path / "other")
    others.output("rm", "a")
    others.set("a", b"later")
    finished = wrong.run("get", "a")
    assert finished.stdout == b"later"
    told = finished.stderr.decode()
    assert "Also changed by others" in told and "  a" in told.splitlines(), told


@pytest.mark.parametrize("seconds", [*FAR, 2 * DAY])
def test_a_time_of_the_future_ends_with_the_next_change(shared: Home, clock: Path, seconds: int) -> None:
    ahead(shared, clock, seconds).set("a", b"of the future")
    assert shared.get("a") == b"of the future"
    shared.set("a", b"of now")
    assert is_now(modified(shared, "a"))
    assert shared.get("a") == b"of now"
    shared.output("restore", "a")
    assert shared.get("a") == b"of the future" and is_now(modified(shared, "a")), "it is in the history"
    shared.output("verify")
    shared.output("compact")
    shared.output("rm", "a")
    shared.output("restore", "a")
    assert is_now(modified(shared, "a"))


def test_a_clock_from_before_the_vault_follows_what_is_there(shared: Home, clock: Path) -> None:
    former = modified(shared, "a")
    wrong = ahead(shared, clock, -20 * YEAR)
    wrong.set("a", b"second")
    assert shared.get("a") == b"second" and modified(shared, "a") > former
    shared.output("verify")


@pytest.mark.parametrize(
    ("seconds", "words"), [(5 * YEAR + DAY, "5 years ahead of"), (-90, "1 minute behind"), (90, "1 minute ahead of")]
)
def test_a_clock_that_differs_from_the_servers_is_told_once(
    shared: Home, clock: Path, seconds: int, words: str
) -> None:
    wrong = ahead(shared, clock, seconds)
    for finished in (wrong.run("get", "a"), wrong.run("set", "a", stdin=b"1"), wrong.run("ls")):
        assert finished.returncode == 0
        assert finished.stderr.count(b"clock is") == 1 and words in finished.stderr.decode(), finished.stderr
    checks = json.loads(wrong.run("doctor", "--json").stdout)
    [told] = [check for check in checks["checks"] if check["name"] == "clock"]
    assert told["state"] == "warning" and words in told["message"]


def test_a_clock_that_is_right_is_not_told(shared: Home, clock: Path) -> None:
    for seconds in (0, 45, -45):
        right = ahead(shared, clock, seconds)
        assert right.run("get", "a").stderr == b"" and right.run("set", "a", stdin=b"1").stderr == b""
    [told] = [c for c in json.loads(shared.run("doctor", "--json").stdout)["checks"] if c["name"] == "clock"]
    assert told["state"] == "ok"


@pytest.mark.parametrize("seconds", FAR)
def test_a_clock_that_is_ahead_of_the_servers_drops_no_history(shared: Home, clock: Path, seconds: int) -> None:
    for value in (b"second", b"third"):
        shared.set("a", value)
    shared.output("rm", "b")
    wrong = ahead(shared, clock, seconds)
    wrong.set("a", b"fourth")
    wrong.output("compact")
    for number, value in enumerate((b"third", b"second", b"first"), 1):
        shared.output("restore", "a", "--version", str(number))
        assert shared.get("a") == value
    shared.output("restore", "b")
    assert shared.get("b") == b"first", "it is known that it was removed, and what it had"


@pytest.mark.parametrize("seconds", [*FAR, -20 * YEAR])
def test_copies_of_a_file_are_merged_by_what_was_seen(home: Home, clock: Path, tmp_path: Path, seconds: int) -> None:
    home.set("a", b"first")
    copy = tmp_path / "copy.vault"
    home.output("backup", str(copy))
    wrong = ahead(home, clock, seconds).with_variables(VAULT_FILE=str(copy), XDG_STATE_HOME=str(tmp_path / "state"))
    wrong.set("a", b"wrong")
    wrong.set("b", b"wrong")
    assert not is_now(modified(wrong, "b"))
    home.output("merge", str(copy))
    for name in ("a", "b"):
        home.set(name, b"on top")
    wrong.output("merge", str(home.vault))
    assert {home.get("a"), home.get("b"), wrong.get("a"), wrong.get("b")} == {b"on top"}
    wrong.set("a", b"and again")
    home.output("merge", str(copy))
    assert home.get("a") == b"and again"


@pytest.mark.parametrize("seconds", FAR)
def test_lists_show_and_age_what_has_a_time_of_the_future(home: Home, clock: Path, seconds: int) -> None:
    home.set("a", b"first")
    ahead(home, clock, seconds).set("a", b"second")
    for words in (("ls",), ("ls", "--json"), ("show", "a"), ("show", "--json", "a"), ("history", "a")):
        assert home.run(*words).returncode == 0, words
    home.output("compact")
    home.output("verify")
