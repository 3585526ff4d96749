"""kill -9 at every write of the account example: the account is wholly in or wholly out, and no plain copy of a secret stays."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts import Client, LoginServer, locations_of
from homes import told
from test_account_example import PASSWORD, example, server  # noqa: F401 (fixtures)

# Those that bring something to the disk, or take it away.
WRITES = ("write", "pwrite", "fdatasync", "fsync", "rename", "renameat2", "unlink", "mkdir")
KILLER = Path(__file__).with_name("kill_at_call.c")
LOGGED_IN, LOGGED_OUT = 0, 3
TOKEN = "canary-token-of-an-older-version"


@pytest.fixture
def client(example: str, server: LoginServer, tmp_path: Path) -> Client:  # noqa: F811
    client = Client(example, tmp_path / "home", server.address)
    # The vault is there: what is killed is the account's part.
    client.run("whoami")
    return client


@pytest.fixture(scope="session")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that ends a program at a call, built by the compiler of the Swift toolchain."""
    library = tmp_path_factory.mktemp("killer") / "kill_at_call.so"
    subprocess.run(["clang", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, KILLER], check=True)
    return library


def runs_killed_at_each_write(
    killer: Path, client: Client, prepare: Callable[[], None], *words: str, stdin: bytes = b""
) -> Iterator[subprocess.CompletedProcess]:
    """Runs from the same state, each killed as it enters another write: the n-th of a name on any of its threads."""
    template = client.copy(client.folder.with_name("template"))
    killed = 0
    for name in WRITES:
        for ordinal in range(1, 100):
            client.restore(template)
            prepare()
            variables = {"LD_PRELOAD": str(killer), "KILL_AT": f"{name} {ordinal}"}
            finished = client.with_variables(**variables).run(*words, stdin=stdin)
            if finished.returncode == 0:
                break
            assert finished.returncode == -9, told(finished)
            killed += 1
            yield finished
    assert killed > 5, "hardly a write was met"


def state_of(client: Client) -> int:
    """Whether the next start finds the person logged in; nothing else is allowed."""
    finished = client.run("whoami")
    assert finished.returncode in (LOGGED_IN, LOGGED_OUT), told(finished)
    if finished.returncode == LOGGED_IN:
        assert b"ada" in finished.stdout, told(finished)
    else:
        assert client.output("accounts") == b"", "logged out, but a login is kept"
    return finished.returncode


def test_a_login_is_wholly_there_or_not_at_all(killer: Path, client: Client) -> None:
    password = PASSWORD.encode() + b"\n"
    found = set()
    for finished in runs_killed_at_each_write(killer, client, lambda: None, "login", "ada", stdin=password):
        state = state_of(client)
        found.add(state)
        if b"state: logged in" in finished.stdout:
            assert state == LOGGED_IN
        if state == LOGGED_IN:
            client.output("check")
        assert locations_of([PASSWORD], client.folder) == []
    assert found == {LOGGED_IN, LOGGED_OUT}


def test_a_rotated_token_that_was_told_is_never_lost(killer: Path, client: Client, server: LoginServer) -> None:  # noqa: F811
    for finished in runs_killed_at_each_write(killer, client, lambda: client.login("ada", PASSWORD), "refresh"):
        # Killed between the server's answer and the disk the tokens are gone: then the person logs in again.
        check = client.run("check")
        if b"The tokens are new." in finished.stdout:
            assert check.returncode == 0, told(check)
        assert check.returncode in (0, 4), told(check)
        if check.returncode == 4:
            assert state_of(client) == LOGGED_OUT
            client.login("ada", PASSWORD)
        assert locations_of(server.issued, client.folder) == []


def test_a_logout_is_whole_or_did_not_happen(killer: Path, client: Client) -> None:
    for finished in runs_killed_at_each_write(killer, client, lambda: client.login("ada", PASSWORD), "logout"):
        state = state_of(client)
        if b"state: logged out" in finished.stdout:
            assert state == LOGGED_OUT
        if state == LOGGED_OUT:
            client.login("ada", PASSWORD)


def test_a_migration_is_finished_by_the_next_start_and_leaves_no_plain_copy(killer: Path, client: Client) -> None:
    plain = client.folder / "account.json"
    account = {"id": "7", "username": "ada", "token": TOKEN, "nickname": "Ada", "points": 3, "collectIds": []}

    def prepare() -> None:
        plain.write_text(json.dumps(account))

    for _ in runs_killed_at_each_write(killer, client, prepare, "migrate", str(plain)):
        state = state_of(client)
        assert plain.exists() or state == LOGGED_IN, "the account is nowhere"
        client.output("migrate", str(plain))
        assert state_of(client) == LOGGED_IN
        assert not plain.exists()
        assert locations_of([TOKEN], client.folder) == []
