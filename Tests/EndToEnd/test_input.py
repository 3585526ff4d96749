"""How values come in: a pipe, a file, any bytes, up to 16 MiB. Terminals are in test_terminal.py."""

import os
import subprocess
from pathlib import Path

import pytest

from homes import Home

pytestmark = pytest.mark.both_paths_in_full

LARGEST = 16 << 20
CANARY = "canary-f1c9"


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (b"tok\n", b"tok"),
        (b"tok", b"tok"),
        (b" tok \n", b" tok "),
        (b"tok\r\n", b"tok\r"),
        (b"tok\n\n", b"tok\n\n"),
        (b"\n\n", b"\n\n"),
        (b"\ntok", b"\ntok"),
        (b"one\ntwo", b"one\ntwo"),
        (b"one\ntwo\n", b"one\ntwo\n"),
        (b"\x00\xff\n", b"\x00\xff"),
    ],
)
def test_one_final_newline_is_stripped_from_a_single_line_and_nothing_else(
    home: Home, given: bytes, stored: bytes
) -> None:
    home.output("set", "u.token", stdin=given)
    assert home.get("u.token") == stored


@pytest.mark.parametrize("given", [b"tok\n", b"\n", b"one\ntwo\n", b"tok"])
def test_exact_keeps_every_byte(home: Home, given: bytes) -> None:
    home.output("set", "--exact", "u.token", stdin=given)
    assert home.get("u.token") == given


def test_a_file_is_kept_byte_for_byte(home: Home) -> None:
    (home.folder / "value").write_bytes(b"one line\n")
    home.output("set", "u.token", "--file", "value", stdin=b"not this")
    assert home.get("u.token") == b"one line\n"


def test_a_dash_as_the_file_is_standard_input(home: Home) -> None:
    home.output("set", "u.token", "--file", "-", stdin=b"one line\n")
    assert home.get("u.token") == b"one line\n"


@pytest.mark.parametrize("path", ["missing", "."])
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(home: Home, path: str) -> None:
    assert path in home.refusal(8, "set", "u.token", "--file", path)
    assert not home.vault.exists()


@pytest.mark.parametrize("size", [1, 15, 16, 17, 31, 32, 33, 511, 512, 4095, 4096, 4097, 65535, 65536, 1 << 20])
def test_binary_values_of_any_size_come_back_as_they_were(home: Home, size: int) -> None:
    value = os.urandom(size - 1) + b"\0"
    home.set("data", value)
    assert home.get("data") == value


def test_every_byte_value_comes_back_as_it_was(home: Home) -> None:
    home.set("data", bytes(range(256)))
    assert home.get("data") == bytes(range(256))


@pytest.mark.parametrize("given", [b"", b"\n"])
def test_empty_input_is_an_error_that_names_the_way(home: Home, given: bytes) -> None:
    assert "--allow-empty" in home.refusal(2, "set", "u.token", stdin=given)
    assert not home.vault.exists(), "nothing is made for a value that is refused"


def test_an_empty_value_is_a_value_where_it_is_allowed(home: Home) -> None:
    home.output("set", "u.token", "--allow-empty")
    assert home.get("u.token") == b""
    assert home.run("exists", "u.token").returncode == 0


def test_exactly_16_MiB_are_stored(home: Home) -> None:
    value = os.urandom(1 << 20) * 16
    home.set("large", value)
    assert home.get("large") == value
    home.output("set", "large", stdin=b"x" * LARGEST + b"\n")
    assert home.get("large") == b"x" * LARGEST, "the newline of a single line does not count"
    home.output("verify")


@pytest.mark.parametrize("options", [(), ("--exact",), ("--file", "value")])
def test_a_byte_more_than_16_MiB_is_refused_before_anything_is_written(home: Home, options: tuple[str, ...]) -> None:
    value = b"x" * (LARGEST + 1)
    (home.folder / "value").write_bytes(value)
    assert "16 MiB" in home.refusal(2, "set", "large", *options, stdin=value)
    assert home.files() == ["value"]


def test_input_without_end_is_refused_and_not_gathered(home: Home) -> None:
    with open("/dev/zero", "rb") as endless:
        finished = subprocess.run(
            home.command("set", "large"), stdin=endless, env=home.environment, capture_output=True, timeout=30
        )
    assert finished.returncode == 2 and b"16 MiB" in finished.stderr


def test_a_refused_value_leaves_the_old_one(home: Home) -> None:
    home.set("u.token", b"old")
    before = home.vault.read_bytes()
    home.refusal(2, "set", "u.token", stdin=b"")
    home.refusal(2, "set", "u.token", stdin=b"x" * (LARGEST + 1))
    assert home.vault.read_bytes() == before and home.get("u.token") == b"old"


@pytest.mark.parametrize(
    "words",
    [
        ("set", "u.token", CANARY),
        ("set", "u.token", CANARY, CANARY),
        ("set", "u.token", f"--{CANARY}"),
        ("set", "u.token", f"-{CANARY}"),
        ("set", "u.token", f"--value={CANARY}"),
        ("set", "u.token", "--exact=" + CANARY),
        ("set", "u.token", "-a", CANARY),
        ("set", "u.token", "--timeout", CANARY),
        ("--json", "set", "u.token", CANARY),
    ],
)
def test_a_value_as_an_argument_is_a_usage_error_that_does_not_repeat_it(home: Home, words: tuple[str, ...]) -> None:
    finished = home.run(*words, stdin=b"tok")
    assert finished.returncode == 2
    assert CANARY.encode() not in finished.stdout + finished.stderr
    assert not home.vault.exists()


def test_a_value_as_an_argument_is_answered_with_the_right_ways(home: Home) -> None:
    words = home.refusal(2, "set", "u.token", "tok")
    assert "never an argument" in words
    assert "| vault set" in words and "--file" in words


@pytest.mark.parametrize("option", ["--file", "--vault", "--key-file", "--timeout"])
def test_an_option_that_is_given_twice_is_named_instead_of_the_last_one_taken(home: Home, option: str) -> None:
    for name in ("1", "2"):
        (home.folder / name).write_bytes(b"tok")
    sentence = home.refusal(2, "set", "u.token", option, "1", f"{option}=2", stdin=b"tok")
    assert option in sentence and "twice" in sentence
    assert home.files() == ["1", "2"]


def test_attributes_stay_and_those_that_are_given_are_added(home: Home) -> None:
    home.set("u.token", b"one", "-a", "host=example.org", "-a", "user=mia")
    home.set("u.token", b"two")
    assert home.output("find", "host=example.org") == b"u.token\n"
    home.set("u.token", b"three", "-a", "user=eve", "-a", "tier=x")
    assert home.output("find", "host=example.org", "user=eve", "tier=x") == b"u.token\n"
    assert home.output("find", "user=mia") == b""
    assert home.get("u.token") == b"three"


@pytest.mark.parametrize("attributes", [("novalue",), ("=x",), ("a=1", "a=2")])
def test_what_is_no_attribute_is_refused(home: Home, attributes: tuple[str, ...]) -> None:
    options = [word for attribute in attributes for word in ("-a", attribute)]
    home.refusal(2, "set", "u.token", *options, stdin=b"tok")
    assert not home.vault.exists()


def test_closed_standard_streams_never_lead_into_the_vault(home: Home, tmp_path: Path) -> None:
    home.set("u.token", b"tok")
    for redirections in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        for words in ("set u.token", "get u.token", "get nowhere", "ls"):
            line = f'echo other | "$0" {words} {redirections}'
            subprocess.run(["sh", "-c", line, home.binary], env=home.environment, capture_output=True)
    assert b"The vault is intact" in home.output("verify")
    assert home.get("u.token") in (b"tok", b"other")


def test_a_file_of_the_largest_size_is_refused(home: Home) -> None:
    file = Path(f"/dev/shm/vault-test-{os.getpid()}")
    try:
        with file.open("wb") as stream:
            stream.truncate((1 << 63) - 1)
        assert "too large" in home.refusal(2, "set", "n", "--file", str(file))
    finally:
        file.unlink()
