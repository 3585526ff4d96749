"""Several commands ask at one terminal: one at a time, and nothing that is typed is shown, however any of them ends."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from homes import AS_NOBODY, Home
from key_slots import PASSPHRASE, PROMPT, add_passphrase, lose_key_file
from terminals import Terminal

GET = ["get", "u.token"]

# Starts commands in the terminal's foreground group, as make does: the first, the others once that asks, and then some
# one after the other. It outlives Ctrl-C, and tells how they ended.
LEADER = """
import json, signal, subprocess, sys, time
together, afterwards = json.loads(sys.argv[1])
signal.signal(signal.SIGINT, lambda *_: None)
started = []
for words in together:
    started.append(subprocess.Popen([sys.argv[2], *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    time.sleep(0.4 if len(started) == 1 else 0.05)
time.sleep(0.3)
print("started", json.dumps([process.pid for process in started]), flush=True)
codes = [process.wait() for process in started]
for words in afterwards:
    codes.append(subprocess.run([sys.argv[2], *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode)
print("ended", json.dumps(codes), flush=True)
"""


@pytest.fixture(scope="module")
def locked_template(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(binary, tmp_path_factory.mktemp("together") / "home")
    home.set("u.token", b"tok")
    add_passphrase(home)
    lose_key_file(home)
    return home


@pytest.fixture
def locked(locked_template: Home, tmp_path: Path) -> Home:
    return locked_template.copy(tmp_path / "locked")


class Together(Terminal):
    """Commands that ask at one terminal. The first has its turn."""

    def __init__(self, home: Home, together: list[list[str]], afterwards: list[list[str]] = []) -> None:
        words = ("/usr/bin/python3", "-c", LEADER, json.dumps([together, afterwards]))
        super().__init__(home.started_through(*home.through, *words))
        self.screen.expect(rb"started (\[.*?\])\n")
        self.processes = json.loads(self.screen.match[1])
        self.asked = self.everything.count(PROMPT.encode())
        assert self.asked == 1, "one asks at a time"

    def answer_all(self, count: int, text: str = PASSPHRASE) -> None:
        """Answers the prompt that is shown, and those that come after it."""
        for ordinal in range(count):
            self.await_prompt(ordinal + 1)
            assert not self.echoes
            self.type(text + "\n")

    def await_prompt(self, ordinal: int) -> None:
        """Waits for the prompt of that number, of those that were not answered when this was called first."""
        deadline = time.monotonic() + 20
        while self.everything.count(PROMPT.encode()) < self.asked + ordinal - 1 or self.echoes:
            assert time.monotonic() < deadline, self.everything
            self.look()

    def look(self) -> None:
        try:
            self.screen.expect_exact(b"never shown", timeout=0.02)
        except pexpect.TIMEOUT:
            pass

    def codes(self) -> list[int]:
        """How all have ended: nothing that was typed was shown, and the terminal is as it was."""
        self.screen.expect(rb"ended (\[.*?\])\n")
        codes = json.loads(self.screen.match[1])
        assert PASSPHRASE.encode() not in self.everything
        assert self.modes == self.modes_before
        return codes


@pytest.mark.parametrize("count", [2, 3, 10])
def test_each_asks_when_the_one_before_has_ended(locked: Home, count: int) -> None:
    with Together(locked, [GET] * count) as terminal:
        terminal.answer_all(count)
        assert terminal.codes() == [0] * count
        assert terminal.everything.count(PROMPT.encode()) == count


@pytest.mark.parametrize("count", [2, 3, 10])
def test_what_is_typed_between_two_prompts_is_not_shown_either(locked: Home, count: int) -> None:
    """The next prompt drops it: a person has not seen yet what is asked for."""
    with Together(locked, [GET] * count) as terminal:
        for _ in range(count - 1):
            former = terminal.everything.count(PROMPT.encode())
            terminal.type(PASSPHRASE + "\n")
            while terminal.everything.count(PROMPT.encode()) == former:
                terminal.type("early")
                terminal.look()
            # What has come after the prompt is erased.
            terminal.type("\x15")
        terminal.type(PASSPHRASE + "\n")
        assert terminal.codes() == [0] * count
        assert b"early" not in terminal.everything


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("victims", [[0], [1], [2], [0, 1], [1, 2]], ids=str)
def test_whichever_of_them_is_killed(locked: Home, number: signal.Signals, victims: list[int]) -> None:
    with Together(locked, [GET] * 3) as terminal:
        for victim in victims:
            os.kill(terminal.processes[victim], number)
        time.sleep(0.1)
        left = 3 - len(victims)
        if 0 in victims:
            # The next one asks.
            terminal.await_prompt(2)
            terminal.asked += 1
        terminal.answer_all(left)
        assert sorted(terminal.codes()) == [-number] * len(victims) + [0] * left


@pytest.mark.parametrize("count", [1, 2, 3, 10])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_if_all_are_killed_the_echo_is_on(locked: Home, count: int, number: signal.Signals) -> None:
    for order in (1, -1):
        with Together(locked, [GET] * count) as terminal:
            for process in terminal.processes[::order]:
                os.kill(process, number)
            assert terminal.codes() == [-number] * count


def test_ctrl_c_ends_all_of_them_and_the_echo_is_on(locked: Home) -> None:
    with Together(locked, [GET] * 10) as terminal:
        terminal.type("half\x03")
        assert terminal.codes() == [-signal.SIGINT] * 10
        assert b"half" not in terminal.everything


@pytest.mark.parametrize("count", [1, 3])
def test_what_sigkill_leaves_the_next_prompt_restores(locked: Home, count: int) -> None:
    with Together(locked, [GET] * count, [GET]) as terminal:
        for process in terminal.processes[::-1]:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.3)
        assert not terminal.echoes
        terminal.await_prompt(2)
        terminal.type(PASSPHRASE + "\n")
        assert terminal.codes() == [-signal.SIGKILL] * count + [0]


def test_all_kinds_of_questions_wait_for_each_other(locked: Home) -> None:
    """A value that is set, and one that is chosen."""
    (locked.folder / "taken.key").rename(locked.key)
    words = [["set", "u.other"], ["pick"]]
    there = locked.started_through("/usr/bin/python3", "-c", LEADER, json.dumps([words, []]))
    with Terminal(there) as terminal:
        terminal.answer("(not shown): ", "a-new-value\n")
        terminal.answer("Repeat the value: ", "a-new-value\n")
        terminal.answer("u.token", "\r")
        terminal.expect("ended [0, 0]")
        assert terminal.modes == terminal.modes_before and b"a-new-value" not in terminal.everything


def test_an_ordinary_user_at_another_users_terminal(ordinary: Home) -> None:
    """After su(1), the device cannot be opened."""
    ordinary.set("u.token", b"tok")
    add_passphrase(ordinary)
    ordinary.key.unlink()
    with Together(ordinary, [GET] * 3) as terminal:
        terminal.answer_all(3)
        assert terminal.codes() == [0, 0, 0]


def test_who_waits_uses_what_unlock_has_left(locked: Home) -> None:
    try:
        with Together(locked, [["unlock"], GET, GET]) as terminal:
            terminal.type(PASSPHRASE + "\n")
            assert terminal.codes() == [0, 0, 0]
            assert terminal.everything.count(PROMPT.encode()) == 1
    finally:
        locked.run("lock")


# A terminal that other programs have


@pytest.fixture
def shell(locked: Home) -> Iterator[pexpect.spawn]:
    environment = locked.environment | {"PS1": "ready> ", "TERM": "dumb"}
    shell = pexpect.spawn("bash", ["--norc", "--noprofile", "-i"], env=environment, timeout=20, encoding="utf-8")
    shell.expect_exact("ready> ")
    yield shell
    shell.close(force=True)


def test_where_nothing_can_be_asked_it_is_locked_and_says_what_helps(locked: Home, shell: pexpect.spawn) -> None:
    get = f"{locked.binary} get u.token 2>>said"
    shell.sendline(f"cd {locked.folder}; diff <({get}; echo $? >>codes) <({get}; echo $? >>codes); echo compared-$?")
    shell.expect_exact("compared-0")
    shell.expect_exact("ready> ")
    said = (locked.folder / "said").read_text().splitlines()
    assert (locked.folder / "codes").read_text() == "5\n5\n"
    assert len(said) == 2 and all("`vault unlock`" in line for line in said)
    shell.sendline("stty -a")
    shell.expect(r"[ ;](-?)echo[ ;]")
    assert shell.match[1] == ""


def test_a_job_in_the_background_asks_when_it_is_in_front(locked: Home, shell: pexpect.spawn) -> None:
    shell.sendline(f"{locked.binary} get u.token &")
    shell.expect_exact("vault: Waiting to show a prompt. Run `fg`.")
    for _ in range(50):
        shell.sendline("jobs")
        if shell.expect_exact(["Stopped", "Running"]) == 0:
            break
        time.sleep(0.1)
    shell.sendline("stty -a")
    shell.expect(r"[ ;](-?)echo[ ;]")
    assert shell.match[1] == ""
    shell.sendline("fg")
    shell.expect_exact(PROMPT)
    shell.waitnoecho(10)
    shell.sendline(PASSPHRASE)
    shell.expect_exact("tok")


def test_a_stopped_one_keeps_nobody_from_asking(locked: Home, shell: pexpect.spawn) -> None:
    shell.sendline(f"{locked.binary} get u.token")
    for _ in range(2):
        shell.expect_exact(PROMPT)
        shell.waitnoecho(10)
        shell.send("half\x1a")
        shell.expect_exact("ready> ")
        shell.sendline(f"{locked.binary} get u.token")
    shell.expect_exact(PROMPT)
    shell.waitnoecho(10)
    shell.sendline(PASSPHRASE)
    shell.expect_exact("tok")
    shell.sendline("kill -KILL %1 %2; wait")
    shell.expect_exact("ready> ")
