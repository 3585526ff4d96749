"""Several vaults by name: `--vault work`, and the file that says what `work` is."""

import json
import os
from pathlib import Path

import pytest

from homes import NOBODY, Home
from key_slots import fingerprint, lose_key_file, new_identity, private_file

USAGE, NOT_FOUND, LOCKED, DAMAGED = 2, 3, 5, 6


def configuration(home: Home) -> Path:
    return home.folder / ".config/vault/config"


def configure(home: Home, text: str) -> Path:
    path = configuration(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    return private_file(path, text.encode())


@pytest.fixture
def two(home: Home) -> Home:
    """A vault at the standard place, and one that is named `work`."""
    configure(home, "# Vaults of this test.\n[work]\nvault = ~/Sync/work.vault\nkey-file = ~/keys/work.key\n")
    home.set("u.token", b"at home")
    home.output("set", "u.token", "--vault", "work", stdin=b"at work")
    return home


def test_a_name_leads_to_its_vault_and_key_file(two: Home) -> None:
    assert two.get("u.token") == b"at home"
    assert two.output("get", "u.token", "--vault", "work") == b"at work"
    report = json.loads(two.output("info", "--vault", "work", "--json"))
    assert report["vault"] == str(two.folder / "Sync/work.vault")
    assert report["key_file"] == str(two.folder / "keys/work.key")
    two.output("key", "check", "--vault=work", str(two.folder / "keys/work.key"))
    two.refusal(LOCKED, "get", "u.token", "--vault", "work", "--key-file", str(two.key))


def test_a_relative_path_is_below_the_folder_of_the_configuration_from_everywhere(home: Home) -> None:
    configure(home, '[work]\nvault = here.vault\nkey-file = "a \\"key\\" of work"\n')
    home.output("set", "u.token", "--vault", "work", stdin=b"tok")
    assert (configuration(home).parent / "here.vault").exists()
    assert (configuration(home).parent / 'a "key" of work').exists()


def test_without_a_key_file_it_is_named_after_the_vault(home: Home) -> None:
    configure(home, "[work]\nvault = ~/work.vault\n")
    home.output("set", "u.token", "--vault", "work", stdin=b"tok")
    assert home.key.with_name("work.key").exists() and not home.key.exists()
    assert home.output("get", "u.token", "--vault", "work") == b"tok"


def test_advice_repeats_the_name_of_the_vault(home: Home) -> None:
    """Another vault would be changed instead, with success: the removed key's owner keeps the data key."""
    configure(home, "[work]\nvault = ~/work.vault\n")
    work = ["--vault", "work"]
    home.output("set", "u.token", *work, stdin=b"tok")
    home.output("key", "add", "--file", "second.key", *work)
    said = {
        "log --on": home.run("log", *work).stderr,
        "key rotate": home.output("key", "rm", "2", *work),
        "key check './back.key'": home.output("key", "join", "./back.key", *work, stdin=home.output("key", "split", "2", "of", "3", *work)),
    }
    home.output("set", "my bank", "-a", "policy=run", *work, stdin=b"1")
    said |= {
        "attr 'my bank' policy=": home.run("get", "my bank", *work).stderr,
        "verify": home.output("doctor", *work),
    }
    for command, text in said.items():
        assert f"`vault --vault 'work' {command}`" in text.decode(), text
    # To the letter.
    home.output(*work, "attr", "my bank", "policy=")
    assert home.output("get", "my bank", *work) == b"1"
    before = fingerprint(home, *work)
    home.output(*work, "key", "rotate")
    assert fingerprint(home, *work) != before


def test_advice_of_every_command_names_the_vault_that_is_damaged(home: Home) -> None:
    configure(home, "[work]\nvault = ~/work.vault\n")
    work = ["--vault", "work"]
    home.output("set", "u.token", *work, stdin=b"tok")
    vault = home.folder / "work.vault"
    content = bytearray(vault.read_bytes())
    # The newest record's last sealed byte is the value's; zeros follow it.
    content[len(content.rstrip(b"\0")) - 1] ^= 1
    vault.write_bytes(content)
    for words in (["get", "u.token"], ["cp", "u.token", "b"], ["mv", "u.token", "b"], ["verify"]):
        assert "`vault --vault 'work' salvage OUT`" in home.refusal(DAMAGED, *words, *work), words


def test_a_key_file_that_is_named_is_not_taken_for_the_vaults_own(home: Home) -> None:
    configure(home, "[work]\nvault = ~/work.vault\n")
    work = ["--vault", "work"]
    home.output("set", "u.token", *work, stdin=b"tok")
    home.output("key", "add", "--file", "second.key", *work)
    for words in (["key", "check", "nowhere.key"], ["key", "rotate", "--file", "2=nowhere.key"]):
        told = home.refusal(LOCKED, *words, *work)
        assert "nowhere.key is missing" in told and "--key-file" not in told
    before = fingerprint(home, *work)
    assert "Key 1 opened the vault" in home.refusal(USAGE, "key", "rotate", "--file", "1=nowhere.key", "--drop", "2", *work)
    assert fingerprint(home, *work) == before


def test_whoever_takes_the_key_in_use_away_is_told_how_to_open_the_vault_from_now_on(home: Home) -> None:
    configure(home, "[work]\nvault = ~/work.vault\n")
    work = ["--vault", "work"]
    home.output("set", "u.token", *work, stdin=b"tok")
    told = home.output("key", "replace", "new one.key", *work).decode()
    path = home.folder / "new one.key"
    assert f"`vault --vault 'work' --key-file '{path}' key rotate`" in told
    assert f"with --key-file '{path}', or write `key-file = {path}` in the section [work] of the configuration." in told
    assert "does not open" in home.refusal(LOCKED, "get", "u.token", *work)
    configure(home, f"[work]\nvault = ~/work.vault\nkey-file = {path}\n")
    home.output(*work, "--key-file", str(path), "key", "rotate")
    home.output("key", "add", "--file", "other.key", *work)
    told = home.output("key", "rm", "1", *work).decode()
    assert "This command used the removed key." in told and "`vault --vault 'work' --key-file OTHER key rotate`" in told
    home.output(*work, "--key-file", "other.key", "key", "rotate")
    assert home.output("get", "u.token", *work, "--key-file", "other.key") == b"tok"


def test_the_section_default_is_the_vault_that_nobody_names(home: Home) -> None:
    configure(home, "[default]\nvault = ~/mine.vault\nkey-file = ~/mine.key\n[work]\nvault = ~/work.vault\n")
    home.set("u.token", b"mine")
    assert (home.folder / "mine.vault").exists() and (home.folder / "mine.key").exists() and not home.vault.exists()
    assert home.output("get", "u.token", "--vault", "default") == b"mine"
    home.output("set", "u.token", "--vault", "work", stdin=b"work")
    assert home.get("u.token") == b"mine"


def test_options_and_variables_beat_the_section_default(home: Home) -> None:
    home.output("set", "u.token", "--vault", "./other.vault", "--key-file", "other.key", stdin=b"other")
    configure(home, "[default]\nvault = ~/mine.vault\nkey-file = ~/mine.key\n")
    home.set("u.token", b"mine")
    given = home.with_variables(VAULT_FILE=str(home.folder / "other.vault"))
    assert given.output("get", "u.token", "--key-file", "other.key") == b"other"
    given = given.with_variables(VAULT_KEY_FILE=str(home.folder / "other.key"))
    assert given.get("u.token") == b"other"
    assert home.output("get", "u.token", "--vault", "./other.vault", "--key-file", "other.key") == b"other"


def test_key_file_beats_what_the_section_says(two: Home) -> None:
    (two.folder / "keys/work.key").rename(two.folder / "taken.key")
    assert two.output("get", "u.token", "--vault", "work", "--key-file", "taken.key") == b"at work"
    assert "keys/work.key" in two.refusal(LOCKED, "get", "u.token", "--vault", "work")


def test_the_variable_for_a_key_file_is_not_that_of_another_vault(two: Home) -> None:
    """It is said of the vault that nobody names."""
    home = two.with_variables(VAULT_KEY_FILE=str(two.key))
    assert home.output("get", "u.token", "--vault", "work") == b"at work"
    assert home.get("u.token") == b"at home"


def test_a_section_can_have_a_command_and_an_identity(home: Home) -> None:
    public = new_identity(home.folder / "identity")
    home.set("u.token", b"tok")
    home.output("key", "add", "--recipient", public)
    pin = fingerprint(home)
    taken = lose_key_file(home)
    configure(
        home,
        f"[one]\nvault = {home.vault}\nkey-command = touch {home.folder}/ran; cat {taken}\n"
        f"[two]\nvault = {home.vault}\nidentity = ~/identity\n",
    )
    assert home.output("get", "u.token", "--vault", "one") == b"tok"
    assert (home.folder / "ran").exists()
    (home.folder / "ran").unlink()
    # A key that is given has nothing to do with the command.
    home.output("get", "u.token", "--vault", "one", "--key-file", str(taken))
    assert not (home.folder / "ran").exists()
    assert home.output("get", "u.token", "--vault", "two", "--vault-fingerprint", pin) == b"tok"


# Names


def test_a_path_is_a_path(two: Home) -> None:
    two.output("set", "u.token", "--vault", "./work", "--key-file", "w.key", stdin=b"in this folder")
    assert (two.folder / "work").exists()
    assert two.output("get", "u.token", "--vault", "work") == b"at work"


@pytest.mark.parametrize("name", ["wrok", "Work", "work2"])
def test_a_name_that_is_not_there_is_told_with_those_that_are_and_nothing_is_created(two: Home, name: str) -> None:
    """A file of that name in the folder where a person happens to be would be a vault without its secrets."""
    before = sorted(two.folder.rglob("*"))
    for words in (("get", "u.token"), ("set", "u.token"), ("ls",)):
        finished = two.run(*words, "--vault", name, stdin=b"tok")
        sentence = finished.stderr.decode()
        assert finished.returncode in (USAGE, NOT_FOUND), finished
        assert f'"{name}"' in sentence and "The names there are: work" in sentence
        assert str(configuration(two)) in sentence
    assert sorted(two.folder.rglob("*")) == before


def test_a_file_with_a_plain_name_in_this_folder_is_opened_as_before(two: Home) -> None:
    """`--vault my.vault` has always been a path."""
    two.output("init", "--vault", "./my.vault", "--key-file", "my.key")
    two.output("verify", "--vault", "my.vault", "--key-file", "my.key")


# The file


@pytest.mark.parametrize("bits", [0o666, 0o620, 0o602, 0o660])
def test_a_configuration_that_others_can_change_is_refused_with_the_way_to_fix_it(two: Home, bits: int) -> None:
    path = configuration(two)
    path.chmod(bits)
    for words in (("get", "u.token", "--vault", "work"), ("get", "u.token"), ("set", "u.token")):
        assert f"chmod go-w {path}" in two.refusal(LOCKED, *words, stdin=b"new")
    path.chmod(0o644)
    assert two.output("get", "u.token", "--vault", "work") == b"at work"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_a_configuration_of_another_user_is_refused(two: Home) -> None:
    os.chown(configuration(two), NOBODY, NOBODY)
    assert "another user" in two.refusal(LOCKED, "get", "u.token", "--vault", "work")


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("[work]\nvault = ~/a\nvautl = ~/b\n", 3, "vault, key-file"),
        ("[work]\nkey-file = ~/a\n", 1, "vault = PATH"),
        ("vault = ~/a\n", 1, "section"),
        ("[work\nvault = ~/a\n", 1, "[NAME]"),
        ("[a b]\nvault = ~/a\n", 1, "[NAME]"),
        ("[work]\nvault = ~/a\n[work]\nvault = ~/b\n", 3, "line 1"),
        ("[work]\nvault = ~/a\nvault = ~/b\n", 3, "line 2"),
        ("[work]\nvault = ~ada/a\n", 2, "home"),
        ("[work]\nvault =\n", 2, "no value"),
        ('[work]\nvault = "a\n', 2, "closing quote"),
        ("[work]\nhunter2-password\n", 2, "KEY = VALUE"),
        ("[work]\nvault = a\x1b[2Jb\n", 2, "control character"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_without_what_it_says(home: Home, text: str, line: int, told: str) -> None:
    path = configure(home, text)
    sentence = home.refusal(USAGE, "get", "u.token", "--vault", "work")
    assert f"{path}, line {line}: " in sentence and told in sentence
    assert "hunter2" not in sentence and "\x1b" not in sentence


def test_a_mistake_keeps_no_one_from_a_vault_that_is_named_by_its_path(two: Home) -> None:
    configure(two, "nonsense\n")
    options = ("--vault", str(two.vault), "--key-file", str(two.key))
    assert two.output("get", "u.token", *options) == b"at home"
    two.refusal(USAGE, "get", "u.token")
    assert two.output("help") and two.output("version")


def test_the_folder_of_the_configuration_is_chosen_by_its_variable(two: Home) -> None:
    elsewhere = two.folder / "elsewhere"
    configuration(two).rename(two.folder / "moved")
    (elsewhere / "vault").mkdir(parents=True)
    (two.folder / "moved").rename(elsewhere / "vault/config")
    assert two.with_variables(XDG_CONFIG_HOME=str(elsewhere)).output("get", "u.token", "--vault", "work") == b"at work"
    assert two.run("get", "u.token", "--vault", "work").returncode in (USAGE, NOT_FOUND)


def test_the_help_on_locations_mentions_it(home: Home) -> None:
    text = home.output("help", "locations").decode()
    assert "vault/config" in text and "key-command" in text and "[work]" in text
