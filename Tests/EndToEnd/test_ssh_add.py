"""`vault ssh-add`: private keys go from the vault to a real agent, and sign there."""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from homes import Home
from json_shapes import is_documented
from ssh_agents import agent, listed, new_key, signs, tool

USAGE, NOT_FOUND, REFUSED, IO = 2, 3, 4, 8
TYPES = {
    "ed25519": ("-t", "ed25519"),
    "rsa": ("-t", "rsa", "-b", "2048"),
    "p256": ("-t", "ecdsa", "-b", "256"),
    "p384": ("-t", "ecdsa", "-b", "384"),
    "p521": ("-t", "ecdsa", "-b", "521"),
}


@pytest.fixture
def running(home: Home) -> Iterator[Home]:
    with agent(home) as running:
        yield running


def store(home: Home, path: Path, name: str = "ssh/laptop") -> None:
    home.output("set", name, "--file", str(path))


@pytest.mark.parametrize("options", TYPES.values(), ids=TYPES.keys())
def test_a_key_of_each_type_signs_through_the_agent(running: Home, options: tuple[str, ...]) -> None:
    key = new_key(running, *options)
    store(running, key)
    assert running.output("ssh-add", "ssh/laptop") == b""
    assert listed(running) == [Path(f"{key}.pub").read_text().strip()]
    assert signs(running, key)


def test_a_key_without_a_comment_gets_the_name_of_its_entry(running: Home) -> None:
    store(running, new_key(running, comment=""))
    report = json.loads(running.output("ssh-add", "ssh/laptop", "--json"))
    assert is_documented(report, "ssh-add", running)
    assert report == {
        "name": "ssh/laptop", "type": "ssh-ed25519", "comment": "ssh/laptop", "lifetime": None, "confirms": False,
    }  # fmt: skip
    assert listed(running)[0].endswith(" ssh/laptop")


def test_the_agent_drops_a_key_after_its_lifetime(running: Home) -> None:
    store(running, new_key(running))
    # The agent looks once in a while, and a loaded machine is slow: the bounds are generous.
    running.output("ssh-add", "-t", "4", "ssh/laptop")
    assert len(listed(running)) == 1
    deadline = time.monotonic() + 30
    while listed(running):
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_the_agent_asks_before_each_use_of_a_key_with_c(home: Home) -> None:
    """The agent asks by its SSH_ASKPASS: an exit code of 0 without an answer is a yes."""
    key = new_key(home)
    store(home, key)
    for program, consents in (("/bin/true", True), ("/bin/false", False)):
        with agent(home, SSH_ASKPASS=program, DISPLAY=":0") as running:
            running.output("ssh-add", "-c", "ssh/laptop")
            assert signs(running, key) == consents


def test_no_file_is_written_and_no_program_started(running: Home) -> None:
    store(running, new_key(running))
    before = running.files()
    traced = running.started_through("strace", "-f", "-qq", "-o", "trace", "-e", "trace=execve,openat,creat")
    traced.output("ssh-add", "ssh/laptop")
    trace = (running.folder / "trace").read_text()
    assert trace.count("execve(") == 1
    written = [line for line in trace.splitlines() if "O_CREAT" in line and str(running.memory) not in line]
    assert written == [] and set(running.files()) - set(before) == {"trace"}


# What is no key for the agent


@pytest.mark.parametrize(
    ("options", "passphrase", "word"),
    [
        ((), "a passphrase", "passphrase"),
        (("-t", "rsa", "-b", "2048", "-m", "PEM"), "", "OpenSSH's format"),
        (("-t", "ecdsa", "-m", "PKCS8"), "", "OpenSSH's format"),
        (("-t", "rsa", "-b", "2048", "-m", "PKCS8"), "a passphrase", "OpenSSH's format"),
    ],
    ids=["encrypted", "PKCS#1", "PKCS#8", "encrypted PKCS#8"],
)
def test_the_command_that_makes_it_one_is_named_and_works(
    running: Home, options: tuple[str, ...], passphrase: str, word: str
) -> None:
    key = new_key(running, *options, passphrase=passphrase)
    store(running, key)
    sentence = running.refusal(USAGE, "ssh-add", "ssh/laptop")
    assert word in sentence and "`ssh-keygen -p -N '' -f FILE`" in sentence and listed(running) == []
    made = tool(running, "ssh-keygen", "-p", "-N", "", "-P", passphrase, "-f", str(key))
    assert made.returncode == 0, made
    store(running, key)
    running.output("ssh-add", "ssh/laptop")
    assert signs(running, key)


def test_what_is_no_key_is_exit_2(running: Home) -> None:
    key = new_key(running).read_bytes()
    for number, value in enumerate([b"tok", b"\xff" * 100, key[:-40], key[:80], key.replace(b"b3Bl", b"b3Bm", 1)]):
        running.set(f"k{number}", value)
        sentence = running.refusal(USAGE, "ssh-add", f"k{number}")
        assert "not a valid private key" in sentence and "tok" not in sentence
    assert "Did you mean" in running.refusal(NOT_FOUND, "ssh-add", "k00") and listed(running) == []


@pytest.mark.parametrize("lifetime", ["0", "-1", "soon", "1000000d"])
def test_a_lifetime_that_no_agent_can_keep_is_exit_2(running: Home, lifetime: str) -> None:
    store(running, new_key(running))
    assert "--lifetime" in running.refusal(USAGE, "ssh-add", f"--lifetime={lifetime}", "ssh/laptop")


# Agents


def test_without_an_agent_it_says_so(home: Home) -> None:
    store(home, new_key(home))
    assert "SSH_AUTH_SOCK" in home.refusal(IO, "ssh-add", "ssh/laptop")
    for path in ("nothing", "id", "x" * 200):
        socket_path = str(home.folder / path)
        assert socket_path in home.with_variables(SSH_AUTH_SOCK=socket_path).refusal(IO, "ssh-add", "ssh/laptop")


def test_an_agent_that_refuses_is_exit_4(home: Home) -> None:
    """Also one that closes the connection, or answers something else."""
    store(home, new_key(home))
    for answer in (b"\x00\x00\x00\x01\x05", b"", b"\x00\x00\x00\x01", b"\x06" * 5):
        with socket.socket(socket.AF_UNIX) as listener:
            path = home.folder / "own-agent"
            path.unlink(missing_ok=True)
            listener.bind(str(path))
            listener.listen()
            thread = threading.Thread(target=answer_once, args=(listener, answer))
            thread.start()
            home.with_variables(SSH_AUTH_SOCK=str(path)).refusal(REFUSED, "ssh-add", "ssh/laptop")
            thread.join()


def answer_once(listener: socket.socket, answer: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        head = connection.recv(4, socket.MSG_WAITALL)
        connection.recv(int.from_bytes(head), socket.MSG_WAITALL)
        connection.sendall(answer)


def test_a_locked_agent_refuses(running: Home) -> None:
    store(running, new_key(running))
    askpass = running.folder / "answer"
    askpass.write_text("#!/bin/sh\necho password\n")
    askpass.chmod(0o700)
    locked = subprocess.run(
        ["ssh-add", "-x"],
        env=running.environment | {"SSH_ASKPASS": str(askpass), "SSH_ASKPASS_REQUIRE": "force"},
        capture_output=True,
        start_new_session=True,
    )
    assert locked.returncode == 0, locked
    assert "ssh-add -X" in running.refusal(REFUSED, "ssh-add", "ssh/laptop")
