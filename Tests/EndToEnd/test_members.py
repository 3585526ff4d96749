"""Members sign what they write, each with a device of its own."""

import json
import shutil
from pathlib import Path

import pytest

from homes import Home, device, mode
from key_slots import new_identity
from terminals import Terminal

pytestmark = pytest.mark.both_places


def person(home: Home, folder: Path) -> Home:
    """Somebody else with the same vault and key file, on a machine of its own."""
    other = Home(home.binary, folder, home.variables | {"VAULT_FILE": str(home.vault), "VAULT_KEY_FILE": str(home.key)})
    other.folder.mkdir(exist_ok=True)
    return other


@pytest.fixture
def mia(home: Home) -> Home:
    home.set("a", b"before")
    home.output("member", "add", "mia")
    return home


@pytest.fixture
def tom(mia: Home, tmp_path: Path) -> Home:
    tom = person(mia, tmp_path / "tom")
    mia.output("member", "add", "tom", "--device", device(tom))
    return tom


def changes(home: Home, *options: str) -> list[tuple[str, str | None, bool]]:
    found = json.loads(home.output("log", "--changes", "--json", *options))["changes"]
    return [(change["name"], change["author"], change["removed"]) for change in found]


def test_the_log_says_who_has_made_each_change(mia: Home, tom: Home) -> None:
    mia.set("a", b"1")
    tom.set("a", b"2")
    tom.output("rm", "a")
    mia.set("b", b"3")
    assert changes(mia) == [
        ("a", None, False), ("a", "mia", False), ("a", "tom", False), ("a", "tom", True), ("b", "mia", False)]
    assert changes(mia, "--last", "1") == [("b", "mia", False)]
    assert len(json.loads(tom.output("log", "--changes", "a", "--json"))["changes"]) == 4
    versions = json.loads(mia.output("history", "a", "--json"))["versions"]
    assert [version["author"] for version in versions] == ["tom", "mia", None]
    assert b"  tom\n" in mia.output("history", "a")
    lines = mia.output("log", "--changes").decode().splitlines()
    assert "  mia after " in lines[1] and lines[3].endswith("  a (removed)")
    assert b"intact" in mia.output("verify")


def test_whoever_is_no_member_can_read_and_change_nothing(mia: Home, tmp_path: Path) -> None:
    ann = person(mia, tmp_path / "ann")
    assert ann.get("a") == b"before"
    for command in (["set", "a"], ["rm", "a"], ["key", "add", "--file", "new.key"], ["history", "--keep", "1,1"],
                    ["member", "rm", "mia"]):
        sentence = ann.refusal(5, *command, stdin=b"x")
        assert "none of theirs" in sentence and device(ann) in sentence
    assert not (ann.folder / "new.key").exists()
    mia.output("member", "add", "ann", "--device", device(ann))
    ann.set("a", b"of ann")
    assert mia.get("a") == b"of ann"


def test_a_device_key_is_made_once_and_stays_with_its_owner(home: Home) -> None:
    first = device(home)
    path = home.folder / ".config/vault/device.key"
    assert first.startswith("vault-device-1-") and device(home) == first
    assert mode(path) == 0o600
    path.chmod(0o644)
    assert str(path) in home.refusal(5, "member", "device")
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-5])
    assert str(path) in home.refusal(5, "member", "device")
    path.unlink()
    assert device(home) != first


def test_mistakes_are_told(mia: Home, tom: Home) -> None:
    assert "mistyped" in mia.refusal(2, "member", "add", "x", "--device", device(tom)[:-1])
    assert "already" in mia.refusal(2, "member", "add", "x", "--device", device(tom))
    assert "no member" in mia.refusal(2, "member", "rm", "x")
    mia.output("member", "rm", "tom")
    assert "last member" in mia.refusal(2, "member", "rm", "mia")


def test_the_first_member_is_whoever_adds_it(home: Home, tmp_path: Path) -> None:
    home.output("init")
    assert b"no members" in home.output("member", "ls")
    assert json.loads(home.output("member", "ls", "--json")) == {"members": []}
    other = person(home, tmp_path / "other")
    assert "first member" in home.refusal(2, "member", "add", "x", "--device", device(other))
    assert json.loads(home.output("verify", "--json"))["unsigned"] == []


def test_a_member_opens_the_vault_by_an_age_identity_until_it_is_removed(mia: Home, tmp_path: Path) -> None:
    tom = Home(mia.binary, tmp_path / "tom", {"VAULT_FILE": str(mia.vault)})
    identity = tom.folder / "identity"
    recipient = new_identity(identity)
    told = mia.output("member", "add", "tom", "--device", device(tom), "--recipient", recipient).decode()
    fingerprint = told.strip().splitlines()[-1].split(": ")[1]
    options = ["--identity", str(identity)]
    tom.output(*options, "set", "a", "--vault-fingerprint", fingerprint, stdin=b"of tom\n")
    listed = json.loads(mia.output("member", "ls", "--json"))["members"]
    assert [(member["name"], member["added_by"], member["recipients"]) for member in listed] == [
        ("mia", "mia", []), ("tom", "mia", [recipient])]
    assert len(json.loads(mia.output("key", "ls", "--json"))["keys"]) == 2
    finished = mia.run("member", "rm", "tom")
    assert finished.returncode == 0 and b"has to be rotated" in finished.stderr + finished.stdout
    tom.refusal(5, *options, "get", "a")
    assert len(json.loads(mia.output("key", "ls", "--json"))["keys"]) == 1
    assert changes(mia)[-1] == ("a", "tom", False)


def test_a_removal_offers_the_rotation(mia: Home, tom: Home) -> None:
    before = mia.output("key", "ls")
    assert json.loads(mia.output("member", "rm", "tom", "--rotate", "--json")) == {"name": "tom", "rotated": True}
    assert mia.output("key", "ls").splitlines()[-1] != before.splitlines()[-1], "the fingerprint has changed"
    mia.output("member", "add", "tom", "--device", device(tom))
    with Terminal(mia, "member", "rm", "tom") as terminal:
        terminal.answer("Rotate it now? [y/N] ", "y\n")
        assert terminal.end()[0] == 0
    mia.set("a", b"1")
    assert b"intact" in mia.output("verify")


@pytest.mark.in_a_file
def test_a_merge_keeps_who_has_made_what(mia: Home, tom: Home, tmp_path: Path) -> None:
    copy = tmp_path / "copy.vault"
    shutil.copy(mia.vault, copy)
    apart = tom.with_variables(VAULT_FILE=str(copy))
    apart.set("b", b"of tom")
    mia.set("c", b"of mia")
    mia.output("merge", str(copy))
    assert changes(mia)[1:] == [("b", "tom", False), ("c", "mia", False)]
    assert json.loads(mia.output("verify", "--json"))["foreign"] == []
