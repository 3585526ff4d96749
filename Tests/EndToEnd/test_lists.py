"""Lists, searches, and the near name after a miss."""

import re

import pytest

from homes import Home

pytestmark = pytest.mark.both_paths


def test_ls_gives_one_name_a_line_in_the_order_of_their_bytes(home: Home) -> None:
    for name in ("b", "a", "Z", "ü", "a/b", "a.b", "a b"):
        home.set(name, b"tok")
    assert home.output("ls") == "Z\na\na b\na.b\na/b\nb\nü\n".encode()
    assert home.output("ls", "a") == b"a\na b\na.b\na/b\n"
    assert home.output("ls", "nothing") == b""


def test_ls_long_shows_size_kind_and_time_but_no_value(home: Home) -> None:
    home.set("u.token", b"a-value")
    line = home.output("ls", "--long").decode()
    assert re.fullmatch(r"7  unspecified  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z  u\.token\n", line), line


def test_find_takes_attributes_and_parts_of_names(home: Home) -> None:
    home.set("github.token", b"1", "-a", "host=github.com", "-a", "user=mia")
    home.set("github.password", b"2", "-a", "host=github.com", "-a", "user=eve")
    home.set("mail", b"3", "-a", "user=mia")
    assert home.output("find", "host=github.com") == b"github.password\ngithub.token\n"
    assert home.output("find", "host=github.com", "user=mia") == b"github.token\n"
    assert home.output("find", "TOKEN") == b"github.token\n"
    assert home.output("find", "git", "user=eve") == b"github.password\n"
    assert home.output("find", "host=github") == b"", "a value is meant whole"
    assert home.output("find", "nothing") == b""


def test_find_takes_a_word_with_an_equals_sign_for_an_attribute_or_a_part_of_a_name(home: Home) -> None:
    home.set("search?Q=1&x", b"1")
    home.set("by attribute", b"2", "-a", "q=1", "-a", "user=mia")
    home.set("other", b"3", "-a", "q=12")
    assert home.output("find", "q=1") == b"by attribute\nsearch?Q=1&x\n"
    assert home.output("find", "q=1", "user=mia") == home.output("find", "q=1", "attr") == b"by attribute\n"
    assert home.output("find", "q=1", "q=1&x") == home.output("find", "=1&") == b"search?Q=1&x\n"
    assert home.output("find", "=") == b"search?Q=1&x\n"
    assert "a part of" in home.output("help", "find").decode() and b"q=1" in home.output("help", "find")


def test_attributes_go_along_with_mv_and_cp(home: Home) -> None:
    home.set("a", b"1", "-a", "user=mia")
    home.output("cp", "a", "b")
    home.output("mv", "a", "c")
    assert home.output("find", "user=mia") == b"b\nc\n"
    assert home.values() == {"b": b"1", "c": b"1"}


@pytest.mark.parametrize("command", ["get", "rm", "mv", "cp"])
def test_a_miss_names_the_near_name(home: Home, command: str) -> None:
    home.set("u.token", b"tok")
    words = (command, "u.tokne") + (("other",) if command in ("mv", "cp") else ())
    assert re.search(r"Did you mean .u\.token.\?", home.refusal(3, *words))


def test_an_absent_name_that_only_programs_have_is_answered_with_the_first_of_them(home: Home) -> None:
    for name in ("mail/u.token", "chat/u.token", "mail/other.token"):
        home.set(name, b"tok")
    assert 'Did you mean "chat/u.token"?' in home.refusal(3, "get", "u.token")
    assert "Did you mean" not in home.refusal(3, "get", "token")


def test_a_miss_far_from_every_name_guesses_nothing(home: Home) -> None:
    home.set("u.token", b"tok")
    sentence = home.refusal(3, "get", "github")
    assert "github" in sentence and "mean" not in sentence


def test_a_mistyped_command_or_option_names_the_near_one(home: Home) -> None:
    assert re.search("Did you mean .get.\\?", home.refusal(2, "gte", "u.token"))
    assert re.search("Did you mean .--newline.\\?", home.refusal(2, "get", "--newlnie=no", "u.token"))
