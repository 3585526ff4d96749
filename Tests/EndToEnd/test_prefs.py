"""`vault prefs`: what programs keep in plain property lists, read and written beside them."""

import datetime
import json
import plistlib
from pathlib import Path

import pytest

from homes import Home, mode

USAGE, NOT_FOUND, DAMAGED, IO = 2, 3, 6, 8


def suite(home: Home, name: str = "mail") -> Path:
    return home.folder / f".config/vault/preferences/{name}.plist"


def write(home: Home, values: object, name: str = "mail", fmt=plistlib.FMT_XML) -> Path:
    suite(home, name).parent.mkdir(parents=True, exist_ok=True)
    suite(home, name).write_bytes(plistlib.dumps(values, fmt=fmt))
    return suite(home, name)


def read(home: Home, name: str = "mail") -> dict:
    return plistlib.loads(suite(home, name).read_bytes())


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("string", "dark", "dark"),
        ("string", "", ""),
        ("bool", "true", True),
        ("int", "-1", -1),
        ("real", "1", 1.0),
        ("data", "tok", b"tok"),
        ("date", "2026-01-31T09:05:00Z", datetime.datetime(2026, 1, 31, 9, 5)),
        ("json", '{"a": [1, 2.5]}', {"a": [1, 2.5]}),
    ],
)
def test_each_type_is_what_other_tools_for_property_lists_read(home: Home, type: str, text: str, value: object) -> None:
    home.output("prefs", "set", "--suite", "mail", "key", "--type", type, "--", text)
    found = read(home)["key"]
    assert found == value and found.__class__ is value.__class__
    assert mode(suite(home)) == 0o600
    assert home.files() == [".config/vault/preferences/mail.plist"], "no vault is created"


def test_without_a_type_a_value_is_a_string_and_without_a_suite_it_is_in_that_of_the_command(home: Home) -> None:
    home.output("prefs", "set", "number", "42")
    assert read(home, "vault") == {"number": "42"}
    assert home.output("prefs", "get", "number") == b"42"


def test_a_value_that_is_no_argument_is_read_from_a_pipe(home: Home) -> None:
    home.output("prefs", "set", "icon", "--type", "data", stdin=b"\x89PNG\n\x00")
    assert read(home, "vault") == {"icon": b"\x89PNG\n\x00"}
    assert home.output("prefs", "get", "icon") == b"\x89PNG\n\x00"


@pytest.mark.parametrize("fmt", [plistlib.FMT_XML, plistlib.FMT_BINARY], ids=["XML", "binary"])
def test_what_other_programs_keep_is_shown_and_kept(home: Home, fmt: plistlib.PlistFormat) -> None:
    day = datetime.datetime(2026, 1, 31, 9, 5)
    kept = {"b": True, "i": 3, "r": 2.5, "d": day, "x": b"\xff", "a": [day, b"\x00"], "o": {"z": "ü"}, "s": "text"}
    write(home, kept, fmt=fmt)
    words = ("prefs", "get", "--suite", "mail")
    texts = {key: home.output(*words, key) for key in kept}
    assert texts == {
        "b": b"true", "i": b"3", "r": b"2.5", "d": b"2026-01-31T09:05:00.000Z", "x": b"\xff",
        "a": b'["2026-01-31T09:05:00.000Z","AA=="]', "o": '{"z":"ü"}'.encode(), "s": b"text",
    }  # fmt: skip
    home.output("prefs", "set", "--suite", "mail", "new", "1")
    assert read(home) == kept | {"new": "1"}
    assert suite(home).read_bytes().startswith(b"bplist" if fmt == plistlib.FMT_BINARY else b"<?xml")


def test_keys_are_listed_with_their_kinds(home: Home) -> None:
    write(home, {"ui.theme": "dark", "ui.zoom": 1.5, "count": 3})
    words = ("prefs", "ls", "--suite", "mail")
    assert home.output(*words) == b"count\nui.theme\nui.zoom\n"
    assert home.output(*words, "ui.") == b"ui.theme\nui.zoom\n"
    assert home.output(*words, "-l", "ui.") == b"text  ui.theme\nreal  ui.zoom\n"
    assert home.output("prefs", "ls", "--suite", "nothing") == b""
    items = json.loads(home.output(*words, "--json", "c"))
    assert items == {"file": str(suite(home)), "items": [{"name": "count", "kind": "integer"}]}


def test_a_miss_is_exit_3_and_says_where_it_looked(home: Home) -> None:
    write(home, {"theme": "dark"})
    for words in (("get", "thme"), ("rm", "theme", "thme")):
        sentence = home.refusal(NOT_FOUND, "prefs", words[0], "--suite", "mail", *words[1:])
        assert str(suite(home)) in sentence and 'Did you mean "theme"?' in sentence
    assert read(home) == {"theme": "dark"}


def test_all_keys_are_removed_or_none(home: Home) -> None:
    home.output("prefs", "rm", "--suite", "mail", "-f", "a")
    assert list(home.folder.iterdir()) == [], "nothing is created"
    write(home, {"a": 1, "b": 2, "c": 3})
    home.output("prefs", "rm", "--suite", "mail", "a", "b")
    assert read(home) == {"c": 3}
    report = json.loads(home.output("prefs", "rm", "--suite", "mail", "-f", "a", "c", "--json"))
    assert report["removed"] == ["c"] and read(home) == {}


@pytest.mark.parametrize("words", [("get", "a"), ("set", "a", "b"), ("ls",), ("rm", "a")], ids=lambda words: words[0])
def test_a_damaged_file_is_exit_6_and_left_as_it_is(home: Home, words: tuple[str, ...]) -> None:
    path = write(home, {})
    path.write_bytes(b'<plist version="1.0"><dict><key>a</key>')
    sentence = home.refusal(DAMAGED, "prefs", *words, "--suite", "mail")
    assert str(path) in sentence and "salvage" not in sentence
    assert path.read_bytes() == b'<plist version="1.0"><dict><key>a</key>'


@pytest.mark.parametrize(
    "words",
    [
        ("set", "a", "--type", "int", "many"), ("set", "a", "\x01"), ("set", "", "x"), ("set", "a\nb", "x"),
        ("set", "a", "x", "y"), ("set",), ("get",), ("get", "--suite", "", "a"), ("ls", "--suite", "x" * 300),
    ],
    ids=range(9),
)  # fmt: skip
def test_what_cannot_be_kept_is_exit_2_and_creates_nothing(home: Home, words: tuple[str, ...]) -> None:
    home.refusal(USAGE, "prefs", *words)
    assert home.files() == []


def test_without_a_home_it_says_what_is_missing(home: Home) -> None:
    home = home.started_through("env", "-u", "HOME")
    assert "XDG_CONFIG_HOME" in home.refusal(IO, "prefs", "ls")


def test_a_suite_of_any_name_stays_in_its_folder(home: Home) -> None:
    home.output("prefs", "set", "--suite", "../../mia", "a", "x")
    assert home.files() == [".config/vault/preferences/%2E.%2F..%2Fmia.plist"]
