"""Members sign what they write, each with a device of its own."""

import json
import shutil
from pathlib import Path

import pytest

from homes import Home, device, mode
from key_slots import fingerprint, keys, new_identity
from terminals import Terminal

pytestmark = pytest.mark.both_paths


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


def members(home: Home) -> list[dict]:
    return json.loads(home.output("member", "ls", "--json"))["members"]


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
    assert b'  "tom"\n' in mia.output("history", "a")
    lines = mia.output("log", "--changes").decode().splitlines()
    assert lines[0].endswith("  unsigned  a") and '  "mia" after ' in lines[1] and lines[3].endswith("  a (removed)")
    assert b"intact" in mia.output("verify")


def test_whoever_is_no_member_can_read_and_change_nothing(mia: Home, tmp_path: Path) -> None:
    ann = person(mia, tmp_path / "ann")
    assert ann.get("a") == b"before"
    for command in (["set", "a"], ["rm", "a"], ["key", "add", "--file", "new.key"], ["history", "--keep", "1,1"],
                    ["member", "rm", "mia"]):
        sentence = ann.refusal(5, *command, stdin=b"x")
        assert "does not belong to any member" in sentence and device(ann) in sentence
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
    told = mia.refusal(2, "member", "rm", "mia")
    assert "last member" in told and "use --force" in told
    assert "such device" in mia.refusal(2, "member", "rm", "mia", "--device", device(tom))
    assert "mistyped" in mia.refusal(2, "member", "rm", "mia", "--device", device(tom)[:-1])
    for options in (["--drop", "1", "--keep", "1"], ["--replace", "1=a.key", "--file", "1=b.key"]):
        assert "each key" in mia.refusal(2, "member", "rm", "mia", *options)
    assert "number and a key file" in mia.refusal(2, "member", "rm", "mia", "--replace", "new.key")


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
    found = [(member["name"], member["added_by"], member["devices"][0]["recipient"]) for member in listed]
    assert found == [("mia", "mia", None), ("tom", "mia", recipient)]
    assert len(json.loads(mia.output("key", "ls", "--json"))["keys"]) == 2
    told = mia.output("member", "rm", "tom").decode()
    assert "1  key file" in told and '"tom" may still have the data key, and may also have these keys: 1.\n' in told
    assert told.splitlines()[-1].startswith("The data key was not rotated. Before the next secret is stored, run `vault key rotate --replace 1=PATH`. You can")
    told = tom.refusal(5, *options, "get", "a")
    assert "Your identity" in told and "does not open" in told and "key file" not in told
    assert len(json.loads(mia.output("key", "ls", "--json"))["keys"]) == 1
    assert changes(mia)[-1] == ("a", "tom", False)


def test_who_removes_their_own_device_is_told_that_another_member_has_to_rotate(mia: Home, tom: Home) -> None:
    told = tom.output("member", "rm", "tom").decode()
    assert "another member must run `vault key rotate --replace 1=PATH`. You can" in told and "(--drop NUMBER)" in told
    assert "does not belong to any member" in tom.refusal(5, "key", "rotate")
    mia.output("key", "rotate")
    # Without members, anyone can rotate it.
    told = mia.output("member", "rm", "mia", "--force").decode()
    assert "is stored, run `vault key rotate --replace 1=PATH`" in told
    mia.output("key", "rotate")


def test_a_removal_says_which_keys_the_member_may_have(mia: Home, tom: Home) -> None:
    """They share a key file: without another one, Tom would open the vault after his removal."""
    before = fingerprint(mia)
    told = mia.refusal(4, "member", "rm", "tom", "--rotate")
    assert '"tom" may also have these keys' in told and "1  key file" in told and "nothing was changed" in told
    assert fingerprint(mia) == before
    assert len(json.loads(mia.output("member", "ls", "--json"))["members"]) == 2
    told = mia.output("member", "rm", "tom", "--replace", "1=new.key").decode()
    assert 'Removed "tom". Everything is now sealed under a new data key.\nThese keys open the vault now:' in told
    assert f"open the vault with --key-file '{mia.folder}/new.key', or set VAULT_KEY_FILE." in told
    mia = mia.with_variables(VAULT_KEY_FILE=str(mia.folder / "new.key"))
    mia.set("new/secret", b"after")
    tom.refusal(5, "get", "new/secret")
    assert mia.get("new/secret") == b"after" and b"intact" in mia.output("verify")


def test_a_key_that_the_member_never_had_stays(mia: Home, tom: Home) -> None:
    mia.output("key", "add", "--file", "second.key", "--label", "spare")
    before = fingerprint(mia)
    told = mia.refusal(4, "member", "rm", "tom", "--keep", "1")
    assert "2  key file \"spare\"" in told and "1  key file" not in told
    # The key file of the other one is missing: that is known before the first change.
    assert "--file 2=PATH" in mia.refusal(5, "member", "rm", "tom", "--keep", "1", "--keep", "2")
    assert fingerprint(mia) == before and len(json.loads(mia.output("member", "ls", "--json"))["members"]) == 2
    shown = json.loads(mia.output("member", "rm", "tom", "--keep", "1", "--file", "2=second.key", "--json"))
    assert shown["name"] == "tom" and shown["rotated"] and [key["number"] for key in shown["keys"]] == [1, 2]
    assert fingerprint(mia) != before
    mia.output("member", "add", "tom", "--device", device(tom))
    mia.output("member", "rm", "tom", "--keep", "1", "--drop", "2")
    assert [key["number"] for key in keys(mia)] == [1]


def test_a_removal_offers_the_rotation(mia: Home, tom: Home) -> None:
    before = fingerprint(mia)
    with Terminal(mia, "member", "rm", "tom") as terminal:
        terminal.answer("Rotate the data key? [y/N] ", "\x04")
        code, shown = terminal.end()
        assert code == 4 and b"Cancelled; nothing was changed." in shown
    assert [member["name"] for member in json.loads(mia.output("member", "ls", "--json"))["members"]] == ["mia", "tom"]
    with Terminal(mia, "member", "rm", "tom") as terminal:
        terminal.answer("Rotate the data key? [y/N] ", "n\n")
        code, shown = terminal.end()
        assert code == 0 and b"have these keys: 1.\nThe data key was not rotated. Before" in shown and b"* 1  key file" in shown
    assert fingerprint(mia) == before
    mia.output("member", "add", "tom", "--device", device(tom))
    with Terminal(mia, "member", "rm", "tom") as terminal:
        terminal.answer("Rotate the data key? [y/N] ", "y\n")
        terminal.answer("never had it): ", "new.key\n")
        assert terminal.end()[0] == 0
    assert fingerprint(mia, "--key-file", "new.key") != before
    tom.refusal(5, "get", "a")
    mia = mia.with_variables(VAULT_KEY_FILE=str(mia.folder / "new.key"))
    mia.set("a", b"1")
    assert b"intact" in mia.output("verify")


def test_one_device_of_a_member_is_removed(mia: Home, tmp_path: Path) -> None:
    """A laptop is lost, with the identity that is on it."""
    laptop, desk = (Home(mia.binary, tmp_path / name, {"VAULT_FILE": str(mia.vault)}) for name in ("laptop", "desk"))
    own = ["--identity", "identity"]
    recipients = [new_identity(home.folder / "identity") for home in (laptop, desk)]
    mia.output("member", "add", "tom", "--device", device(laptop), "--recipient", recipients[0])
    laptop.set("a", b"of the laptop", *own, "--vault-fingerprint", fingerprint(mia))
    laptop.output(*own, "member", "add", "tom", "--device", device(desk), "--recipient", recipients[1])
    desk.output(*own, "ls", "--vault-fingerprint", fingerprint(mia))
    listed = [line for line in mia.output("member", "ls").decode().splitlines() if line.startswith('"tom", since 2')]
    assert len(listed) == 2 and device(laptop) in listed[0] and device(desk) in listed[1]
    removal = [*own, "member", "rm", "tom", "--device", device(laptop)]
    # What it needs is known before the first change.
    assert "--file 1=PATH" in desk.refusal(5, *removal, "--keep", "1")
    assert len(keys(mia)) == 3
    told = desk.output(*removal, "--file", f"1={mia.key}").decode()
    assert 'Removed one device of "tom".' in told and "new fingerprint" in told
    assert [key["recipient"] for key in keys(mia)] == [None, recipients[1]]
    told = laptop.refusal(5, *own, "get", "a")
    assert "Your identity" in told and "does not open" in told and "key file" not in told
    desk.set("a", b"of the desk", *own)
    assert mia.get("a") == b"of the desk"
    assert [member["name"] for member in json.loads(mia.output("member", "ls", "--json"))["members"]] == ["mia", "tom"]


def test_the_last_member_is_removed_if_that_is_meant(mia: Home, tmp_path: Path) -> None:
    mia.set("a", b"signed")
    assert "last member" in mia.refusal(2, "member", "rm", "mia", "--keep", "1")
    assert json.loads(mia.output("verify", "--json"))["unsigned_since"] is None
    mia.output("member", "rm", "mia", "--force", "--keep", "1")
    assert b"no members" in mia.output("member", "ls")
    since = json.loads(mia.output("verify", "--json"))["unsigned_since"]
    assert f"No members since {since}" in mia.output("verify").decode()
    other = person(mia, tmp_path / "other")
    other.set("a", b"unsigned")
    assert mia.output("log", "--changes").decode().splitlines()[-1].endswith("Z  unsigned  a")
    assert [author for _, author, _ in changes(mia)][-2:] == ["mia", None]


@pytest.mark.parametrize("name", ["nobody", "unsigned", "mia (not a member at that time)", 'mia", since 2020', "mia, tom", 'mia" after 9'])
def test_a_name_cannot_look_like_what_stands_beside_names(mia: Home, tmp_path: Path, name: str) -> None:
    """A member's, a key's label, and an entry's."""
    mia.output("key", "add", "--file", "second.key", "--label", name)
    other = person(mia, tmp_path / "other")
    mia.output("member", "add", name, "--device", device(other))
    other.set(f'"{name}', b"1")
    shown = json.dumps(name)
    [listed] = [line for line in mia.output("member", "ls").decode().splitlines() if device(other) in line]
    assert listed.startswith(f"{shown}, since 2")
    assert f"key file {shown}, since 2" in mia.output("key", "ls").decode()
    before, change = mia.output("log", "--changes").decode().splitlines()[-2:]
    assert f"Z  {shown} after " in change and change.endswith(f'  "{name}')
    [last] = json.loads(mia.output("log", "--changes", "--last", "1", "--json"))["changes"]
    assert (last["author"], last["author_was_member"]) == (name, True)


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


@pytest.mark.in_a_file
def test_a_merge_names_whom_it_removes(mia: Home, tom: Home, tmp_path: Path) -> None:
    """Also if it takes over nothing else, and something is left out."""
    copy = tmp_path / "copy.vault"
    shutil.copy(mia.vault, copy)
    mia.output("member", "rm", "tom")
    apart = tom.with_variables(VAULT_FILE=str(copy))
    told = apart.output("merge", str(mia.vault)).decode()
    assert 'No longer members: "tom". They can still open the vault with any key that they have' in told
    report = json.loads(apart.output("merge", str(mia.vault), "--json"))
    assert report["removed_members"] == [] and [each["name"] for each in members(apart)] == ["mia"]


# Names that people tell apart


LOOKALIKES = [" tom", "tom ", "to\u200bm", "\u202etom", "tom\u200d", "t\u00adom", "tom\u00a0b", "tom\u2003b", "Tom", "TOM"]


@pytest.mark.parametrize("name", LOOKALIKES, ids=ascii)
def test_a_name_that_looks_like_another_members_is_refused(
    mia: Home, tom: Home, tmp_path: Path, name: str
) -> None:
    other = person(mia, tmp_path / "other")
    sentence = mia.refusal(2, "member", "add", name, "--device", device(other))
    # "tom" in capitals can be seen.
    assert ("looks like another" if name.isalpha() else "could be mistaken for another") in sentence
    assert [member["name"] for member in members(mia)] == ["mia", "tom"]
    # Another device of his own, under the same name.
    tom.output("member", "add", "tom", "--device", device(other))
    assert len(members(mia)[1]["devices"]) == 2


@pytest.mark.parametrize("names", [("Zo\u00eb", "Zoe\u0308"), ("Zoe\u0308", "Zo\u00eb")], ids=ascii)
def test_equal_characters_of_other_scalars_are_no_other_member(home: Home, tmp_path: Path, names: tuple[str, str]) -> None:
    home.output("init")
    home.output("member", "add", names[0])
    other = person(home, tmp_path / "other")
    assert "looks like another" in home.refusal(2, "member", "add", names[1], "--device", device(other))
    home.output("member", "add", names[0], "--device", device(other))


@pytest.mark.parametrize("name", ["mia b", "Zo\u00eb", "\u674e\u96f7", "mia-2"], ids=ascii)
def test_other_names_are_taken(home: Home, tmp_path: Path, name: str) -> None:
    home.output("init")
    home.output("member", "add", "mia")
    home.output("member", "add", name, "--device", device(person(home, tmp_path / "other")))
    assert [member["name"] for member in members(home)] == ["mia", name]


def test_two_members_have_no_identity_in_common(mia: Home, tmp_path: Path) -> None:
    """The removal of one would leave the other's key, or take it away."""
    recipient = new_identity(tmp_path / "identity")
    tom, ann = (person(mia, tmp_path / name) for name in ("tom", "ann"))
    mia.output("member", "add", "tom", "--device", device(tom), "--recipient", recipient)
    failed = mia.refusal(2, "member", "add", "ann", "--device", device(ann), "--recipient", recipient)
    assert "belongs to another member" in failed and len(members(mia)) == 2
    # Another device of his may open the vault by the same identity.
    tom.output("member", "add", "tom", "--device", device(ann), "--recipient", recipient)


@pytest.mark.parametrize("label", [" usb", "usb ", "us\u200bb"], ids=ascii)
def test_a_label_that_looks_like_another_is_refused(home: Home, label: str) -> None:
    home.output("init", "--label", "usb")
    assert "label" in home.refusal(2, "key", "add", "--file", "new.key", "--label", label)
    assert len(keys(home)) == 1 and not (home.folder / "new.key").exists()


# Whom a member has brought in


def test_a_removal_names_whom_the_member_has_added_before_it_is_done(mia: Home, tom: Home, tmp_path: Path) -> None:
    bob, eve, ann, zoe = (person(mia, tmp_path / name) for name in ("bob", "eve", "ann", "zoe"))
    tom.output("member", "add", "bob", "--device", device(bob))
    tom.output("member", "add", "eve", "--device", device(eve))
    eve.output("member", "add", "ann", "--device", device(ann))
    mia.output("member", "add", "zoe", "--device", device(zoe))
    told = 'vault: "tom" added "bob", "eve"; "eve" added "ann". They remain members.'
    # Also where it is refused: nothing was changed yet.
    assert told in mia.run("member", "rm", "tom", "--rotate").stderr.decode()
    finished = mia.run("member", "rm", "tom", "--keep", "1")
    assert finished.returncode == 0 and told in finished.stderr.decode() and b"bob" not in finished.stdout
    mia.output("member", "add", "tom", "--device", device(tom))
    finished = mia.run("member", "rm", "eve", "--keep", "1", "--json")
    assert json.loads(finished.stdout)["added"] == ["ann"] and finished.stderr == b""
    finished = mia.run("member", "rm", "zoe", "--keep", "1")
    assert (finished.returncode, finished.stderr) == (0, b"")
    with Terminal(mia, "member", "rm", "tom") as terminal:
        terminal.answer("Rotate the data key? [y/N] ", "n\n")
        assert terminal.end()[0] == 0
    assert json.loads(mia.output("member", "rm", "bob", "--keep", "1", "--json"))["added"] == []
