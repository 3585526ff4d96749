"""A package that sees only the public symbols repeats what outside use has found, and the shapes of five programs."""

import fcntl
import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from executables import executable
from homes import Home

pytestmark = pytest.mark.both_paths


@pytest.fixture(scope="session")
def outside() -> Path:
    return Path(executable("VAULT_OUTSIDE", "the built `outside`"))


def start(outside: Path, home: Home, *words: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [outside, *words], env=home.environment | variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def run(outside: Path, home: Home, *words: str, **variables: str) -> str:
    process = start(outside, home, *words, **variables)
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    return printed.strip()


def test_no_view_of_an_observed_value_stays_stale(outside: Path, home: Home) -> None:
    assert run(outside, home, "stale-values") == "stale 0 of 300"


def test_no_view_of_an_account_stays_stale(outside: Path, home: Home) -> None:
    assert run(outside, home, "stale-accounts") == "stale 0 of 200"


def test_each_broken_store_is_caught_in_20_of_20_runs(outside: Path) -> None:
    tests = [outside.parent / "outsidePackageTests.xctest", "--testing-library", "swift-testing"]
    tested = subprocess.run(tests, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    passed = sorted(re.findall(r"with (\d+) test cases passed", tested.stdout))
    assert tested.returncode == 0 and passed == ["20", "40"], tested.stdout


@pytest.mark.in_a_file
def test_a_held_lock_stalls_no_task(outside: Path, home: Home) -> None:
    process = start(outside, home, "stall")
    assert process.stdin and process.stdout
    vault = process.stdout.readline().removeprefix("vault ").strip()
    with open(vault, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(4)
    printed, _ = process.communicate(timeout=120)
    stall = re.fullmatch(r"longest stall (\d+) ms", printed.strip())
    assert process.returncode == 0 and stall, printed
    # Four seconds if the tasks' threads were blocked.
    assert int(stall[1]) < 200


def test_fifty_staggered_rejections_of_one_token_make_one_refresh(outside: Path, home: Home) -> None:
    assert run(outside, home, "staggered", APP_NAME="app") == "refreshes 1, token access-1"


def test_two_processes_and_a_slow_server_use_a_refresh_token_once(outside: Path, home: Home) -> None:
    server = home.folder / "server"
    run(outside, home, "refresh", str(server), APP_NAME="mail", LOGIN_ONLY="1")
    both = [start(outside, home, "refresh", str(server), APP_NAME="mail", SERVER_SECONDS="17") for _ in range(2)]
    printed = [process.communicate(timeout=120)[0] for process in both]
    assert all(re.search(r"token access-1 after", text) for text in printed), printed
    assert server.read_text() == "refresh-0\n"


def test_after_a_kill_in_a_refresh_the_next_process_goes_on_within_a_second(outside: Path, home: Home) -> None:
    server = home.folder / "server"
    run(outside, home, "refresh", str(server), APP_NAME="mail", LOGIN_ONLY="1")
    first = start(outside, home, "refresh", str(server), APP_NAME="mail", SERVER_SECONDS="600")
    while not server.exists() or not server.read_text():
        time.sleep(0.01)
    second = start(outside, home, "refresh", str(server), APP_NAME="mail")
    assert second.stdout and second.stdout.readline() == "ready\n"
    time.sleep(0.5)
    first.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    printed, _ = second.communicate(timeout=60)
    # The promise is a second; a busy machine gets some more.
    assert time.monotonic() - killed < 5
    assert printed.startswith("token access-1 after"), printed
    first.communicate()


def test_a_profile_that_changed_meanwhile_is_merged_by_field(outside: Path, home: Home) -> None:
    assert run(outside, home, "merge", APP_NAME="app") == "Ada [1, 2, 3]"


@pytest.mark.in_a_file
def test_a_program_without_a_name_reads_what_the_person_set(outside: Path, home: Home) -> None:
    home.run("set", "u.token", stdin=b"by hand\n")
    assert run(outside, home, "token") == "by hand"
    assert run(outside, home, "token", "own") == "own"
    assert home.run("get", "u.token").stdout == b"by hand"
    assert home.run("get", "outside/u.token").stdout == b"own"


def test_a_program_reads_the_types_that_the_person_set(outside: Path, home: Home) -> None:
    given = [
        ("int", "int", b"42\n"), ("bool", "bool", b"true\n"), ("real", "real", b"2.5\n"), ("string", "string", b"s\n"),
        ("data", "data", b"\xff\x00"), ("date", "date", b"2026-01-31T09:05:00.120Z\n"),
        ("array", "json", b"[1, 2.5]\n"), ("object", "json", b'{"hosts": {"a": 1},\n "until": null}\n'),
        ("url", "string", b"https://example.org/a\n"), ("uuid", "string", b"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\n"),
    ]  # fmt: skip
    for name, type_name, value in given:
        home.output("set", f"mail/{name}", "--type", type_name, stdin=value)
    assert run(outside, home, "typed", APP_NAME="mail").splitlines() == [
        "42 42", "true 2.5", "s 2", "1769850300.12", "[1.0, 2.5]", '["a": 1]', "example.org",
        "E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
    ]  # fmt: skip


def test_what_a_program_wrote_is_shown_as_text(outside: Path, home: Home) -> None:
    run(outside, home, "shown", APP_NAME="mail")
    assert home.get("mail/int") == b"-7"
    assert home.get("mail/date") == b"2026-01-31T09:05:00.120Z"
    assert home.get("mail/object") == b'{"hosts":{"a":1}}'
    assert home.get("mail/array") == b'["AQI=",null]'
    items = json.loads(home.output("ls", "--json"))["items"]
    assert {item["name"]: item["expires"] for item in items} == {
        "mail/array": None, "mail/date": None, "mail/int": "2100-01-01T00:00:00.000Z", "mail/object": None,
    }  # fmt: skip


@pytest.mark.in_a_file
def test_two_programs_do_not_overwrite_each_other(outside: Path, home: Home) -> None:
    for name in ["mail", "chat"]:
        assert run(outside, home, "token", name, APP_NAME=name) == name
    other = home.folder / "other"
    other.symlink_to(outside)
    assert run(other, home, "token", "third") == "third"
    assert run(outside, home, "token") == "none"
    listed = home.run("ls").stdout.decode().split()
    assert listed == ["chat/u.token", "mail/u.token", "other/u.token"]


@pytest.mark.in_a_file
def test_reading_makes_no_file(outside: Path, home: Home) -> None:
    assert run(outside, home, "token") == "none"
    assert not list(home.folder.iterdir())


@pytest.mark.parametrize(
    ("shape", "first", "second"),
    [
        (
            "groups",
            "before: none, ignored false\nlaunches 1, graphs 1",
            "before: secret, ignored true\nlaunches 2, graphs 1",
        ),
        (
            "actions",
            "first login done false, index 1\nfirst login done false, index 1",
            "first login done true, index 2\nfirst login done true, index 2",
        ),
        (
            "user",
            "name none, theme light, password none\nvisits 1",
            "name Ada, theme dark, password correct horse\nvisits 2",
        ),
        (
            "account",
            "at start false\nat end true, last user ada",
            "at start true\nat end false, last user ada",
        ),
        (
            "observable",
            "sid=access-0; user=a%20da | a da, request 1",
            "sid=access-0; user=a%20da | a da, request 2",
        ),
    ],
)
def test_a_program_of_this_shape_keeps_its_values(
    outside: Path, home: Home, shape: str, first: str, second: str
) -> None:
    assert run(outside, home, shape, APP_NAME="app") == first
    assert run(outside, home, shape, APP_NAME="app") == second


def test_a_program_without_secrets_links_no_vault(outside: Path, home: Home) -> None:
    plain = outside.parent / "plain"
    assert run(plain, home) == "light dark 1"
    assert run(plain, home) == "dark dark 2"
    assert sorted(path.name for path in home.folder.rglob("*") if path.is_file()) == ["plain.plist"]
    for program, links_it in [(plain, False), (outside, True)]:
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        assert ("libsodium" in libraries) == links_it
        assert any(f"{len(module)}{module}" in symbols for module in ("SealedLog", "Age", "Sealing")) == links_it


@pytest.mark.in_a_file
def test_a_named_program_needs_no_home(outside: Path, home: Home) -> None:
    paths = {"VAULT_FILE": str(home.folder / "a.vault"), "VAULT_KEY_FILE": str(home.folder / "a.key")}
    assert run(outside, home, "token", "kept", APP_NAME="mail", HOME="", **paths) == "kept"
