"""Help for every command and topic."""

import json
import subprocess

import pytest

from homes import COMMANDS, Home
from terminals import Terminal, on_terminal

TOPICS = ["locations", "environment", "exit-codes", "json"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_describes_every_command(home: Home, command: str) -> None:
    assert command.encode() in home.output("help")
    text = home.output("help", command)
    assert text == home.output(command, "--help") and f"vault {command}".encode() in text
    assert json.loads(home.output("help", "--json", command))["name"] == command


@pytest.mark.parametrize("topic", TOPICS)
def test_help_describes_every_topic(home: Home, topic: str) -> None:
    assert len(home.output("help", topic)) > 100


def test_help_needs_no_home(binary: str) -> None:
    for words in (["help"], ["version"], ["--help"], ["--version"]):
        assert subprocess.run([binary, *words], env={}, capture_output=True).returncode == 0


@pytest.mark.parametrize("words", [(), ("help",), *(("help", word) for word in COMMANDS + TOPICS)], ids=" ".join)
def test_a_narrow_terminal_gets_lines_that_fit_and_whole_words(home: Home, words: tuple[str, ...]) -> None:
    finished = home.run(*words)
    piped = finished.stdout + finished.stderr
    narrow = on_terminal(home, *words, columns=40)
    assert max(map(len, narrow.splitlines())) <= 40 and narrow.split() == piped.split()
    tiny = on_terminal(home, *words, columns=20)
    assert tiny.split() == piped.split()
    assert all(len(line) <= 20 or b" " not in line for line in tiny.splitlines())
    assert on_terminal(home, *words, columns=80) == piped


def test_a_wide_terminal_gets_lines_that_can_still_be_read(home: Home) -> None:
    wide = on_terminal(home, "help", columns=200)
    assert wide.split() == home.output("help").split() and 80 < max(map(len, wide.splitlines())) <= 100


def test_help_has_the_width_of_what_it_is_written_to(home: Home) -> None:
    with Terminal(home, "help", columns=40, stdout=subprocess.PIPE) as terminal:
        assert terminal.process.stdout.read() == home.output("help")
    with Terminal(home, columns=40, stdout=subprocess.DEVNULL) as terminal:
        assert max(map(len, terminal.end()[1].splitlines())) <= 40
