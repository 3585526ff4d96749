"""What is a name, and when two names are the same."""

import pytest

from homes import Home

pytestmark = pytest.mark.both_paths


@pytest.mark.parametrize(
    "name",
    [
        "ü.tøken",
        "日本語",
        "with space",
        " leading",
        "-dash",
        "--force",
        "a=b",
        "🔑",
        "a/b//c",
        ".",
        "..",
        "a'\"b",
        "n" * 1024,
    ],
)
def test_unusual_names_are_names(home: Home, name: str) -> None:
    home.set(name, b"tok")
    assert home.get(name) == b"tok"
    assert home.names() == [name]
    home.output("mv", "--", name, "other")
    home.output("mv", "--", "other", name)
    home.output("rm", "--", name)
    assert home.names() == []


@pytest.mark.parametrize("name", ["", "two\nlines", "tab\t", "escape\x1b[2J", "delete\x7f", "n" * 1025, "ü" * 513])
def test_what_is_no_name_is_refused(home: Home, name: str) -> None:
    for command in (("set", "--", name), ("get", "--", name), ("rm", "--", name)):
        finished = home.run(*command, stdin=b"tok")
        assert finished.returncode in ([2] if command[0] == "set" else [2, 3]), command
        assert b"\x1b" not in finished.stderr, "the terminal must not obey it"
    assert home.files() == [], "no vault is made for a name that is refused"
    home.set("good", b"tok")
    for command in (("get", "--", name), ("rm", "--", name), ("mv", "--", "good", name), ("cp", "--", "good", name)):
        home.refusal(2, *command)
    assert home.names() == ["good"]


def test_names_that_are_not_utf8_are_refused(home: Home) -> None:
    home.refusal(2, "set", b"\xff\xfe", stdin=b"tok")
    assert not home.vault.exists()


def test_names_are_compared_as_bytes(home: Home) -> None:
    composed, decomposed = "\u00e9", "e\u0301"
    home.set(composed, b"one")
    home.set(decomposed, b"two")
    assert home.get(composed) == b"one" and home.get(decomposed) == b"two"
    home.output("rm", composed)
    assert home.names() == [decomposed]


def test_rm_with_two_spellings_of_the_same_letters_removes_both(home: Home) -> None:
    home.set("\u00e9", b"one")
    home.set("e\u0301", b"two")
    home.output("rm", "\u00e9", "e\u0301")
    assert home.names() == []


def test_mv_and_cp_tell_two_spellings_of_the_same_letters_apart(home: Home) -> None:
    home.set("\u00e9", b"one")
    home.output("mv", "\u00e9", "e\u0301")
    assert home.names() == ["e\u0301"]
    home.output("cp", "e\u0301", "\u00e9")
    assert home.names() == ["e\u0301", "\u00e9"]
