"""Each way to fail has its own sentence and code, and nothing is saved over a vault that does not open."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from canaries import CANARY, prepared
from homes import Home
from layout import HEADER_SIZE, records


def wrong_key(home: Home) -> None:
    other = Home(home.binary, home.folder / "other")
    other.set("x", b"y")
    home.key.write_bytes(other.key.read_bytes())


def key_line(home: Home) -> bytes:
    return home.key.read_bytes().splitlines()[1]


def mistyped_key(home: Home) -> None:
    text = bytearray(home.key.read_bytes())
    digit = text.index(b"vault-key-1-") + 20
    text[digit] = ord("0") if text[digit] != ord("0") else ord("1")
    home.key.write_bytes(text)


def damaged_vault(home: Home) -> None:
    content = bytearray(home.vault.read_bytes())
    content[records(home.vault)[0].offset + 60] ^= 1
    home.vault.write_bytes(content)


def older_vault(home: Home) -> None:
    before = home.vault.read_bytes()
    home.set("u.token", b"newer")
    home.vault.write_bytes(before)


def exchanged_vault(home: Home) -> None:
    home.vault.rename(home.vault.with_suffix(".aside"))
    home.output("init", "--force")
    home.vault.with_suffix(".aside").rename(home.vault)


def diverged_vault(home: Home) -> None:
    before = home.vault.read_bytes()
    home.set("u.token", b"one")
    home.vault.write_bytes(before)
    home.without_memory().set("u.token", b"two")


def never_there(home: Home) -> None:
    home.vault.unlink()
    shutil.rmtree(home.memory)


def later_version(home: Home) -> None:
    data = bytearray(home.vault.read_bytes())
    data[8] = data[HEADER_SIZE + 8] = 2
    home.vault.write_bytes(data)


def put_there(home: Home, make: Callable[[Path], object]) -> None:
    home.vault.unlink()
    make(home.vault)


FAILURES: list[tuple[str, Callable[[Home], object], int, str]] = [
    ("a wrong key", wrong_key, 5, "does not open"),
    ("a missing key", lambda home: home.key.unlink(), 5, "is missing"),
    ("a key file that is open to all", lambda home: home.key.chmod(0o644), 5, "chmod 600"),
    ("a key file that is open to the group", lambda home: home.key.chmod(0o640), 5, "chmod 600"),
    ("a key file that the group may write", lambda home: home.key.chmod(0o620), 5, "chmod 600"),
    ("a mistyped key", mistyped_key, 5, "mistyped"),
    ("a blank key file", lambda home: home.key.write_bytes(b" \n"), 5, "is blank"),
    ("a vault as the key file", lambda home: home.key.write_bytes(home.vault.read_bytes()), 5, "is a vault"),
    ("a key file behind a space", lambda home: home.key.write_bytes(b" " + key_line(home)), 5, "mistyped"),
    ("an empty key file", lambda home: home.key.write_bytes(b""), 5, "empty"),
    ("a folder as the key", lambda home: (home.key.unlink(), home.key.mkdir()), 5, "cannot be read"),
    ("a damaged vault", damaged_vault, 6, "damaged"),
    ("an empty vault file", lambda home: home.vault.write_bytes(b""), 6, "damaged"),
    ("a vault file of zeros", lambda home: home.vault.write_bytes(bytes(65536)), 6, "damaged"),
    ("a text in place of the vault", lambda home: home.vault.write_bytes(b"text\n" * 5000), 6, "damaged"),
    ("a vault that is gone", lambda home: home.vault.unlink(), 4, "is gone"),
    ("an absent vault", never_there, 3, "no vault"),
    ("a vault of a later version", later_version, 1, "later format"),
    ("a folder as the vault", lambda home: put_there(home, os.mkdir), 8, "is a folder"),
    ("a named pipe as the vault", lambda home: put_there(home, os.mkfifo), 8, "named pipe"),
    ("a device as the vault", lambda home: put_there(home, lambda path: os.symlink("/dev/null", path)), 8, "device"),
    ("an older vault", older_vault, 9, "older"),
    ("an exchanged vault", exchanged_vault, 9, "a different vault"),
    ("a diverged vault", diverged_vault, 9, "a different history"),
]


# What the command adds to the library's sentence.
HINTS = {
    "a missing key": "use --key-file PATH, or set VAULT_KEY_FILE.",
    "a damaged vault": "`vault salvage OUT`",
    "a vault that is gone": "run `vault init --force`",
    "an absent vault": "Run `vault init`",
}


@pytest.mark.parametrize(("failure", "break_it", "code", "words"), FAILURES, ids=[row[0] for row in FAILURES])
def test_every_failure_has_its_code_and_its_sentence(
    stored: Home, failure: str, break_it: Callable[[Home], object], code: int, words: str
) -> None:
    break_it(stored)
    content = stored.vault.read_bytes() if stored.vault.is_file() else None
    for command in (("get", "u.token"), ("ls",), ("verify",), ("info",), ("exists", "u.token"), ("rm", "u.token")):
        sentence = stored.refusal(code, *command)
        assert words in sentence and CANARY.decode() not in sentence, failure
        assert HINTS.get(failure, "") in sentence
        error = json.loads(stored.run(*command, "--json").stderr)["error"]
        assert error["exit"] == code
    if failure == "an absent vault":
        return
    assert stored.run("set", "u.token", stdin=b"new").returncode == code
    assert (stored.vault.read_bytes() if stored.vault.is_file() else None) == content, "nothing is saved over it"


def test_no_two_kinds_of_failure_share_a_sentence(binary: str, tmp_path: Path) -> None:
    sentences: dict[str, str] = {}
    for index, (failure, break_it, code, _) in enumerate(FAILURES):
        home = prepared(binary, tmp_path / f"home-{index}")
        break_it(home)
        sentence = home.refusal(code, "get", "u.token").replace(str(home.folder), "")
        sentences[failure] = sentence
    same = {
        "a key file that is open to the group", "a key file that the group may write", "a device as the vault",
        "a key file behind a space",
    }  # fmt: skip
    kinds = [sentence for failure, sentence in sentences.items() if failure not in same]
    # Three ways for a file to be no vault at all may read alike.
    assert len(set(kinds)) >= len(kinds) - 2, sentences


def test_json_codes_tell_the_failures_apart(binary: str, tmp_path: Path) -> None:
    expected = {
        "a wrong key": "locked",
        "a damaged vault": "damaged",
        "an absent vault": "no-vault",
        "a vault that is gone": "gone",
        "a vault of a later version": "newer-format",
        "a folder as the vault": "unavailable",
        "an older vault": "rolled-back",
        "an exchanged vault": "exchanged",
        "a diverged vault": "diverged",
    }
    for index, (failure, break_it, _, _) in enumerate(FAILURES):
        if failure in expected:
            home = prepared(binary, tmp_path / f"home-{index}")
            break_it(home)
            error = json.loads(home.run("get", "u.token", "--json").stderr)["error"]
            assert error["code"] == expected[failure]


def test_a_vault_that_is_gone_is_not_replaced_in_silence(stored: Home) -> None:
    stored.vault.unlink()
    assert "gone" in stored.refusal(4, "set", "u.token", stdin=b"new")
    assert "gone" in stored.refusal(4, "init")
    assert not stored.vault.exists()
    stored.output("init", "--force")
    assert stored.names() == []


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_never_taken_for_an_empty_vault(home: Home, make: Callable[[Path], object]) -> None:
    home.vault.parent.mkdir(parents=True)
    make(home.vault)
    for words in (("set", "u.token"), ("get", "u.token"), ("verify",)):
        home.refusal(8, *words, stdin=b"tok")
