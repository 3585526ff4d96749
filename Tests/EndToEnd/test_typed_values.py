"""Values with a type from the shell. What a program reads of them is in test_outside.py."""

import json

import pytest

from homes import Home
from terminals import Terminal, on_terminal

pytestmark = pytest.mark.both_paths_in_full

CANARY = "canary-71d0"


def kinds(home: Home) -> dict[str, str]:
    return {item["name"]: item["kind"] for item in json.loads(home.output("ls", "--json"))["items"]}


def test_each_type_has_its_kind(home: Home) -> None:
    given = {
        "bool": b"true", "int": b"42", "real": b"2.5", "string": b"s", "data": b"\xff", "date": b"2026-01-31",
        "json": b"[]",
    }  # fmt: skip
    for name, value in given.items():
        home.output("set", name, "--type", name, stdin=value)
    home.output("set", "untyped", stdin=b"42")
    assert kinds(home) == {
        "bool": "boolean", "int": "integer", "real": "real", "string": "text", "data": "data", "date": "date",
        "json": "array", "untyped": "unspecified",
    }  # fmt: skip


def test_a_wrong_text_is_a_usage_error_that_shows_the_form_and_stores_nothing(home: Home) -> None:
    for words in (("bool", "true or false"), ("int", "such as 42"), ("real", "2.5"), ("date", "2026"), ("json", "[1, 2]")):
        sentence = home.refusal(2, "set", "n", "--type", words[0], stdin=CANARY.encode())
        assert words[1] in sentence and CANARY not in sentence
    assert home.files() == []
    assert "bool, int, real" in home.refusal(2, "set", "n", "--type", "integer", stdin=b"1")


def test_a_refused_text_leaves_the_old_value_and_its_type(home: Home) -> None:
    home.output("set", "n", "--type", "int", stdin=b"1")
    home.refusal(2, "set", "n", "--type", "int", stdin=b"one")
    assert home.get("n") == b"1" and kinds(home) == {"n": "integer"}


def test_a_typed_value_keeps_its_attributes_and_its_kind_under_another_name(home: Home) -> None:
    home.output("set", "n", "--type", "json", "-a", "host=example.org", stdin=b'{"a": 1}')
    home.output("set", "n", "--type", "json", stdin=b'{"a": 2}')
    home.output("mv", "n", "m")
    assert home.output("find", "host=example.org") == b"m\n"
    assert home.get("m") == b'{"a":2}' and kinds(home) == {"m": "dictionary"}


def test_a_file_and_longer_input_may_have_white_space_around_the_value(home: Home) -> None:
    (home.folder / "value").write_bytes(b"42\n")
    home.output("set", "n", "--type", "int", "--file", "value")
    home.output("set", "list", "--type", "json", stdin=b"[1,\n2]\n\n")
    assert home.get("n") == b"42" and home.get("list") == b"[1,2]"


@pytest.mark.parametrize(
    ("type_name", "given", "shown"),
    [
        ("int", "42", b"42"),
        ("date", "2026-01-31T09:05:00Z", b"2026-01-31T09:05:00.000Z"),
        ("json", '{"b": [true], "a": "\u202e"}', '{"a":"\u202e","b":[true]}'.encode()),
    ],
)
def test_what_get_writes_can_be_set_again(home: Home, type_name: str, given: str, shown: bytes) -> None:
    home.output("set", "n", "--type", type_name, stdin=given.encode())
    assert home.get("n") == shown
    home.output("set", "m", "--type", type_name, stdin=home.get("n"))
    assert home.get("m") == shown
    assert json.loads(home.output("get", "n", "--json")) == {"name": "n", "value": shown.decode()}
    assert on_terminal(home, "get", "n").decode() == shown.decode().replace("\u202e", "\\u{202e}") + "\n"


def test_at_the_prompt_a_wrong_text_is_refused_before_it_is_repeated(home: Home) -> None:
    with Terminal(home, "set", "n", "--type", "int") as terminal:
        terminal.answer("(not shown): ", CANARY + "\n")
        code, shown = terminal.end()
    assert code == 2 and b"such as 42" in shown
    assert b"Repeat" not in terminal.everything and CANARY.encode() not in terminal.everything
    with Terminal(home, "set", "n", "--type", "int") as terminal:
        terminal.answer("(not shown): ", "42\n")
        terminal.answer("Repeat the value: ", "42\n")
        assert terminal.end()[0] == 0
    assert home.get("n") == b"42"
