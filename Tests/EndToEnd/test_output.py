"""How values go out: exact bytes on standard output, all else on standard error."""

import json
import os

import pytest

from homes import Home
from terminals import on_terminal

pytestmark = pytest.mark.both_paths_in_full

BINARY = b"\x00\xff\xfe\n\x1b[31m"


def test_a_pipe_gets_the_exact_bytes_and_standard_error_nothing(home: Home) -> None:
    home.set("data", BINARY)
    finished = home.run("get", "data")
    assert (finished.stdout, finished.stderr) == (BINARY, b"")


def test_a_file_gets_the_exact_bytes(home: Home) -> None:
    home.set("data", BINARY)
    with (home.folder / "out").open("wb") as out:
        assert home.run("get", "data", stdout=out).returncode == 0
    assert (home.folder / "out").read_bytes() == BINARY


@pytest.mark.parametrize("value", [b"tok", b"tok\n", b"\xff", b""])
def test_newline_adds_one_always_or_never(home: Home, value: bytes) -> None:
    home.output("set", "--exact", "--allow-empty", "u.token", stdin=value)
    assert home.output("get", "--newline=yes", "u.token") == value + b"\n"
    assert home.output("get", "--newline=no", "u.token") == value
    assert home.output("get", "--newline=auto", "u.token") == value
    home.refusal(2, "get", "--newline=perhaps", "u.token")


def test_a_terminal_gets_a_newline_unless_there_is_one(home: Home) -> None:
    home.set("without", b"tok")
    home.set("with", b"tok\n")
    assert on_terminal(home, "get", "without") == b"tok\n"
    assert on_terminal(home, "get", "with") == b"tok\n"
    assert on_terminal(home, "get", "--newline=no", "without") == b"tok"
    assert on_terminal(home, "get", "--newline=yes", "with") == b"tok\n\n"


def test_a_terminal_gets_control_characters_escaped(home: Home) -> None:
    home.set("data", "a\x1b[2J\x07\x00\tb\nc\u202ed\u009b\x7f\u2028\u2029\\ü".encode() + b"\xff")
    shown = on_terminal(home, "get", "data")
    assert shown == "a\\x1b[2J\\x07\\x00\tb\nc\\u{202e}d\\u{9b}\\x7f\\u{2028}\\u{2029}\\ü\\xff\n".encode()


def test_a_terminal_gets_no_escape_sequences_from_names_and_errors(home: Home) -> None:
    home.set("a\u202eb", b"tok")
    for words in (("ls",), ("ls", "--long"), ("ls", "--json"), ("get", "a\u202ec"), ("mv", "a\u202eb", "a\u202eb2")):
        shown = on_terminal(home, *words)
        assert "\u202e".encode() not in shown and b"\x1b" not in shown, words


# One of each kind that is not seen, or not as what it is: spaces, a soft hyphen, joiners, fillers, selectors, marks of
# order, a blank, a tag.
INVISIBLE = "\u00a0\u1680\u2003\u202f\u3000\u2067\u2800\ufff9\u00ad\u034f\u061c\u115f\u17b4\u180e\u200b\u200d\u2060\u3164\ufe0f\ufeff\uffa0\U0001bca0\U0001d173\U000e0041"


def test_a_terminal_shows_characters_that_would_be_invisible(home: Home) -> None:
    """A name that looks like another one would pass for it."""
    name = f"u.{INVISIBLE}token"
    escaped = "".join(f"\\u{{{ord(letter):{'02x' if ord(letter) < 256 else '04x'}}}}" for letter in INVISIBLE)
    home.set(name, f"a{INVISIBLE}b".encode(), "-a", f"k={INVISIBLE}")
    assert on_terminal(home, "ls") == f"u.{escaped}token\n".encode()
    assert on_terminal(home, "ls", "--long").endswith(f"u.{escaped}token\n".encode())
    assert on_terminal(home, "get", name) == f"a{escaped}b\n".encode()
    assert escaped.encode() in on_terminal(home, "get", f"u.{INVISIBLE}")
    assert home.output("ls") == f"{name}\n".encode() and home.get(name) == f"a{INVISIBLE}b".encode()


def test_invisible_characters_are_escaped_in_json_and_come_back_from_it(home: Home) -> None:
    name = f"u.{INVISIBLE}token"
    home.set(name, INVISIBLE.encode(), "-a", f"{INVISIBLE}k={INVISIBLE}")
    for words in (("ls", "--json"), ("get", "--json", name), ("exists", "--json", name)):
        output = home.output(*words)
        assert output.isascii()
        report = json.loads(output)
        assert (report["items"][0] if "items" in report else report)["name"] == name
    assert json.loads(home.output("get", "--json", name))["value"] == INVISIBLE
    assert json.loads(home.output("ls", "--json"))["items"][0]["attributes"] == {f"{INVISIBLE}k": INVISIBLE}
    error = json.loads(home.run("get", "--json", f"u.{INVISIBLE}").stderr)["error"]
    assert f'"u.{INVISIBLE}"' in error["message"]


def test_help_on_a_terminal_has_neither_colour_nor_pager(home: Home) -> None:
    shown = on_terminal(home.with_variables(NO_COLOR="1", PAGER="false"), "help")
    assert b"\x1b" not in shown and b"Usage:" in shown


@pytest.mark.parametrize("words", [("get", "large"), ("ls",), ("ls", "--json"), ("help",), ("version",), ("info",)])
def test_output_that_cannot_be_written_is_an_error(home: Home, words: tuple[str, ...]) -> None:
    home.set("large", os.urandom(1 << 20))
    with open("/dev/full", "wb") as full:
        finished = home.run(*words, stdout=full)
    assert finished.returncode == 8 and b"No space left on device" in finished.stderr


def test_a_slow_reader_of_a_pipe_that_does_not_block_gets_everything(home: Home) -> None:
    value = os.urandom(1 << 20)
    home.set("large", value)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = home.start("get", "large", stdout=writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        assert pipe.read() == value
    assert process.wait(10) == 0
    process.communicate()
