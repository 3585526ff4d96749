"""`vault generate`: passwords as the options say, stored without being shown."""

import json
import math
import re
import string

import pytest

from homes import Home
from terminals import on_terminal
from json_shapes import is_documented

pytestmark = pytest.mark.both_paths_in_full

USAGE, REFUSED = 2, 4
CLASSES = {
    "lower": set(string.ascii_lowercase),
    "upper": set(string.ascii_uppercase),
    "digits": set(string.digits),
    "symbols": set(string.punctuation),
}
AMBIGUOUS = set("0Oo1lI|")


def generated(home: Home, *options: str) -> str:
    return home.output("generate", *options).decode()


@pytest.mark.parametrize("chosen", [("lower",), ("upper", "digits"), ("symbols", "lower", "digits"), tuple(CLASSES)])
@pytest.mark.parametrize("length", [4, 64])
def test_a_password_has_the_chosen_classes_and_no_others(home: Home, chosen: tuple[str, ...], length: int) -> None:
    allowed = set().union(*(CLASSES[name] for name in chosen))
    for options, letters in (((), allowed), (("--no-ambiguous",), allowed - AMBIGUOUS)):
        password = generated(home, "--length", str(length), "--classes", ",".join(chosen), *options)
        assert len(password) == length and set(password) <= letters
        assert all(set(password) & CLASSES[name] for name in chosen)


def test_a_password_is_long_and_another_one_each_time(home: Home) -> None:
    passwords = {generated(home) for _ in range(5)}
    assert {len(password) for password in passwords} == {20} and len(passwords) == 5
    assert home.files() == [], "no vault is needed, and none is created"


def test_a_passphrase_has_words_and_separators(home: Home) -> None:
    words = generated(home, "--words", "6", "--separator", " ").split(" ")
    assert len(words) == 6 and all(re.fullmatch("[a-z-]{3,9}", word) for word in words)
    assert re.fullmatch("[a-z]+(-[a-z]+)*", generated(home, "--words", "3"))


def entropy(length: int, *sizes: int) -> float:
    """The bits of the number of texts that have each class: all texts without those that lack some."""
    total = 0
    for mask in range(1 << len(sizes)):
        missing = [size for index, size in enumerate(sizes) if mask >> index & 1]
        total += (-1) ** len(missing) * (sum(sizes) - sum(missing)) ** length
    return math.log2(total)


@pytest.mark.parametrize(
    ("options", "bits"),
    [
        ((), entropy(20, 26, 26, 10, 32)),
        (("--length", "4"), entropy(4, 26, 26, 10, 32)),
        (("--length", "1", "--classes", "digits"), math.log2(10)),
        (("--length", "8", "--classes", "lower,digits", "--no-ambiguous"), entropy(8, 24, 8)),
        (("--words", "6"), 6 * math.log2(7776)),
    ],
)
def test_the_entropy_is_that_of_the_number_of_results(home: Home, options: tuple[str, ...], bits: float) -> None:
    report = json.loads(generated(home, "--json", *options))
    assert report["entropy_bits"] == math.floor(bits * 10) / 10
    assert is_documented(report, "generate", home)


def test_with_a_name_it_is_stored_and_not_shown(home: Home) -> None:
    finished = home.run("generate", "web/x")
    assert finished.returncode == 0 and finished.stdout == b""
    password = home.get("web/x")
    assert len(password) == 20 and password not in finished.stderr
    assert password not in home.vault.read_bytes()
    report = json.loads(home.output("generate", "web/y", "--json"))
    assert (report["name"], report["replaced"], "value" in report) == ("web/y", False, False)
    report = json.loads(home.output("generate", "web/z", "--json", "--show"))
    assert report["value"].encode() == home.get("web/z")
    assert generated(home, "web/w", "--show").encode() == home.get("web/w")


def test_a_value_is_replaced_only_by_force_and_keeps_its_attributes(home: Home) -> None:
    home.set("web/x", b"former", "-a", "username=mia")
    assert "--force" in home.refusal(REFUSED, "generate", "web/x", "--show")
    assert home.get("web/x") == b"former"
    assert json.loads(home.output("generate", "web/x", "--force", "--json"))["replaced"]
    assert home.get("web/x") != b"former"
    assert home.output("find", "username=mia") == b"web/x\n"
    home.output("restore", "web/x")
    assert home.get("web/x") == b"former"


def test_a_terminal_is_told_what_was_done(home: Home) -> None:
    home.output("init")
    shown = on_terminal(home, "generate")
    assert re.fullmatch(rb"[!-~]{20}\nvault: This is a password of 20 characters, 130.9 bits of entropy.\n", shown)
    shown = on_terminal(home, "generate", "web/x", "--words", "1")
    assert shown == b'vault: Stored under "web/x": a passphrase of 1 word, 12.9 bits of entropy.\n'
    shown = on_terminal(home, "generate", "web/x", "--force")
    assert shown.endswith(b"`vault restore web/x` brings the old value back.\n")
    assert home.get("web/x") not in shown


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--length", "3"), "from 4 to 4,096 characters"),
        (("--length", "4097"), "from 4 to 4,096 characters"),
        (("--length", "0"), "whole number of at least 1"),
        (("--length", "x"), "whole number of at least 1"),
        (("--classes", "lower,foo"), "one or more of lower, upper, digits, symbols"),
        (("--classes=",), "one or more of lower, upper, digits, symbols"),
        (("--words", "0"), "whole number from 1 to 256"),
        (("--words", "257"), "whole number from 1 to 256"),
        (("--words", "2", "--separator", "x"), "1 to 8 bytes without lower-case letters"),
        (("--words", "2", "--separator="), "1 to 8 bytes without lower-case letters"),
        (("--words", "2", "--length", "9"), "Option --length is for passwords"),
        (("--words", "2", "--no-ambiguous"), "Option --no-ambiguous is for passwords"),
        (("--separator", "."), "Use it with --words"),
    ],
)
def test_options_that_make_no_password_are_refused(home: Home, options: tuple[str, ...], sentence: str) -> None:
    assert sentence in home.refusal(USAGE, "generate", "x", *options)
    assert home.files() == []


def test_options_for_an_entry_need_its_name(home: Home) -> None:
    for option in ("--force", "--show"):
        assert f"{option} needs NAME" in home.refusal(USAGE, "generate", option)
