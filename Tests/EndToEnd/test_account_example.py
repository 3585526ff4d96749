"""AccountExample, a real client of a login server: who has logged in once stays so, whatever happens to the program,
the server and the machine, until the person or the server ends it."""

import os
import subprocess
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from accounts import Client, LoginServer, locations_of
from executables import executable
from layout import records
from tracing import expression

PASSWORD = "correcthorsebatterystaple"
OTHER_PASSWORD = "troubadourandthree"
LOGGED_IN = {"state": "logged in", "user": "ada", "nickname": "Ada", "points": "10", "collected": ""}
ENDED = "logged out (the server ended the session)"
REJECTED = "logged out (the server no longer accepts the login)"


@pytest.fixture(scope="session")
def example() -> str:
    if "VAULT_ACCOUNT_EXAMPLE" not in os.environ:
        pytest.skip("VAULT_ACCOUNT_EXAMPLE does not name the built `AccountExample`")
    return executable("VAULT_ACCOUNT_EXAMPLE", "the built `AccountExample`")


@pytest.fixture
def server() -> Iterator[LoginServer]:
    server = LoginServer()
    try:
        server.ask("password", userName="ada", password=PASSWORD)
        server.ask("password", userName="bob", password=OTHER_PASSWORD)
        yield server
    finally:
        server.stop()


@pytest.fixture
def client(example: str, server: LoginServer, tmp_path: Path) -> Iterator[Client]:
    """A client that has shown no secret, and has left none in plain text, by the end of each test."""
    client = Client(example, tmp_path / "home", server.address)
    yield client
    client.end_all()
    secrets = [PASSWORD, OTHER_PASSWORD] + (server.issued if server.process.poll() is None else [])
    assert [secret for secret in secrets if secret.encode() in client.printed] == []
    assert locations_of(secrets, client.folder) == []


@pytest.fixture
def ada(client: Client) -> Client:
    """A client where ada is logged in."""
    client.login("ada", PASSWORD)
    return client


def until(condition, what: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.02)


def end_token(server: LoginServer, client: Client) -> None:
    """Has the client hold an access token that has ended; the next ones will live."""
    server.ask("life", seconds=0)
    client.output("refresh")
    server.ask("life", seconds=900)


# A login and what it survives


def start_held_refresh(server: LoginServer, client: Client) -> subprocess.Popen:
    """Starts a process that refreshes. The server has taken the old token, and the process has no new one yet."""
    end_token(server, client)
    before = server.count("/refresh 200")
    server.ask("hold", path="/refresh")
    process = client.start("check")
    until(lambda: server.count("/refresh 200") == before + 1, "the refresh arrives")
    return process


def test_nobody_is_logged_in_at_first(client: Client) -> None:
    assert client.state(3) == "logged out (nobody has logged in yet)"


def test_a_login_outlives_a_killed_program(ada: Client) -> None:
    watching = ada.start("watch")
    assert ada.next_line(watching) == "state: logged in\n"
    ada.kill(watching)
    assert ada.lines("whoami") == LOGGED_IN
    assert ada.lines("check") == {"state": "logged in"}


def test_a_program_killed_before_the_server_answers_is_logged_out(client: Client, server: LoginServer) -> None:
    server.ask("hold", path="/login")
    process = client.start("login", "ada")
    process.stdin.write(PASSWORD.encode())
    process.stdin.close()
    process.stdin = None
    until(lambda: server.count("/login 200"), "the login arrives")
    client.kill(process)
    assert client.state(3) == "logged out (nobody has logged in yet)"


def test_a_wrong_password_changes_nothing(ada: Client) -> None:
    lines, sentence = ada.failure(4, "login", "bob", stdin=b"wrong\n")
    assert lines == {}
    assert sentence == "The server refused: The user name or the password is wrong."
    assert ada.lines("whoami") == LOGGED_IN


# The server is down, or something else answers in its place


def test_a_server_that_is_down_logs_nobody_out(ada: Client, server: LoginServer) -> None:
    secrets = [PASSWORD, *server.issued]
    server.stop()
    for command in (["check"], ["refresh"], ["collect", "x"]):
        lines, sentence = ada.failure(8, *command)
        assert lines == {} and sentence.startswith("The server cannot be reached: There is no connection"), sentence
    assert ada.lines("whoami") == LOGGED_IN
    assert locations_of(secrets, ada.folder) == []


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 500},
        {"status": 503, "retryAfter": "0"},
        {"status": 429, "retryAfter": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"status": 404},
        {"status": 302},
        {"status": 407, "body": "<p>Who is there?</p>"},
        {"status": 403, "body": "<p>Welcome to the hotel. Please pay.</p>"},
        {"status": 401, "body": "{}"},
        {"status": 200, "body": "<p>Welcome to the hotel.</p>"},
    ],
    ids=lambda answer: f"{answer['status']}{' page' if 'body' in answer else ''}",
)
def test_an_answer_that_is_not_the_servers_own_no_logs_nobody_out(
    ada: Client, server: LoginServer, answer: dict
) -> None:
    server.ask("answer", **answer)
    assert ada.failure(8, "check")[1].startswith("The server cannot be reached: ")
    assert ada.failure(8, "refresh")[1].startswith("The server cannot be reached: ")
    assert ada.lines("whoami") == LOGGED_IN
    server.ask("answer")
    assert ada.lines("check") == {"state": "logged in"}
    # The token is not carried to wherever a redirection points.
    assert server.count(f"/elsewhere {answer['status']}") == 0


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_server_that_asks_to_be_left_alone_is(ada: Client, server: LoginServer, form: str) -> None:
    # Dates have whole seconds.
    wanted = "3" if form == "seconds" else formatdate(time.time() + 4, usegmt=True)
    server.ask("answer", status=503, retryAfter=wanted)
    checking = ada.start("check")
    until(lambda: server.count("/validate 503"), "the first attempt")
    time.sleep(1.8)
    # Left to itself it would have come back by now, after half a second at most.
    assert server.count("/validate 503") == 1
    server.ask("answer")
    assert ada.end(checking) == (0, "state: logged in\n", "")


# Refreshing


def test_a_token_that_has_ended_is_refreshed_and_kept(ada: Client, server: LoginServer) -> None:
    end_token(server, ada)
    before = server.count("/refresh 200")
    assert ada.lines("check") == {"state": "logged in"}
    assert server.count("/refresh 200") == before + 1
    # The next process has the new one: it need not refresh, and could not with the old one.
    assert ada.lines("collect", "x") == {"collected": "x"}
    assert server.count("/refresh 200") == before + 1
    ada.output("refresh")
    assert server.count("/refresh 401") == 0
    assert ada.lines("check") == {"state": "logged in"}


def test_of_two_processes_that_refresh_at_once_one_asks_the_server(ada: Client, server: LoginServer) -> None:
    first = start_held_refresh(server, ada)
    refreshes = server.count("/refresh 200")
    second = ada.start("check")
    time.sleep(1)
    server.ask("release")
    assert ada.end(first) == (0, "state: logged in\n", "")
    assert ada.end(second) == (0, "state: logged in\n", "")
    assert (server.count("/refresh 200"), server.count("/refresh 401")) == (refreshes, 0)
    assert ada.lines("whoami") == LOGGED_IN


def test_many_processes_that_refresh_at_once_stay_logged_in(ada: Client, server: LoginServer) -> None:
    for _ in range(3):
        end_token(server, ada)
        before = server.count("/refresh 200")
        processes = [ada.start("check") for _ in range(6)]
        assert [ada.end(process) for process in processes] == [(0, "state: logged in\n", "")] * 6
        assert (server.count("/refresh 200"), server.count("/refresh 401")) == (before + 1, 0)


def test_a_process_that_waits_for_a_killed_one_goes_on_at_once(ada: Client, server: LoginServer) -> None:
    first = start_held_refresh(server, ada)
    second = ada.start("check")
    time.sleep(1)
    assert second.poll() is None and server.count("/refresh 401") == 0, "it does not wait"
    ada.kill(first)
    # The answer was lost: the server has taken the token, and rejects it now. No lease is waited for.
    until(lambda: server.count("/refresh 401") == 1, "the second refresh arrives", seconds=5)
    server.ask("release")
    assert ada.end(second)[0] == 4


def test_a_program_killed_between_the_servers_answer_and_the_disk_needs_a_login(
    ada: Client, server: LoginServer
) -> None:
    ada.output("collect", "x")
    server.ask("hold", path="/refresh")
    process = ada.start("refresh")
    until(lambda: server.count("/refresh 200"), "the refresh arrives")
    ada.kill(process)
    assert ada.lines("whoami") == LOGGED_IN | {"collected": "x"}
    # The server has taken the old refresh token, and nobody has got the new one.
    server.ask("release")
    assert ada.failure(4, "refresh")[1] == "The server refused: It no longer accepts this login."
    lines, _ = ada.failure(3, "whoami")
    assert lines == {"state": REJECTED, "last user": "ada"}
    ada.login("ada", PASSWORD)
    assert ada.lines("whoami") == LOGGED_IN | {"collected": "x"}


# The server ends the session


def test_who_is_kicked_is_logged_out_at_the_next_check(ada: Client, server: LoginServer) -> None:
    server.ask("kick", userName="ada")
    assert ada.lines("whoami") == LOGGED_IN
    assert ada.failure(4, "check")[1] == "The server refused: It ended the session."
    assert ada.failure(3, "whoami")[0] == {"state": ENDED, "last user": "ada"}


@pytest.mark.parametrize("command", [["refresh"], ["collect", "x"]], ids=lambda words: words[0])
def test_who_is_kicked_is_logged_out_whatever_asks_the_server(
    ada: Client, server: LoginServer, command: list[str]
) -> None:
    server.ask("kick", userName="ada")
    assert ada.failure(4, *command)[1] == "The server refused: It ended the session."
    assert ada.state(3) == ENDED


def test_a_program_that_watches_sees_what_others_do(ada: Client) -> None:
    watching = ada.start("watch")
    assert ada.next_line(watching) == "state: logged in\n"
    ada.output("logout")
    assert ada.next_line(watching) == "state: logged out (by the user)\n"
    ada.kill(watching)


# Logging out


def test_a_logout_is_told_to_the_server_and_stays(ada: Client, server: LoginServer) -> None:
    assert ada.lines("logout") == {"state": "logged out (by the user)"}
    assert server.count("/logout 200") == 1
    assert ada.failure(3, "whoami")[0] == {"state": "logged out (by the user)", "last user": "ada"}
    assert ada.failure(3, "check")[1] == "Nobody is logged in."
    assert server.count("/validate 200") + server.count("/validate 401") == 0


def test_a_logout_needs_no_server(ada: Client, server: LoginServer) -> None:
    server.stop()
    finished = ada.run("logout")
    assert (finished.returncode, finished.stdout) == (0, b"state: logged out (by the user)\n")
    assert b"The server could not be told: The server cannot be reached" in finished.stderr
    assert ada.state(3) == "logged out (by the user)"


def test_the_vault_holds_no_byte_of_the_login_after_a_logout_not_even_sealed(ada: Client) -> None:
    ada.output("refresh")
    before = ada.vault.read_bytes()
    sealed = {
        before[offset : offset + 32] for record in records(ada.vault) for offset in range(record.offset, record.end - 32, 32)
    }
    assert len(sealed) > 20
    ada.output("logout")
    after = ada.vault.read_bytes()
    assert [chunk for chunk in sealed if any(chunk) and chunk in after] == []


# The profile, and several accounts


def test_a_change_of_one_list_is_kept(ada: Client) -> None:
    assert ada.lines("collect", "first") == {"collected": "first"}
    assert ada.lines("collect", "second") == {"collected": "first, second"}
    assert ada.lines("whoami") == LOGGED_IN | {"collected": "first, second"}


def test_accounts_keep_apart(ada: Client, server: LoginServer) -> None:
    ada.output("collect", "of ada")
    ada.login("bob", OTHER_PASSWORD)
    assert ada.output("accounts") == b"id-1\nid-2 (current)\n"
    ada.output("collect", "of bob")
    bob = ada.lines("whoami")
    assert (bob["user"], bob["collected"]) == ("bob", "of bob")
    assert ada.lines("switch", "id-1") == LOGGED_IN | {"collected": "of ada"}
    assert ada.lines("check") == {"state": "logged in"}
    server.ask("kick", userName="ada")
    ada.failure(4, "check")
    assert ada.lines("switch", "id-2") == bob
    assert ada.lines("check") == {"state": "logged in"}


def test_tokens_that_come_after_a_switch_go_to_their_own_account(ada: Client, server: LoginServer) -> None:
    ada.login("bob", OTHER_PASSWORD)
    ada.output("switch", "id-1")
    server.ask("hold", path="/refresh")
    refreshing = ada.start("refresh")
    until(lambda: server.count("/refresh 200"), "the refresh arrives")
    ada.output("switch", "id-2")
    server.ask("release")
    # They are kept, but who asked for those of the current account gets none of another.
    assert ada.end(refreshing) == (1, "", "AccountExample: Another account has become the current one.\n")
    for account, name in (("id-1", "ada"), ("id-2", "bob")):
        assert ada.lines("switch", account)["user"] == name
        ada.output("refresh")
        assert ada.lines("check") == {"state": "logged in"}
    assert server.count("/refresh 401") == 0


# The vault is locked


def test_a_vault_without_its_key_is_locked_and_not_logged_out(ada: Client) -> None:
    away = ada.folder / "away.key"
    ada.key.rename(away)
    lines, sentence = ada.failure(5, "whoami")
    assert lines == {"state": "locked"}
    assert sentence.startswith(f"The key file {ada.key} is missing")
    assert ada.failure(5, "check")[1] == sentence
    away.rename(ada.key)
    assert ada.lines("whoami") == LOGGED_IN
    assert ada.lines("check") == {"state": "logged in"}


# Secrets


def test_no_secret_goes_into_a_file_at_any_time(client: Client, server: LoginServer) -> None:
    """Not even into one that is soon removed: of all that is written, a secret goes to the server alone."""
    log = client.folder.with_name("strace")
    names = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg", "execve", "openat", "rename",
             "renameat", "renameat2", "link", "linkat", "memfd_create", "msync")  # fmt: skip
    options = ("-fyqq", "-A", "-s1000000", f"-o{log}", "-e", expression(names), "-e", "signal=none")
    traced = Client("strace", client.folder, server.address)
    for words in (["login", "ada"], ["refresh"], ["check"], ["collect", "x"], ["logout"]):
        traced.output(*options, client.binary, *words, stdin=PASSWORD.encode() + b"\n" if "login" in words else b"")
    client.keep(traced.printed)
    calls = log.read_text(errors="surrogateescape").splitlines()
    secrets = [PASSWORD, *server.issued]
    telling = [line for line in calls if any(secret in line for secret in secrets)]
    # It would be seen: the server was told.
    assert len({secret for secret in secrets for line in telling if secret in line}) >= 3
    assert [line for line in telling if "socket:[" not in line and "<TCP:" not in line] == []
    assert len([line for line in calls if "execve(" in line]) == 5


def test_no_secret_is_in_the_arguments_or_the_environment(client: Client, server: LoginServer) -> None:
    server.ask("hold", path="/login")
    process = client.start("login", "ada")
    process.stdin.write(PASSWORD.encode() + b"\n")
    process.stdin.close()
    process.stdin = None
    until(lambda: server.count("/login 200"), "the login arrives")
    folder = Path(f"/proc/{process.pid}")
    shown = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
    server.ask("release")
    assert client.end(process) == (0, "state: logged in\n", "")
    assert b"login\0ada" in shown and PASSWORD.encode() not in shown


def test_a_password_as_an_argument_is_refused_and_not_repeated(client: Client) -> None:
    finished = client.run("login", "ada", PASSWORD)
    assert (finished.returncode, finished.stdout) == (2, b"")
    assert finished.stderr.startswith(b"AccountExample: Unknown command or wrong number of arguments.\nUsage: ")


def test_the_server_prints_nothing_but_its_address(ada: Client, server: LoginServer) -> None:
    ada.output("check")
    ada.output("logout")
    secrets = [PASSWORD, *server.issued]
    assert locations_of(secrets, ada.folder) == []
    assert server.stop() == (b"", b"")
