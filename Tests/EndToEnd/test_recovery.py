"""A key file on paper and in shares: what is shown and split comes back as the same key."""

import itertools
import json
import re
from collections.abc import Sequence

import pytest

from homes import Home, mode
from json_shapes import is_documented
from key_slots import private_file
from qr_images import decoded
from terminals import Terminal, on_terminal

pytestmark = pytest.mark.both_paths_in_full

USAGE, REFUSED, LOCKED = 2, 4, 5
GET = ("get", "u.token")
HALF_BLOCKS = " ▄▀█"
COLORS = re.compile("\x1b\\[[0-9;]*m")


@pytest.fixture
def vault(home: Home) -> Home:
    home.set("u.token", b"tok")
    return home


def secret_line(home: Home) -> str:
    return home.key.read_text().splitlines()[-1]


def share_lines(text: bytes) -> list[str]:
    return [line for line in text.decode().splitlines() if not line.startswith("#")]


def split(home: Home, threshold: int, count: int) -> list[str]:
    """The shares, each with its comments."""
    text = home.output("key", "split", str(threshold), "of", str(count)).decode()
    shares = re.split(r"(?=^# Share )", text, flags=re.MULTILINE)[1:]
    assert len(shares) == count
    return shares


def join(home: Home, shares: Sequence[str], name: str = "joined.key"):
    return home.run("key", "join", name, stdin="".join(shares).encode())


# On paper


def test_show_prints_the_key_file_and_without_a_terminal_nothing_else(vault: Home) -> None:
    assert vault.output("key", "show") == vault.key.read_bytes()
    assert json.loads(vault.output("key", "show", "--json"))["value"] == vault.key.read_text()


def test_the_line_that_is_typed_from_paper_is_a_key_file(vault: Home) -> None:
    line = secret_line(vault)
    private_file(vault.folder / "typed", f"{line.upper()}\n".encode())
    assert vault.output(*GET, "--key-file", "typed") == b"tok"
    mistyped = line.replace(line[20], "0" if line[20] != "0" else "1", 1)
    private_file(vault.folder / "typed", mistyped.encode())
    sentence = vault.refusal(LOCKED, *GET, "--key-file", "typed")
    assert "typed" in sentence and line[12:40] not in sentence


def test_a_wide_terminal_shows_a_code_that_a_scanner_reads(vault: Home) -> None:
    lines = on_terminal(vault, "key", "show", columns=100).decode().splitlines()
    assert lines[:2] == vault.key.read_text().splitlines()
    plain = [COLORS.sub("", line) for line in lines]
    code = [line for line in plain[2:] if line and set(line) <= set(HALF_BLOCKS)]
    width = max(len(line) for line in code)
    assert width <= 100
    scanned = decoded("\n".join(line for line in code if len(line) == width))
    assert scanned.strip() == secret_line(vault).encode()
    private_file(vault.folder / "scanned", scanned)
    assert vault.output(*GET, "--key-file", "scanned") == b"tok"


def test_a_narrow_terminal_says_that_it_is_too_narrow(vault: Home) -> None:
    shown = on_terminal(vault, "key", "show", columns=30).decode()
    assert shown.startswith(vault.key.read_text())
    assert "too narrow" in shown and not set("▄▀█") & set(shown)
    needed = int(re.search(r"(\d+) columns", shown)[1])
    for columns, fits in ((needed - 1, False), (needed, True)):
        shown = on_terminal(vault, "key", "show", columns=columns).decode()
        assert ("▀" in shown) == fits and ("too narrow" in shown) != fits


def test_the_code_can_be_left_out(vault: Home) -> None:
    assert on_terminal(vault, "key", "show", "--no-qr", columns=100) == vault.key.read_bytes()


def test_what_cannot_be_shown_is_exit_5_as_the_help_says(vault: Home) -> None:
    assert "nothing" in vault.refusal(LOCKED, "key", "show", "--key-file", "nothing")
    vault.key.chmod(0o644)
    assert "chmod 600" in vault.refusal(LOCKED, "key", "show")
    private_file(vault.folder / "photo", bytes(range(256)))
    assert "photo" in vault.refusal(LOCKED, "key", "show", "--key-file", "photo")


# In shares


def test_any_three_of_five_restore_the_key_file(vault: Home) -> None:
    shares = split(vault, 3, 5)
    for index, chosen in enumerate(itertools.combinations(shares, 3)):
        name = f"{index}.key"
        finished = join(vault, reversed(chosen) if index % 2 else chosen, name)
        assert finished.returncode == 0, finished
        assert (vault.folder / name).read_text().splitlines()[-1] == secret_line(vault)
        assert mode(vault.folder / name) == 0o600
    assert vault.output(*GET, "--key-file", "9.key") == b"tok"
    vault.output("key", "check", "0.key")
    assert join(vault, shares, "all.key").returncode == 0


def test_lines_alone_in_any_case_with_spaces_and_twice_are_enough(vault: Home) -> None:
    lines = share_lines(vault.output("key", "split", "2", "of", "3"))
    text = f"\r\n{lines[2].upper()}  \r\n\n{lines[2]}\n{lines[0]}"
    assert join(vault, [text]).returncode == 0
    assert (vault.folder / "joined.key").read_text().splitlines()[-1] == secret_line(vault)


def test_shares_from_a_file_and_at_a_terminal(vault: Home) -> None:
    shares = split(vault, 2, 2)
    (vault.folder / "shares").write_text("".join(shares))
    assert b"joined.key" in vault.output("key", "join", "joined.key", "--file", "shares")
    with Terminal(vault, "key", "join", "typed.key") as terminal:
        terminal.expect("Ctrl-D")
        for line in share_lines("".join(shares).encode()):
            terminal.type(line + "\n")
        terminal.type("\x04")
        code, _ = terminal.end()
    assert code == 0, terminal.everything
    assert (vault.folder / "typed.key").read_bytes() == (vault.folder / "joined.key").read_bytes()


def test_shares_are_other_ones_each_time_and_none_contains_the_key(vault: Home) -> None:
    first, second = vault.output("key", "split", "2", "of", "3"), vault.output("key", "split", "2", "of", "3")
    assert not set(share_lines(first)) & set(share_lines(second))
    secret = secret_line(vault).split("-")[3]
    assert secret.encode() not in first and all(part.encode() not in first for part in (secret[:16], secret[-16:]))


def refused_join(home: Home, shares: Sequence[str]) -> str:
    finished = join(home, shares)
    assert finished.returncode == USAGE and finished.stdout == b"", finished
    assert not (home.folder / "joined.key").exists()
    sentence = finished.stderr.decode()
    assert not any(
        part in sentence for share in share_lines("".join(shares).encode()) for part in [share[30:60]] if part
    )
    return sentence


def test_two_of_three_that_are_needed_are_too_few(vault: Home) -> None:
    shares = split(vault, 3, 5)
    sentence = refused_join(vault, shares[:2])
    assert "3" in sentence and "2" in sentence, "how many there are, and how many are needed"
    # The same one twice is one.
    refused_join(vault, [shares[0], shares[1], shares[0]])


@pytest.mark.parametrize("position", range(0, 130, 9))
def test_a_mistyped_share_is_named(vault: Home, position: int) -> None:
    shares = split(vault, 2, 3)
    lines = share_lines("".join(shares).encode())
    line = lines[1]
    position = min(position, len(line) - 1)
    wrong = "0" if line[position] != "0" else "1"
    sentence = refused_join(vault, [f"{lines[0]}\n", f"{line[:position]}{wrong}{line[position + 1:]}\n"])
    assert "share" in sentence or "line 2" in sentence


def test_shares_of_two_sets_and_of_two_keys_are_not_joined(vault: Home) -> None:
    first, second = split(vault, 2, 3), split(vault, 2, 3)
    assert "set" in refused_join(vault, [first[0], second[1]])
    vault.output("init", "--vault", "other.vault", "--key-file", "other.key")
    other = vault.output("key", "split", "2", "of", "3", "--vault", "other.vault", "--key-file", "other.key").decode()
    refused_join(vault, [first[0], other])


@pytest.mark.parametrize("text", ["", "# only a comment\n", "hello\n", "\0\0\0", "vault-key-share-1-\n"])
def test_what_is_no_share_is_refused(vault: Home, text: str) -> None:
    refused_join(vault, [text])
    refused_join(vault, [*split(vault, 2, 2)[:1], text])


def test_join_overwrites_nothing(vault: Home) -> None:
    shares = split(vault, 2, 2)
    target = private_file(vault.folder / "joined.key", b"what is there")
    finished = join(vault, shares)
    assert finished.returncode == REFUSED and b"joined.key" in finished.stderr
    assert target.read_bytes() == b"what is there"
    (vault.folder / "folder").mkdir()
    assert join(vault, shares, "folder").returncode != 0


@pytest.mark.parametrize(
    "words",
    ["3 of 2", "1 of 3", "0 of 3", "2 of 33", "x of 3", "3 of x", "3 from 5", "3 of", "3", "", "-3 of 5", "3 of 5 6"],
)
def test_what_is_no_split_is_exit_2(vault: Home, words: str) -> None:
    vault.refusal(USAGE, "key", "split", "--", *words.split())


def test_the_most_shares_are_32(vault: Home) -> None:
    shares = split(vault, 32, 32)
    assert join(vault, shares).returncode == 0
    assert vault.output(*GET, "--key-file", "joined.key") == b"tok"


def test_with_json_split_writes_an_object(vault: Home) -> None:
    """As every command that succeeds does."""
    report = json.loads(vault.output("key", "split", "2", "of", "3", "--json"))
    assert len(report["shares"]) == 3 and is_documented(report, "key split", vault)
    report = json.loads(vault.output("key", "join", "joined.key", "--json", stdin="\n".join(report["shares"]).encode()))
    assert report["key_file"].endswith("joined.key") and is_documented(report, "key join", vault)


def test_a_key_that_does_not_open_the_vault_is_not_put_on_paper(vault: Home) -> None:
    """After `key rm` or `key replace`, the file at the standard place is another vault's key, or none's."""
    vault.output("key", "replace", "new.key")
    for words in (("key", "show"), ("key", "split", "2", "of", "3")):
        assert "does not open" in vault.refusal(LOCKED, *words)
