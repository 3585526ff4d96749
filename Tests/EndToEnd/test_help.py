"""Help for every command and topic."""

import json
import subprocess

import pytest

from homes import COMMANDS, Home


@pytest.mark.parametrize("command", COMMANDS)
def test_help_describes_every_command(home: Home, command: str) -> None:
    assert command.encode() in home.output("help")
    text = home.output("help", command)
    assert text == home.output(command, "--help") and f"vault {command}".encode() in text
    assert json.loads(home.output("help", "--json", command))["name"] == command


@pytest.mark.parametrize("topic", ["places", "exit-codes", "json"])
def test_help_describes_every_topic(home: Home, topic: str) -> None:
    assert len(home.output("help", topic)) > 100


def test_help_needs_no_home(binary: str) -> None:
    for words in (["help"], ["version"], ["--help"], ["--version"]):
        assert subprocess.run([binary, *words], env={}, capture_output=True).returncode == 0
