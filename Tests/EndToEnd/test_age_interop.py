"""Vaults for recipients: identities that age makes open them, and only the vault that is meant."""

import base64
import hashlib
import hmac
import os
import secrets
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import nacl.bindings
import pytest

import interop  # noqa: F401
from documents import ROOT
from homes import Home
from key_slots import SlotTable, fingerprint, keys, new_identity, private_file
from reading.age import hkdf_sha256, read_identity, read_stanzas, unwrapped_file_key
from reading.vault import open_vault
from terminals import Terminal
from writing.age import bech32, recipient_of, x25519_stanza
from writing.builder import VaultBuilder
from writing.entries import Entry, Value
from writing.keys import recipient_slot

LOCKED, ALARM = 5, 9
PLUGIN = ROOT / "Tests/AgeTests/Plugins/age-plugin-vaulttest"
GET = ("get", "u.token", "--identity", "identity")


@dataclass(frozen=True)
class Shared:
    """A vault of one person, and the machine of another, who has an identity and no key file."""

    owner: Home
    mia: Home
    public: str

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.owner)

    @property
    def identity(self) -> Path:
        return self.mia.folder / "identity"

    def deliver(self, vault: Path) -> None:
        self.mia.vault.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(vault, self.mia.vault)


@pytest.fixture
def shared(binary: str, tmp_path: Path) -> Shared:
    owner, mia = Home(binary, tmp_path / "owner"), Home(binary, tmp_path / "mia")
    public = new_identity(mia.folder / "identity")
    owner.set("u.token", b"tok")
    owner.output("key", "add", "--recipient", public, "--label", "mia")
    shared = Shared(owner, mia, public)
    shared.deliver(owner.vault)
    return shared


def secret_line(identity: Path) -> str:
    return identity.read_text().splitlines()[-1]


# Opening


def test_an_identity_of_age_keygen_opens_the_vault_once_its_fingerprint_is_confirmed(shared: Shared) -> None:
    mia = shared.mia
    for _ in range(2):
        sentence = mia.refusal(LOCKED, *GET)
        assert shared.fingerprint in sentence
    assert mia.output(*GET, "--vault-fingerprint", shared.fingerprint) == b"tok"
    # From now on this machine knows it.
    assert mia.output(*GET) == b"tok"
    mia.output("set", "u.token", "--identity", "identity", stdin=b"by mia")
    shared.owner.vault.write_bytes(mia.vault.read_bytes())
    assert shared.owner.get("u.token") == b"by mia"


def test_the_options_that_help_are_named(shared: Shared) -> None:
    assert "--identity" in shared.mia.refusal(LOCKED, "get", "u.token")
    assert "--vault-fingerprint" in shared.mia.refusal(LOCKED, *GET)


def test_the_recipient_and_no_identity_is_in_the_list(shared: Shared) -> None:
    _, key = keys(shared.owner)
    assert (key["kind"], key["recipient"], key["label"]) == ("recipient", shared.public, "mia")
    assert shared.public in shared.owner.output("key", "ls").decode()
    content = shared.owner.vault.read_bytes()
    assert shared.public.encode() not in content and b"mia" not in content, "who the recipients are is sealed"


def test_the_machine_that_added_the_recipient_needs_no_fingerprint(shared: Shared) -> None:
    shared.owner.key.unlink()
    assert shared.owner.output("get", "u.token", "--identity", str(shared.identity)) == b"tok"


@pytest.mark.parametrize("form", [str.upper, lambda text: text.replace("-", "")], ids=["upper case", "no dashes"])
def test_a_fingerprint_is_read_as_people_write_it(shared: Shared, form) -> None:
    assert shared.mia.output(*GET, "--vault-fingerprint", form(shared.fingerprint)) == b"tok"


@pytest.mark.parametrize("text", ["", "-", "0000", "0000-" * 7 + "0000"])
def test_another_fingerprint_does_not_open_and_is_not_remembered(shared: Shared, text: str) -> None:
    finished = shared.mia.run(*GET, f"--vault-fingerprint={text}")
    assert finished.returncode in (2, LOCKED) and finished.stdout == b"", finished
    shared.mia.refusal(LOCKED, *GET)


def test_a_wrong_fingerprint_is_refused_even_if_the_right_one_is_remembered(shared: Shared) -> None:
    assert shared.mia.output(*GET, "--vault-fingerprint", shared.fingerprint) == b"tok"
    shared.mia.refusal(LOCKED, *GET, "--vault-fingerprint", "0000-" * 7 + "0000")
    assert shared.mia.output(*GET) == b"tok"


def test_a_fingerprint_in_a_comment_of_the_identity_file_is_enough(shared: Shared) -> None:
    text = shared.identity.read_text()
    mia = shared.mia.without_memory()
    mia.refusal(LOCKED, *GET)
    shared.identity.write_text(f"# vault: {'0' * 32}\n# vault: {shared.fingerprint}\n{text}")
    assert mia.output(*GET) == b"tok"
    shared.identity.write_text(f"# vault: {'0' * 32}\n{text}")
    mia.refusal(LOCKED, *GET)


def test_what_is_wrong_with_an_identity_is_said(shared: Shared) -> None:
    mia, pinned = shared.mia, ("--vault-fingerprint", shared.fingerprint)
    new_identity(mia.folder / "another")
    private_file(mia.folder / "public", shared.public.encode() + b"\n")
    private_file(mia.folder / "empty", b"# nothing\n")
    private_file(mia.folder / "torn", shared.identity.read_bytes()[:-5])
    for file, told in (("another", "recipient"), ("public", "line 1"), ("empty", "no identity"), ("torn", "line 3")):
        sentence = mia.refusal(LOCKED, "get", "u.token", "--identity", file, *pinned)
        assert file in sentence and told in sentence
    sentence = mia.refusal(LOCKED, "get", "u.token", "--identity", "nothing", *pinned)
    assert "nothing" in sentence and "No such file" in sentence
    secret = secret_line(shared.identity)[20:40]
    assert secret not in mia.refusal(LOCKED, "get", "u.token", "--identity", "torn", *pinned)


def test_one_of_several_identities_is_enough(shared: Shared) -> None:
    new_identity(shared.mia.folder / "another")
    both = (shared.mia.folder / "another").read_bytes() + shared.identity.read_bytes()
    shared.identity.write_bytes(both)
    assert shared.mia.output(*GET, "--vault-fingerprint", shared.fingerprint) == b"tok"


# What others read and write


def test_the_independent_reader_opens_the_wrapped_key(shared: Shared) -> None:
    pin = bytes.fromhex(shared.fingerprint.replace("-", ""))
    vault = open_vault(shared.owner.vault, None, identity=secret_line(shared.identity), fingerprint=pin)
    assert {name: entry.value for name, entry in vault.entries.items()} == {"u.token": b"tok"}
    assert vault.keys.fingerprint(vault.header.vault_id) == pin


def test_age_itself_reads_the_stanzas_of_a_slot(shared: Shared) -> None:
    """They stand in the vault as in the header of an age file: here in one, around the same file key."""
    parameters = SlotTable(shared.owner.vault).parameters.rstrip(b"\0")
    file_key = unwrapped_file_key(read_stanzas(parameters), read_identity(secret_line(shared.identity)))
    assert file_key is not None
    header = b"age-encryption.org/v1\n" + parameters + b"---"
    mac = hmac.digest(hkdf_sha256(file_key, salt=b"", info=b"header"), header, hashlib.sha256)
    nonce, chunk = secrets.token_bytes(16), bytes(11) + b"\x01"
    key = hkdf_sha256(file_key, salt=nonce, info=b"payload")
    payload = nacl.bindings.crypto_aead_chacha20poly1305_ietf_encrypt(b"read by age", None, chunk, key)
    file = header + b" " + base64.b64encode(mac).rstrip(b"=") + b"\n" + nonce + payload
    opened = subprocess.run(["age", "-d", "-i", shared.identity], input=file, capture_output=True)
    assert opened.stdout == b"read by age", opened


# A vault that someone else has made for the same recipient


def made_by_a_stranger(shared: Shared, folder: Path) -> Path:
    """All it takes is the public key."""
    stranger = Home(shared.owner.binary, folder)
    stranger.set("u.token", b"evil")
    stranger.output("key", "add", "--recipient", shared.public)
    return stranger.vault


def made_with_the_same_id(shared: Shared, folder: Path) -> Path:
    """The id is no secret either: it is in the header."""
    secret = read_identity(secret_line(shared.identity))
    vault, file_key = VaultBuilder(secrets.token_hex(16)), secrets.token_bytes(16)
    vault.vault_id = shared.owner.vault.read_bytes()[16:32]
    stanzas = x25519_stanza(file_key, recipient_of(secret), secrets.token_bytes(32))
    vault.slots = [recipient_slot(file_key, stanzas, secrets.token_bytes(16), secrets.token_bytes(24))]
    vault.recipients[0] = shared.public
    vault.begin([Entry("u.token", Value(b"evil"))])
    folder.mkdir()
    return private_file(folder / "forged.vault", bytes(vault.data))


@pytest.mark.parametrize("make", [made_by_a_stranger, made_with_the_same_id], ids=["another id", "the same id"])
@pytest.mark.parametrize("knows", ["nothing", "the memory", "the option", "the comment"])
def test_a_vault_that_a_stranger_made_for_the_recipient_is_refused(
    shared: Shared, tmp_path: Path, make, knows: str
) -> None:
    mia, options = shared.mia, ()
    genuine = shared.fingerprint
    if knows == "the memory":
        mia.output(*GET, "--vault-fingerprint", genuine)
    elif knows == "the option":
        options = ("--vault-fingerprint", genuine)
    elif knows == "the comment":
        shared.identity.write_text(f"# vault: {genuine}\n{shared.identity.read_text()}")
    shared.deliver(make(shared, tmp_path / "stranger"))
    before = mia.vault.read_bytes()
    for words in (("get", "u.token"), ("ls",), ("set", "u.token"), ("verify",), ("key", "ls"), ("info",)):
        finished = mia.run(*words, "--identity", "identity", *options, stdin=b"a secret")
        assert finished.returncode in (LOCKED, ALARM) and finished.stdout == b"", (words, finished)
        assert genuine not in finished.stderr.decode()
    assert mia.vault.read_bytes() == before, "no secret is given to the stranger"


def test_the_fingerprint_that_a_stranger_shows_is_another(shared: Shared, tmp_path: Path) -> None:
    """With a fresh memory nothing is known: the person compares what is shown, and it differs."""
    shared.deliver(made_with_the_same_id(shared, tmp_path / "stranger"))
    sentence = shared.mia.refusal(LOCKED, *GET)
    assert "Compare it" in sentence and shared.fingerprint not in sentence


def test_a_rotation_is_told_from_a_strangers_vault_by_its_new_fingerprint(shared: Shared) -> None:
    mia, former = shared.mia, shared.fingerprint
    assert mia.output(*GET, "--vault-fingerprint", former) == b"tok"
    told = shared.owner.output("key", "rotate").decode()
    assert shared.fingerprint in told and shared.fingerprint != former
    shared.deliver(shared.owner.vault)
    assert "rotated" in mia.refusal(LOCKED, *GET)
    assert mia.output(*GET, "--vault-fingerprint", shared.fingerprint) == b"tok"
    assert mia.output(*GET) == b"tok"


def test_a_copy_from_after_a_rotation_is_merged_once_its_fingerprint_is_written_down(shared: Shared) -> None:
    """The one that is named on the command line is the vault's own: both have to be known."""
    mia, former = shared.mia, shared.fingerprint
    assert mia.output(*GET, "--vault-fingerprint", former) == b"tok"
    mia.output("set", "hers", "--identity", "identity", stdin=b"1")
    shared.owner.output("key", "rotate")
    shared.owner.set("later", b"2")
    copy = mia.vault.with_name("default.sync-conflict-20260101-120000-ABCDEFG.vault")
    shutil.copy(shared.owner.vault, copy)
    merge = ("merge", "--identity", "identity")
    for options in ((), ("--vault-fingerprint", former)):
        sentence = mia.refusal(LOCKED, *merge, *options)
        assert str(copy) in sentence and "Ask its owner" in sentence
        assert f"add this line to your identity file {shared.identity}, and" in sentence or (
            "add this line to your identity file identity, and" in sentence)
    line = sentence.rstrip().split(": ", 1)[1].rsplit("again: ", 1)[1]
    assert line == f"# vault: {shared.fingerprint}"
    with shared.identity.open("a") as file:
        file.write(line + "\n")
    # Now it is the members' turn: what was written here may be from somebody who was shut out.
    assert "records that someone lost access" in mia.refusal(ALARM, *merge)
    mia.output(*merge, "--from-former-key", "hers")
    assert mia.output("ls", "--identity", "identity") == b"hers\nlater\nu.token\n"
    assert mia.output(*GET) == b"tok"


# Plugins


def plugin_recipient(mode: str = "") -> str:
    return bech32("age1vaulttest" + (f"-{mode}" if mode else ""), bytes(range(32)))


def plugin_identity(home: Home, mode: str = "") -> None:
    prefix = "age-plugin-vaulttest-" + (f"{mode}-" if mode else "")
    private_file(home.folder / "identity", bech32(prefix, bytes(range(8))).upper().encode() + b"\n")


def with_plugin(home: Home, mode: str = "") -> Home:
    folder = home.folder.parent / "plugins"
    folder.mkdir(exist_ok=True)
    (folder / ("age-plugin-vaulttest" + (f"-{mode}" if mode else ""))).symlink_to(PLUGIN)
    return home.with_variables(PATH=f"{folder}:{os.environ['PATH']}")


def test_a_plugin_opens_the_vault_for_its_device(home: Home) -> None:
    home.set("u.token", b"tok")
    plugged = with_plugin(home)
    plugged.output("key", "add", "--recipient", plugin_recipient(), "--label", "the key ring")
    plugin_identity(home)
    home.key.unlink()
    assert plugged.output(*GET) == b"tok"
    sentence = home.refusal(LOCKED, *GET)
    assert "age-plugin-vaulttest" in sentence, "what has to be installed"


def test_a_plugin_that_is_not_there_cannot_be_a_recipient(home: Home) -> None:
    home.set("u.token", b"tok")
    assert "age-plugin-vaulttest" in home.refusal(2, "key", "add", "--recipient", plugin_recipient())
    assert len(keys(home)) == 1


def test_what_a_plugin_asks_is_answered_at_the_terminal(home: Home) -> None:
    """A device wants to be touched, and its PIN, which is not shown."""
    home.set("u.token", b"tok")
    plugged = with_plugin(home, "talks")

    def talk(*words: str, **streams) -> bytes:
        with Terminal(plugged, *words, **streams) as terminal:
            terminal.expect("touch the key")
            terminal.answer("sure?", "y\n")
            terminal.answer("really?", "y\n")
            terminal.answer("name?", "Ada\n")
            terminal.answer("PIN?", "4321-secret\n")
            code, _ = terminal.end()
            assert code == 0 and b"4321-secret" not in terminal.everything, terminal.everything
            assert b"\x1b[2J" not in terminal.everything, "a plugin does not command the terminal"
            return terminal.process.stdout.read() if terminal.process.stdout else b""

    talk("key", "add", "--recipient", plugin_recipient("talks"))
    plugin_identity(home, "talks")
    home.key.unlink()
    assert talk(*GET, stdout=subprocess.PIPE) == b"tok"


def test_a_plugin_writes_no_line_that_passes_for_anothers(home: Home) -> None:
    home.set("u.token", b"tok")
    plugged = with_plugin(home, "says-lines")
    with Terminal(plugged, "key", "add", "--recipient", plugin_recipient("says-lines")) as terminal:
        code, _ = terminal.end()
    lines = terminal.everything.decode().splitlines()
    said = r'age-plugin-vaulttest-says-lines says "touch it\nvault: Wrong passphrase.\n\""'
    assert code == 0 and said in lines and not any(line.startswith("vault: Wrong") for line in lines)


def test_who_waits_for_a_plugin_is_told_once_what_for(home: Home) -> None:
    """At a terminal only: a script has nobody who could touch the device."""
    home.set("u.token", b"tok")
    plugged = with_plugin(home, "sleeps-long")
    words = ("key", "add", "--recipient", plugin_recipient("sleeps-long"))
    with Terminal(plugged, *words) as terminal:
        started = time.monotonic()
        terminal.expect("Waiting for age-plugin-vaulttest-sleeps-long. Touch the device, or press Ctrl-C.")
        assert 4.5 < time.monotonic() - started < 20
        assert terminal.end()[0] == 0 and terminal.everything.count(b"Waiting for") == 1
    finished = plugged.run(*words)
    assert finished.returncode == 4 and b"Waiting for" not in finished.stderr


@pytest.mark.parametrize("mode", ["dies", "garbage", "fails", "silent", "deaf"])
def test_a_plugin_that_fails_adds_no_key_and_says_which(home: Home, mode: str) -> None:
    home.set("u.token", b"tok")
    finished = with_plugin(home, mode).run("key", "add", "--recipient", plugin_recipient(mode))
    # What the plugin itself writes comes before.
    sentence = finished.stderr.decode().splitlines()[-1]
    assert finished.returncode == 2 and sentence.startswith("vault: ")
    assert f"vaulttest-{mode}" in sentence and "\x1b" not in sentence
    assert len(keys(home)) == 1
