"""AccountExample at a terminal: a password that is typed is not shown, and the echo is back however the program ends."""

import os
import signal

import pexpect
import pytest

from accounts import Client, LoginServer
from terminals import Terminal
from test_account_example import LOGGED_IN, PASSWORD, client, example, server  # noqa: F401 (fixtures)

PROMPT = "Password of ada: "


def test_a_typed_password_is_not_shown(client: Client) -> None:  # noqa: F811
    with Terminal(client, "login", "ada") as terminal:
        terminal.expect(PROMPT)
        assert not terminal.echoes
        terminal.type(PASSWORD + "\n")
        assert terminal.end()[0] == 0
        assert terminal.modes == terminal.modes_before
        assert PASSWORD.encode() not in terminal.everything
    assert client.lines("whoami") == LOGGED_IN


@pytest.mark.parametrize("typed", ["\n", "\x04"], ids=["an empty line", "the end"])
def test_no_password_is_an_error(client: Client, typed: str) -> None:  # noqa: F811
    with Terminal(client, "login", "ada") as terminal:
        terminal.answer(PROMPT, typed)
        code, shown = terminal.end()
        assert code == 2 and b"There is no password" in shown
        assert terminal.modes == terminal.modes_before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1])
def test_every_signal_that_ends_it_restores_the_echo(client: Client, number: signal.Signals) -> None:  # noqa: F811
    with Terminal(client, "login", "ada") as terminal:
        terminal.expect(PROMPT)
        terminal.type("half a passw")
        os.kill(terminal.process.pid, number)
        assert terminal.end()[0] == -number
        assert terminal.modes == terminal.modes_before


def test_ctrl_c_ends_by_the_signal_and_restores_the_echo(client: Client) -> None:  # noqa: F811
    with Terminal(client, "login", "ada") as terminal:
        terminal.answer(PROMPT, "half a passw\x03")
        assert terminal.end()[0] == -signal.SIGINT
        assert terminal.modes == terminal.modes_before


def test_while_it_is_stopped_the_echo_is_back(client: Client) -> None:  # noqa: F811
    shell = pexpect.spawn("bash", ["--norc"], env=client.environment | {"PS1": "ready> "}, timeout=20)
    try:
        shell.expect_exact("ready> ")
        shell.sendline(f"{client.binary} login ada")
        shell.expect_exact(PROMPT)
        for _ in range(2):
            shell.send("half\x1a")
            shell.expect_exact("ready> ")
            shell.sendline("stty -a")
            shell.expect(r"[ ;](-?)echo[ ;]")
            assert shell.match[1] == b""
            shell.expect_exact("ready> ")
            shell.sendline("fg")
            shell.expect_exact("login ada")
            assert shell.waitnoecho(10)
        shell.sendline(PASSWORD)
        shell.expect_exact("state: logged in")
        assert PASSWORD.encode() not in shell.before
    finally:
        shell.close(force=True)


def test_output_that_cannot_be_written_is_an_error(client: Client) -> None:  # noqa: F811
    client.login("ada", PASSWORD)
    with open("/dev/full", "wb") as full:
        process = client.start("whoami", stdout=full)
        assert process.wait(timeout=30) == 1
    assert process.stderr.read() == b"AccountExample: Standard output cannot be written.\n"
