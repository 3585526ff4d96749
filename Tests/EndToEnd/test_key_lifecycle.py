"""The life of a vault with many keys: rotated, replaced, removed, shown and split; and the limits of its history."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from copies import all_values
from homes import VAULT_AND_KEY, Home
from key_slots import (
    PASSPHRASE,
    add_passphrase,
    fingerprint,
    keys,
    lose_key_file,
    new_identity,
    private_file,
    with_passphrase,
)
from terminals import Terminal
from test_key_commands import with_descriptor

pytestmark = pytest.mark.both_paths_in_full

USAGE, NOT_FOUND, LOCKED, BUSY = 2, 3, 5, 7
GET, ROTATE = ("get", "u.token"), ("key", "rotate")
WITH_FILE = "another passphrase"


@pytest.fixture
def vault(home: Home) -> Home:
    home.set("u.token", b"tok")
    return home


@pytest.fixture
def many(vault: Home) -> Home:
    """Key 2 is a passphrase, 3 a passphrase with a key file, 4 a recipient, 5 a command, and 6 another key file."""
    add_passphrase(vault, "--label", "laptop")
    photo = private_file(vault.folder / "photo", bytes(range(256)))
    add_passphrase(vault, "--file", str(photo), "--label", "both", passphrase=WITH_FILE)
    vault.output("key", "add", "--recipient", new_identity(vault.folder / "identity"), "--label", "mia")
    private_file(vault.folder / "device", b"what a device prints")
    vault.output("key", "add", "--command", f"cat {vault.folder}/device 2>/dev/null", "--label", "card")
    vault.output("key", "add", "--file", "usb.key", "--label", "usb")
    return vault


def rotate(home: Home, *options: str, passphrases: tuple[str, ...] = (PASSPHRASE, WITH_FILE)) -> tuple[int, str]:
    """Rotates at a terminal: the exit code, and what was shown behind the last passphrase."""
    with Terminal(home, *ROTATE, *options) as terminal:
        for passphrase in passphrases:
            terminal.answer("Passphrase of key ", passphrase + "\n")
        code, shown = terminal.end()
    return code, shown.decode()


# Rotating


def test_every_key_that_stays_opens_the_vault_after_a_rotation(many: Home) -> None:
    former, before = fingerprint(many), [key | {"is_in_use": False} for key in keys(many)]
    code, shown = rotate(many, "--file", "3=photo", "--file", "6=usb.key")
    assert code == 0 and fingerprint(many) in shown and fingerprint(many) != former
    assert [key | {"is_in_use": False} for key in keys(many)] == before
    device = many.folder / "device"
    assert many.get("u.token") == b"tok" == many.output(*GET, "--key-file", "usb.key")
    lose_key_file(many)
    assert many.get("u.token") == b"tok", "by the command"
    assert many.output(*GET, "--identity", "identity") == b"tok"
    device.rename(many.folder / "away")
    assert with_passphrase(many, *GET) == b"tok"
    assert with_passphrase(many, *GET, "--key-file", "photo", passphrase=WITH_FILE) == b"tok"


def test_keys_whose_secrets_are_not_at_hand_are_dropped_by_their_numbers(many: Home) -> None:
    (many.folder / "device").rename(many.folder / "away")
    drops = [word for number in "2356" for word in ("--drop", number)]
    assert json.loads(many.output(*ROTATE, *drops, "--json"))["dropped"] == [2, 3, 5, 6]
    assert [key["label"] for key in keys(many)] == ["", "mia"]
    many.refusal(LOCKED, *GET, "--key-file", "usb.key")
    assert many.output(*GET, "--identity", "identity") == b"tok" == many.get("u.token")


@pytest.mark.parametrize(
    ("drops", "told"), [("356", "Key 2 (\"laptop\")"), ("256", "Key 3 (\"both\")"), ("235", "Key 6 (\"usb\")")]
)
def test_a_key_whose_secret_is_not_at_hand_is_named_and_nothing_is_changed(many: Home, drops: str, told: str) -> None:
    before = many.vault.read_bytes()
    words = [word for number in drops for word in ("--drop", number)]
    finished = many.run(*ROTATE, *words, start_new_session=True)
    assert finished.returncode == LOCKED and told.encode() in finished.stderr, finished
    assert f"--drop {told[4]}".encode() in finished.stderr
    assert many.vault.read_bytes() == before


def test_a_command_that_fails_keeps_the_vault_as_it_is(many: Home) -> None:
    before = many.vault.read_bytes()
    (many.folder / "device").rename(many.folder / "away")
    code, _ = rotate(many, "--file", "3=photo", "--file", "6=usb.key")
    assert code == LOCKED and many.vault.read_bytes() == before


def test_a_wrong_passphrase_for_one_of_the_keys_keeps_the_vault_as_it_is(many: Home) -> None:
    before = many.vault.read_bytes()
    code, shown = rotate(many, "--file", "3=photo", "--file", "6=usb.key", passphrases=(PASSPHRASE, "wrong"))
    assert code == LOCKED and "Key 3 (\"both\")" in shown and many.vault.read_bytes() == before


def test_a_key_that_came_while_the_passphrases_were_asked_for_is_not_lost(vault: Home) -> None:
    add_passphrase(vault)
    with Terminal(vault, *ROTATE) as terminal:
        terminal.expect("Passphrase of key 2")
        vault.output("key", "add", "--file", "late.key")
        terminal.type(PASSPHRASE + "\n")
        assert terminal.end()[0] == BUSY
    assert vault.output(*GET, "--key-file", "late.key") == b"tok" and len(keys(vault)) == 3


# Replacing and removing


def test_a_key_file_is_replaced_by_one_that_exists_and_the_others_stay(many: Home) -> None:
    (many.folder / "device").rename(many.folder / "away")
    before = keys(many)
    new = private_file(many.folder / "new", b"any file of some length")
    finished = many.run("key", "replace", "--key", "6", "new")
    assert finished.returncode == 0 and b"Created" not in finished.stderr
    assert new.read_bytes() == b"any file of some length"
    assert keys(many)[:5] == before[:5] and keys(many)[5]["label"] == "usb"
    many.refusal(LOCKED, *GET, "--key-file", "usb.key")
    assert many.output(*GET, "--key-file", "new") == b"tok" == many.get("u.token")


def test_keys_are_removed_down_to_the_last_whatever_it_is(many: Home) -> None:
    for _ in range(3):
        many.output("key", "rm", "1", "--key-file", "usb.key")
    assert [key["label"] for key in keys(many, "--key-file", "usb.key")] == ["mia", "card", "usb"]
    for number in "32":
        many.output("key", "rm", number, "--identity", "identity")
    assert "last key" in many.refusal(USAGE, "key", "rm", "1", "--identity", "identity")
    assert many.output(*GET, "--identity", "identity") == b"tok"


def test_of_two_that_remove_each_others_key_one_stays(vault: Home) -> None:
    vault.output("key", "add", "--file", "second.key")
    removals = [vault.start("key", "rm", "2"), vault.start("key", "rm", "1", "--key-file", "second.key")]
    for process in removals:
        process.communicate(timeout=30)
    codes = [process.returncode for process in removals]
    assert codes.count(0) == 1, codes
    left = () if codes[0] == 0 else ("--key-file", "second.key")
    assert vault.output(*GET, *left) == b"tok" and len(keys(vault, *left)) == 1


def test_keys_that_are_added_at_once_are_all_there(vault: Home) -> None:
    def add(index: int) -> dict:
        return json.loads(vault.output("key", "add", "--file", f"{index}.key", "--label", f"key {index}", "--json"))

    with ThreadPoolExecutor(6) as pool:
        reports = list(pool.map(add, range(6)))
    labels = {key["number"]: key["label"] for key in keys(vault)}
    assert len(labels) == 7 and all(labels[report["number"]] == report["label"] for report in reports)
    for index in range(6):
        assert vault.output(*GET, "--key-file", f"{index}.key") == b"tok"


# On paper and in shares, from a descriptor


def test_a_key_from_a_descriptor_is_shown_split_and_joined(vault: Home) -> None:
    key = lose_key_file(vault).read_bytes()
    assert with_descriptor(vault, key, "key", "show").stdout == key
    shares = with_descriptor(vault, key, "key", "split", "2", "of", "3").stdout
    chosen = [line for line in shares.splitlines() if not line.startswith(b"#")][1:]
    vault.output("key", "join", "joined.key", stdin=b"\n".join(chosen))
    assert (vault.folder / "joined.key").read_bytes() == key
    vault.output("key", "check", "joined.key")


def test_a_key_from_a_descriptor_is_rotated_and_replaced(vault: Home) -> None:
    key, before = lose_key_file(vault).read_bytes(), vault.vault.read_bytes()
    assert with_descriptor(vault, key, *ROTATE).returncode == 0 and vault.vault.read_bytes() != before
    assert with_descriptor(vault, key, "key", "replace", "new.key").returncode == 0
    assert with_descriptor(vault, key, *GET).returncode == LOCKED
    assert vault.output(*GET, "--key-file", "new.key") == b"tok"


@pytest.mark.parametrize("words", [("show",), ("split", "2", "of", "3")], ids=lambda words: words[0])
def test_a_key_from_a_descriptor_that_opens_nothing_or_was_not_generated_is_refused(
    vault: Home, tmp_path: Path, words: tuple[str, ...]
) -> None:
    other = Home(vault.binary, tmp_path / "other")
    other.output("init")
    finished = with_descriptor(vault, other.key.read_bytes(), "key", *words)
    assert finished.returncode == LOCKED and finished.stdout == b""
    photo = private_file(vault.folder / "photo", b"a secret of people")
    vault.output("key", "add", "--file", "photo")
    finished = with_descriptor(vault, photo.read_bytes(), "key", *words)
    assert finished.returncode == USAGE and finished.stdout == b"" and b"generated" in finished.stderr


# History


def test_fewer_values_are_kept_from_now_on_and_the_rest_goes_at_once(vault: Home) -> None:
    values = [b"canary %d " % index * 20 for index in range(6)]
    for value in values:
        vault.set("u.token", value)
    assert all_values(vault)["u.token"] == [*reversed(values), b"tok"]
    report = json.loads(vault.output("history", "--keep", "2,30", "--json"))
    assert report == {"history_versions": 2, "history_days": 30}
    assert all_values(vault)["u.token"] == [values[5], values[4], values[3]]
    vault.output("history", "--keep", "10,90")
    assert len(vault.output("history", "u.token").splitlines()) == 2, "what is gone does not come back"
    vault.refusal(NOT_FOUND, "restore", "u.token", "--version", "3")


def test_the_limits_are_the_vaults_and_outlast_a_rotation_and_a_backup(vault: Home) -> None:
    vault.output("history", "--keep", "1,7")
    vault.output(*ROTATE)
    vault.output("backup", "copy.vault")
    for options in ((), ("--vault", "copy.vault")):
        report = json.loads(vault.without_memory().output("history", "--json", *options))
        assert report == {"history_versions": 1, "history_days": 7}
    for value in (b"1", b"2", b"3"):
        vault.set("u.token", value)
    assert all_values(vault)["u.token"] == [b"3", b"2"]


@pytest.mark.parametrize("text", ["", "5", "5,", ",5", "-1,5", "256,1", "1.5,2", "1,2,3", "x,y"])
def test_what_is_no_limit_is_exit_2(vault: Home, text: str) -> None:
    before = vault.vault.read_bytes()
    vault.refusal(USAGE, "history", f"--keep={text}")
    vault.refusal(USAGE, "history", "--keep", "1,2", "u.token")
    assert vault.vault.read_bytes() == before


def test_a_purged_name_has_no_history_in_the_vault_a_backup_or_after_a_rotation(vault: Home) -> None:
    vault.set("u.token", b"new")
    vault.set("stays", b"1")
    vault.output("rm", "--purge", "u.token")
    vault.output("backup", "copy.vault")
    vault.output(*ROTATE)
    for path in (vault.vault, vault.folder / "copy.vault"):
        assert all_values(vault, path).get("u.token", [None]) == [None]
        vault.without_memory().refusal(NOT_FOUND, "history", "u.token", "--vault", str(path))
    vault.set("u.token", b"begins anew")
    vault.refusal(NOT_FOUND, "history", "u.token")


# Backups


@pytest.mark.in_a_file
def test_backups_to_one_file_at_once_leave_a_sound_one_and_nothing_else(vault: Home) -> None:
    vault.set("large", os.urandom(2_000_000))
    expected = all_values(vault)
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda _: vault.run("backup", "--force", "copy.vault").returncode, range(4)))
    assert 0 in codes, codes
    assert all_values(vault, vault.folder / "copy.vault") == expected
    vault.without_memory().output("verify", "--vault", "copy.vault")
    assert vault.files() == sorted([*VAULT_AND_KEY, "copy.vault"])
