"""`vault unlock` leaves a key in the kernel's memory for a while; where the kernel refuses, all else goes on."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from homes import Home
from json_shapes import is_documented
from key_slots import PASSPHRASE, PROMPT, add_passphrase, keys, lose_key_file, with_passphrase
from terminals import Terminal

pytestmark = [pytest.mark.both_paths_in_full, pytest.mark.needs("keyctl")]

USAGE, LOCKED, IO = 2, 5, 8
GET = ("get", "u.token")
CALLS = "add_key,keyctl,request_key"


def keyring_refusal() -> str:
    """Why the kernel's keyring cannot be used here; nothing if it can."""
    if not shutil.which("keyctl"):
        return ""
    # Other processes of this test run try it at the same moment, with keys of their own.
    name = f"vault-test:probe-{os.getpid()}"
    made = subprocess.run(["keyctl", "add", "user", name, "x", "@u"], capture_output=True, text=True)
    if made.returncode != 0:
        return made.stderr.strip()
    subprocess.run(["keyctl", "unlink", made.stdout.strip(), "@u"], check=True, capture_output=True)
    return ""


REFUSAL = keyring_refusal()
needs_keyring = pytest.mark.skipif(bool(REFUSAL), reason=f"the kernel's keyring: {REFUSAL}")


def on_a_card(home: Home) -> Path:
    """A vault whose key is on a card, as far as the vault can tell: a command prints it while the card is there."""
    home.set("u.token", b"tok")
    home.output("key", "add", "--file", "card.key")
    home.output("key", "rm", "2")
    home.output("key", "add", "--command", f"cat {home.folder}/card.key 2>/dev/null", "--label", "card")
    lose_key_file(home)
    return home.folder / "card.key"


def take_card(home: Home) -> None:
    (home.folder / "card.key").rename(home.folder / "drawer.key")


@pytest.fixture
def card(home: Home) -> Iterator[Home]:
    on_a_card(home)
    yield home
    home.run("lock")


@pytest.fixture
def passphrase(home: Home) -> Iterator[Home]:
    home.set("u.token", b"tok")
    add_passphrase(home)
    lose_key_file(home)
    yield home
    home.run("lock")


def kernel_keys(home: Home) -> list[str]:
    """The serial numbers of the keys that are there for this vault."""
    identifier = home.vault.read_bytes()[16:32].hex()
    lines = Path("/proc/keys").read_text().splitlines()
    return [str(int(line.split()[0], 16)) for line in lines if identifier in line]


def contents(home: Home, serial: str) -> subprocess.CompletedProcess[bytes]:
    """What another program of the same user reads in a key."""
    through = home.through
    return subprocess.run([*through, "keyctl", "pipe", serial], capture_output=True)


# Unlocking


@needs_keyring
def test_after_unlock_nothing_is_asked_until_lock(passphrase: Home) -> None:
    with_passphrase(passphrase, "unlock")
    # In sessions of their own: there is no terminal to ask at.
    for words, output in ((GET, b"tok"), (("ls",), b"u.token\n"), (("key", "check"), None)):
        finished = passphrase.run(*words, start_new_session=True)
        assert finished.returncode == 0 and finished.stdout == (output or finished.stdout), finished
    assert passphrase.run("set", "u.token", stdin=b"new", start_new_session=True).returncode == 0
    assert [key["is_in_use"] for key in keys(passphrase)] == [False, True]
    assert passphrase.output("lock") == b""
    finished = passphrase.run(*GET, start_new_session=True)
    assert finished.returncode == LOCKED and finished.stdout == b""
    assert with_passphrase(passphrase, *GET) == b"new"


@needs_keyring
@pytest.mark.skipif(not os.access("/proc/keys", os.R_OK), reason="/proc/keys is masked")
def test_the_key_is_gone_when_its_time_is_over(card: Home) -> None:
    card.output("unlock", "--timeout", "2")
    take_card(card)
    began = time.monotonic()
    assert card.output(*GET) == b"tok"
    (serial,) = kernel_keys(card)
    assert len(contents(card, serial).stdout) == 32, "until then, every program of the user can read it"
    time.sleep(max(0.0, began + 2.3 - time.monotonic()))
    card.refusal(LOCKED, *GET)
    assert contents(card, serial).returncode != 0
    assert json.loads(card.output("lock", "--json"))["was_unlocked"] is False


@needs_keyring
def test_the_time_is_asked_for_anew_when_it_is_over(passphrase: Home) -> None:
    with_passphrase(passphrase, "unlock", "--timeout", "1s")
    time.sleep(1.3)
    with Terminal(passphrase, *GET) as terminal:
        terminal.answer(PROMPT, PASSPHRASE + "\n")
        assert terminal.end()[0] == 0


@needs_keyring
def test_unlocking_again_begins_a_new_time(card: Home) -> None:
    card.output("unlock", "--timeout", "1")
    card.output("unlock", "--timeout", "1h")
    take_card(card)
    time.sleep(1.3)
    assert card.output(*GET) == b"tok"
    if os.access("/proc/keys", os.R_OK):
        assert len(kernel_keys(card)) == 1


@needs_keyring
def test_an_ordinary_user_unlocks_too(ordinary: Home) -> None:
    on_a_card(ordinary)
    try:
        ordinary.output("unlock")
        take_card(ordinary)
        assert ordinary.output(*GET) == b"tok"
        if os.access("/proc/keys", os.R_OK) and os.geteuid() != 0:
            (serial,) = kernel_keys(ordinary)
            assert len(contents(ordinary, serial).stdout) == 32
        # In a session without a link to the user's keyring, as after su or in a service.
        away = ordinary.started_through(*ordinary.through, "keyctl", "session", "-")
        assert away.run(*GET).stdout.endswith(b"tok")
        if os.geteuid() == 0:
            root = Home(ordinary.binary, ordinary.folder)
            assert root.without_memory().run(*GET).returncode == LOCKED, "it is that user's alone"
    finally:
        ordinary.output("lock")
    ordinary.refusal(LOCKED, *GET)


@needs_keyring
def test_a_session_can_keep_it_to_itself(card: Home) -> None:
    script = '"$0" unlock --session && mv card.key drawer.key && "$0" get u.token; mv drawer.key card.key'
    inside = ["keyctl", "session", "-", "sh", "-c", script, card.binary]
    finished = subprocess.run(inside, env=card.environment, cwd=card.folder, capture_output=True, timeout=60)
    assert finished.stdout.endswith(b"tok"), finished
    take_card(card)
    card.refusal(LOCKED, *GET)


@needs_keyring
def test_what_is_left_in_the_kernel_opens_no_vault_without_its_key(card: Home) -> None:
    """It is a slot's key and never the data key: a key that is removed is worthless there too."""
    card.output("unlock")
    take_card(card)
    assert card.output(*GET) == b"tok"
    card.output("key", "rm", "2", "--key-file", "taken.key")
    card.refusal(LOCKED, *GET)


@needs_keyring
def test_a_rotation_does_not_lock_who_has_unlocked(card: Home) -> None:
    card.output("unlock")
    card.output("key", "rotate", "--key-file", "taken.key")
    take_card(card)
    assert card.output(*GET) == b"tok"


@needs_keyring
def test_a_vault_with_key_files_alone_is_unlocked_as_well(home: Home) -> None:
    """A key file on a stick, say, that is taken away."""
    home.set("u.token", b"tok")
    try:
        home.output("unlock")
        lose_key_file(home)
        assert home.output(*GET) == b"tok"
    finally:
        home.run("lock")


@needs_keyring
def test_the_reports(card: Home) -> None:
    report = json.loads(card.output("unlock", "--json", "--timeout", "1h"))
    assert report == {"vault": str(card.vault), "seconds": 3600} and is_documented(report, "unlock", card)
    assert json.loads(card.output("lock", "--json")) == {
        "vault": str(card.vault), "was_unlocked": True, "locked_all": False
    }  # fmt: skip
    assert json.loads(card.output("lock", "--json"))["was_unlocked"] is False
    card.output("lock")


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "1.5", "15 m", "1y", "999999d", "99999999999999999999"])
def test_what_is_no_time_is_exit_2(card: Home, text: str) -> None:
    card.refusal(USAGE, "unlock", f"--timeout={text}")


def test_a_key_that_does_not_open_the_vault_unlocks_nothing(card: Home) -> None:
    take_card(card)
    card.refusal(LOCKED, "unlock")
    card.refusal(LOCKED, *GET)


# In a sandbox that refuses the calls

REFUSALS = [("EPERM", "seccomp"), ("ENOSYS", "or the kernel has none"), ("EDQUOT", "quota"), ("EACCES", "no access")]


def refusing(home: Home, error: str) -> Home:
    calls = ("-e", f"trace={CALLS}", "-e", f"inject={CALLS}:error={error}")
    return home.started_through("strace", "-f", "-o", "/dev/null", *calls)


@pytest.mark.parametrize(("error", "told"), REFUSALS)
def test_where_the_kernel_refuses_unlock_is_exit_8_and_says_why_and_what_it_means(
    home: Home, error: str, told: str
) -> None:
    home.set("u.token", b"tok")
    sentence = refusing(home, error).refusal(IO, "unlock")
    assert told in sentence, "why"
    assert "each time" in sentence, "and what it means"


@pytest.mark.parametrize(("error", "told"), REFUSALS)
def test_where_the_kernel_refuses_all_else_works(card: Home, error: str, told: str) -> None:
    for options in (("--key-file", "taken.key"), ()):
        for words in (GET, ("set", "u.token"), ("ls",), ("verify",), ("key", "ls"), ("compact",), ("info",)):
            finished = refusing(card, error).run(*words, *options, stdin=b"tok")
            assert (finished.returncode, finished.stderr) == (0, b""), (words, finished)


@pytest.mark.parametrize("error", ["EPERM", "ENOSYS"])
def test_where_the_kernel_refuses_the_passphrase_is_asked_for_each_time(passphrase: Home, error: str) -> None:
    for _ in range(2):
        assert with_passphrase(refusing(passphrase, error), *GET) == b"tok"


@needs_keyring
@pytest.mark.in_a_file
def test_without_the_vault_all_are_locked_and_that_is_said(card: Home) -> None:
    card.output("unlock")
    assert json.loads(card.output("lock", "--json"))["locked_all"] is False
    card.output("unlock")
    card.vault.rename(card.folder / "away")
    finished = card.run("lock")
    assert finished.returncode == 0 and b"so all vaults were locked" in finished.stderr
    report = json.loads(card.output("lock", "--json"))
    assert report["locked_all"] is True
    (card.folder / "away").rename(card.vault)
    take_card(card)
    card.refusal(LOCKED, *GET)
