"""A passphrase as a key: asked for at the terminal, hidden, three times at most, and nowhere else."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from homes import Home
from key_slots import PASSPHRASE, PROMPT, add_passphrase, keys, lose_key_file, private_file, with_passphrase
from terminals import Terminal

pytestmark = pytest.mark.both_paths_in_full

USAGE, REFUSED, LOCKED = 2, 4, 5
NEW, AGAIN = "New passphrase (not shown): ", "Repeat the passphrase: "
GET = ("get", "u.token")


@pytest.fixture(scope="module")
def locked_template(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(binary, tmp_path_factory.mktemp("passphrase") / "home")
    home.set("u.token", b"tok")
    add_passphrase(home, "--label", "mine")
    lose_key_file(home)
    return home


@pytest.fixture
def locked(locked_template: Home, tmp_path: Path) -> Home:
    """A vault whose key file is away: its passphrase is what is left."""
    return locked_template.copy(tmp_path / "locked")


# Opening


def test_the_passphrase_opens_the_vault_without_its_key_file_and_is_not_shown(locked: Home) -> None:
    with Terminal(locked, *GET, stdout=subprocess.PIPE) as terminal:
        terminal.expect(f"{PROMPT}{locked.vault}: ")
        assert not terminal.echoes
        terminal.type(PASSPHRASE + "\n")
        code, _ = terminal.end()
        assert terminal.modes == terminal.modes_before
        assert (code, terminal.process.stdout.read()) == (0, b"tok")
    assert PASSPHRASE.encode() not in terminal.everything


def test_it_is_asked_for_once_by_every_command(locked: Home) -> None:
    for words in (("set", "new", "--file", "taken.key"), ("rm", "new"), ("verify",), ("key", "ls")):
        with Terminal(locked, *words) as terminal:
            terminal.answer(PROMPT, PASSPHRASE + "\n")
            assert terminal.end()[0] == 0, terminal.everything
        assert terminal.everything.count(PROMPT.encode()) == 1


def test_nothing_is_asked_while_the_key_file_is_there(locked: Home) -> None:
    with Terminal(locked, *GET, "--key-file", "taken.key") as terminal:
        code, shown = terminal.end()
    assert (code, shown) == (0, b"tok\n")


def test_a_value_from_a_pipe_and_the_passphrase_from_the_terminal(locked: Home) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"piped")
    os.close(writing)
    with Terminal(locked, "set", "u.token", stdin=reading) as terminal:
        os.close(reading)
        terminal.answer(PROMPT, PASSPHRASE + "\n")
        assert terminal.end()[0] == 0
    assert locked.output(*GET, "--key-file", "taken.key") == b"piped"


def test_the_prompt_is_on_the_terminal_even_if_the_outputs_are_not(locked: Home) -> None:
    with Terminal(locked, *GET, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as terminal:
        terminal.answer(PROMPT, PASSPHRASE + "\n")
        assert terminal.end()[0] == 0
        assert (terminal.process.stdout.read(), terminal.process.stderr.read()) == (b"tok", b"")


def test_any_text_is_a_passphrase_and_mistakes_can_be_erased(home: Home) -> None:
    home.set("u.token", b"tok")
    text = "\u00fcber  alle \N{SNOWMAN}, e\u0301 "
    add_passphrase(home, passphrase=text)
    lose_key_file(home)
    assert with_passphrase(home, *GET, passphrase=f"wrong\x15{text}x\x7f") == b"tok"


# Wrong ones


def test_a_wrong_passphrase_can_be_tried_again(locked: Home) -> None:
    with Terminal(locked, *GET, stdout=subprocess.PIPE) as terminal:
        terminal.answer(PROMPT, "wrong\n")
        terminal.expect("Wrong passphrase. Try again.")
        terminal.answer(PROMPT, PASSPHRASE + "\n")
        assert terminal.end()[0] == 0
        assert terminal.process.stdout.read() == b"tok"


def test_three_wrong_ones_are_exit_5(locked: Home) -> None:
    before = locked.vault.read_bytes()
    with Terminal(locked, "rm", "u.token") as terminal:
        for attempt in ("wrong", PASSPHRASE[:-1], ""):
            terminal.answer(PROMPT, attempt + "\n")
        code, shown = terminal.end()
        assert terminal.modes == terminal.modes_before
    assert code == LOCKED and PROMPT.encode() not in shown
    assert b"Wrong passphrase for %s" % os.fsencode(locked.vault) in shown and b"Try again" not in shown
    assert locked.vault.read_bytes() == before


def test_the_person_learns_of_a_wrong_passphrase_where_it_was_typed(locked: Home) -> None:
    """With `2>log`, the prompt would come a second time without a reason."""
    with Terminal(locked, *GET, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as terminal:
        terminal.answer(PROMPT, "wrong\n")
        terminal.answer(PROMPT, PASSPHRASE + "\n")
        assert terminal.end()[0] == 0
    assert b"Wrong passphrase. Try again." in terminal.everything


def test_who_reads_json_gets_nothing_else_when_a_person_mistypes(locked: Home) -> None:
    """`vault help json`: standard error gets one object per line."""
    with Terminal(locked, *GET, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as terminal:
        terminal.answer(PROMPT, "wrong\n")
        terminal.answer(PROMPT, PASSPHRASE + "\n")
        assert terminal.end()[0] == 0
        assert json.loads(terminal.process.stdout.read())["value"] == "tok"
        for line in terminal.process.stderr.read().splitlines():
            json.loads(line)


# Cancelling


def test_ctrl_c_ends_by_the_signal_and_restores_the_echo(locked: Home) -> None:
    before = locked.vault.read_bytes()
    with Terminal(locked, "rm", "u.token") as terminal:
        terminal.expect(PROMPT)
        terminal.type("half a passphr\x03")
        code, shown = terminal.end()
        assert code == -signal.SIGINT and terminal.modes == terminal.modes_before
    assert b"half" not in terminal.everything and locked.vault.read_bytes() == before


def test_a_signal_that_ends_it_restores_the_echo(locked: Home) -> None:
    with Terminal(locked, *GET) as terminal:
        terminal.expect(PROMPT)
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.end()[0] == -signal.SIGTERM
        assert terminal.modes == terminal.modes_before


def test_ctrl_d_cancels_with_5(locked: Home) -> None:
    before = locked.vault.read_bytes()
    for first in ("", "wrong\n"):
        with Terminal(locked, "rm", "u.token") as terminal:
            if first:
                terminal.answer(PROMPT, first)
            terminal.answer(PROMPT, "\x04")
            code, shown = terminal.end()
            assert terminal.modes == terminal.modes_before
        assert code == LOCKED and b"Cancelled; the vault stays locked." in shown
    assert locked.vault.read_bytes() == before


# No terminal


def test_without_a_terminal_it_is_not_waited_for(locked: Home) -> None:
    for words in (GET, ("ls",), ("set", "u.token"), ("verify",), ("key", "ls")):
        finished = locked.run(*words, stdin=PASSPHRASE.encode() + b"\n", start_new_session=True)
        assert finished.returncode == LOCKED and finished.stdout == b"", finished
        sentence = finished.stderr.decode()
        assert "passphrase" in sentence and str(locked.vault) in sentence and str(locked.key) in sentence


def test_a_new_passphrase_is_asked_for_at_a_terminal_only(locked: Home) -> None:
    finished = locked.run(
        *("key", "add", "--passphrase", "--key-file", "taken.key"),
        stdin=b"a new passphrase\na new passphrase\n",
        start_new_session=True,
    )
    assert finished.returncode != 0 and b"terminal" in finished.stderr
    assert len(keys(locked, "--key-file", "taken.key")) == 2


# A passphrase and a key file


def test_key_file_and_passphrase_are_both_needed(home: Home) -> None:
    home.set("u.token", b"tok")
    photo = private_file(home.folder / "photo", bytes(range(256)))
    private_file(home.folder / "picture", bytes(range(255)))
    add_passphrase(home, "--file", str(photo))
    home.output("key", "rm", "1")
    assert with_passphrase(home, *GET, "--key-file", "photo") == b"tok"
    finished = home.run(*GET, "--key-file", "photo", start_new_session=True)
    assert finished.returncode == LOCKED and b"passphrase" in finished.stderr
    # The passphrase alone.
    with Terminal(home, *GET, "--key-file", "nothing") as terminal:
        code, shown = terminal.end()
    assert code == LOCKED and b"nothing" in shown and PROMPT.encode() not in shown
    # With another file.
    with Terminal(home, *GET, "--key-file", "picture") as terminal:
        for _ in range(3):
            terminal.answer(PROMPT, PASSPHRASE + "\n")
        assert terminal.end()[0] == LOCKED


# New ones


def test_what_was_added_is_shown(home: Home) -> None:
    home.set("u.token", b"tok")
    shown = add_passphrase(home, "--label", "mine")
    found = re.search(rb'Added key 2: passphrase \((?:Argon2id, )?(\d+) passes, ([0-9,.]+ [KMG]iB)\) "mine"', shown)
    assert found, shown
    assert PASSPHRASE.encode() not in shown and b"short" not in shown
    cost = keys(home)[1]["cost"]
    assert cost["passes"] * cost["memory"] >= 3 * (64 << 20), "not less than RFC 9106's second recommendation"


def test_a_short_passphrase_is_warned_about_and_taken(home: Home) -> None:
    home.set("u.token", b"tok")
    shown = add_passphrase(home, passphrase="short")
    assert b"warning" in shown and b"words" in shown
    lose_key_file(home)
    assert with_passphrase(home, *GET, passphrase="short") == b"tok"


@pytest.mark.parametrize(
    ("first", "second", "code", "told"),
    [
        (PASSPHRASE, PASSPHRASE + "x", REFUSED, b"The two inputs differ; no key was added."),
        ("", "", USAGE, b"empty"),
        ("\x04", None, REFUSED, b"Cancelled; no key was added."),
        (PASSPHRASE, "\x04", REFUSED, b"Cancelled; no key was added."),
        ("half\x03", None, -signal.SIGINT, b""),
        (PASSPHRASE, "half\x03", -signal.SIGINT, b""),
    ],
    ids=[
        "two different ones",
        "none",
        "Ctrl-D at once",
        "Ctrl-D at the second",
        "Ctrl-C at once",
        "Ctrl-C at the second",
    ],
)
def test_a_passphrase_that_is_not_repeated_is_not_added(
    home: Home, first: str, second: str | None, code: int, told: bytes
) -> None:
    home.set("u.token", b"tok")
    before = home.vault.read_bytes()
    with Terminal(home, "key", "add", "--passphrase") as terminal:
        terminal.answer(NEW, first if first.endswith(("\x03", "\x04")) else first + "\n")
        if second is not None:
            terminal.answer(AGAIN, second if second.endswith(("\x03", "\x04")) else second + "\n")
        ended, shown = terminal.end()
        assert terminal.modes == terminal.modes_before
    assert ended == code and told in shown
    assert home.vault.read_bytes() == before


def test_the_same_passphrase_is_not_added_twice(home: Home) -> None:
    home.set("u.token", b"tok")
    add_passphrase(home)
    with Terminal(home, "key", "add", "--passphrase") as terminal:
        terminal.answer(NEW, PASSPHRASE + "\n")
        terminal.answer(AGAIN, PASSPHRASE + "\n")
        code, shown = terminal.end()
    assert code == REFUSED and b"already" in shown and len(keys(home)) == 2


def test_each_of_several_passphrases_is_as_dear_to_guess_as_it_ought_to_be(home: Home) -> None:
    """Who opens the vault tries all of them, so their costs have a sum; the first must not take all of it."""
    home.set("u.token", b"tok")
    for number in range(3):
        add_passphrase(home, passphrase=f"{PASSPHRASE} {number}")
    costs = [key["cost"]["passes"] * key["cost"]["memory"] for key in keys(home)[1:]]
    assert min(costs) >= 3 * (64 << 20), [f"{cost >> 20} MiB" for cost in costs]
