"""`vault drop` and `vault collect`: values for a vault that one cannot open, looked at before they are stored."""

import json
import subprocess
import time
from pathlib import Path

import pytest

import interop  # noqa: F401
from homes import Home, mode
from json_shapes import is_documented
from key_slots import new_identity
from reading.cursor import Cursor
from reading.entries import read_attributes
from reading.vault import open_image
from terminals import Terminal
from writing.age import identity_text, recipient_text
from writing.entries import encoded_attributes
from writing.primitives import counted, varint

pytestmark = pytest.mark.both_paths_in_full

USAGE, REFUSED, LOCKED, DAMAGED, IO = 2, 4, 5, 6, 8
CANARY = b"canary-41aa"
MAGIC = b"vltdrop1"
QUESTION = "[y/N] "


@pytest.fixture
def owner(home: Home) -> Home:
    """Who has the vault; files that are sent arrive in the home folder."""
    home.set("u.token", b"tok")
    return home


@pytest.fixture
def sender(binary: str, tmp_path: Path) -> Home:
    """Who has neither a vault nor a key."""
    return Home(binary, tmp_path / "sender")


def drop_box(owner: Home) -> str:
    return json.loads(owner.output("info", "--json"))["drop_box"]


def send(sender: Home, owner: Home, name: str, value: bytes = CANARY, *options: str) -> str:
    """Drops a value for the owner, and returns the file's name."""
    file = f"{name}.drop"
    words = ("drop", "--to", drop_box(owner), name, "--output", str(owner.folder / file))
    assert CANARY not in sender.output(*words, *options, stdin=value)
    return file


def attributes(home: Home, name: str) -> dict[str, str]:
    (item,) = json.loads(home.output("ls", name, "--json"))["items"]
    return item["attributes"]


# Dropping


def test_a_value_from_a_pipe_is_dropped_without_a_vault_and_collected_by_its_owner(owner: Home, sender: Home) -> None:
    file = send(sender, owner, "deploy", CANARY + b"\n")
    assert sender.files() == [], "no vault and no key file is created"
    content = (owner.folder / file).read_bytes()
    assert mode(owner.folder / file) == 0o600 and CANARY not in content and b"deploy" not in content
    assert owner.output("collect", "--force", file) == b""
    assert owner.values() == {"deploy": CANARY, "u.token": b"tok"}
    assert (owner.folder / file).read_bytes() == content, "the file stays"


def test_without_output_the_drop_goes_into_a_pipe_and_never_to_a_terminal(owner: Home, sender: Home) -> None:
    words = ("drop", "--to", drop_box(owner), "deploy")
    (owner.folder / "piped").write_bytes(sender.output(*words, stdin=CANARY))
    owner.output("collect", "--force", "piped")
    assert owner.get("deploy") == CANARY
    with Terminal(sender, *words) as terminal:
        code, shown = terminal.end()
    assert code == USAGE and b"--output" in shown and b"age-encryption" not in shown


def test_at_a_terminal_the_value_is_asked_for_twice_and_not_shown(owner: Home, sender: Home) -> None:
    file = owner.folder / "typed.drop"
    with Terminal(sender, "drop", "--to", drop_box(owner), "typed", "-o", str(file)) as terminal:
        terminal.answer("Value of typed (not shown): ", CANARY.decode() + "\n")
        terminal.answer("Repeat the value: ", CANARY.decode() + "\n")
        assert terminal.end()[0] == 0 and CANARY not in terminal.everything
    owner.output("collect", "--force", "typed.drop")
    assert owner.get("typed") == CANARY


def test_attributes_are_carried_over(owner: Home, sender: Home) -> None:
    owner.output("collect", "--force", send(sender, owner, "deploy", CANARY, "-a", "url=a/b?c=d", "-a", "Zoë=🔑"))
    assert attributes(owner, "deploy") == {"url": "a/b?c=d", "Zoë": "🔑"}


def test_a_drop_needs_its_recipient(sender: Home) -> None:
    assert "--to" in sender.refusal(USAGE, "drop", "deploy", "-o", "x.drop", stdin=CANARY)
    assert sender.files() == []


@pytest.mark.parametrize("text", ["", "mia", "age1", "age1nothing", "ssh-ed25519 AAAA"])
def test_what_is_no_recipient_gets_no_drop(sender: Home, text: str) -> None:
    sentence = sender.refusal(USAGE, "drop", f"--to={text}", "deploy", "-o", "x.drop", stdin=CANARY)
    assert CANARY.decode() not in sentence and sender.files() == []


@pytest.mark.parametrize(
    "words", [("",), ("a\nb",), ("n", "-a", "novalue"), ("n", "-a", "=x"), ("n", CANARY.decode())], ids=str
)
def test_what_no_entry_can_be_is_not_sealed(owner: Home, sender: Home, words: tuple[str, ...]) -> None:
    sentence = sender.refusal(USAGE, "drop", "--to", drop_box(owner), "-o", "x.drop", *words, stdin=b"x")
    assert CANARY.decode() not in sentence and sender.files() == []


def test_an_empty_value_is_not_sealed(owner: Home, sender: Home) -> None:
    sentence = sender.refusal(USAGE, "drop", "--to", drop_box(owner), "-o", "x.drop", "deploy", stdin=b"")
    assert "nothing was sealed" in sentence and sender.files() == []


@pytest.mark.parametrize("make", ["file", "folder", "link"])
def test_what_is_there_is_left_alone(owner: Home, sender: Home, make: str) -> None:
    there, target = sender.folder / "there", sender.folder / "x.drop"
    there.write_bytes(b"what is there")
    if make == "folder":
        target.mkdir()
    elif make == "link":
        target.symlink_to(there)
    else:
        there = there.rename(target)
    words = ("drop", "--to", drop_box(owner), "deploy", "-o", "x.drop")
    assert "already exists" in sender.refusal(REFUSED, *words, stdin=CANARY)
    assert there.read_bytes() == b"what is there"


def test_the_reports(owner: Home, sender: Home) -> None:
    words = ("drop", "--to", drop_box(owner), "deploy", "-o", "x.drop", "--json")
    assert json.loads(sender.output(*words, stdin=CANARY)) == {"name": "deploy", "file": "x.drop"}
    files = [send(sender, owner, name) for name in ("one", "two")]
    report = json.loads(owner.output("collect", "--force", "--json", *files))
    assert report == {"names": ["one", "two"]} and is_documented(report, "collect", owner)


# Looking before it is stored


def test_without_a_terminal_it_is_listed_and_stored_only_with_force(owner: Home, sender: Home) -> None:
    file, before = send(sender, owner, "deploy", CANARY, "-a", "host=ci"), owner.vault.read_bytes()
    finished = owner.run("collect", file, stdin=b"y\n", start_new_session=True)
    listed, *rest, sentence = finished.stderr.decode().splitlines()
    assert finished.returncode == REFUSED and finished.stdout == b"" and rest == ["    host=ci"]
    assert listed.startswith("deploy  11 bytes, sealed 2") and listed.endswith(", new")
    assert "--force" in sentence and CANARY not in finished.stderr
    assert owner.vault.read_bytes() == before
    assert owner.run("collect", file, "--force", start_new_session=True).returncode == 0
    assert owner.get("deploy") == CANARY


@pytest.mark.parametrize(("answer", "is_stored"), [("y", True), ("YES", True), ("n", False), ("", False), ("x", False)])
def test_at_a_terminal_only_a_clear_yes_stores(owner: Home, sender: Home, answer: str, is_stored: bool) -> None:
    file = send(sender, owner, "deploy")
    with Terminal(owner, "collect", file) as terminal:
        terminal.expect("deploy  11 bytes")
        terminal.answer(QUESTION, answer + "\n")
        assert terminal.end()[0] == (0 if is_stored else REFUSED) and CANARY not in terminal.everything
    assert owner.names() == (["deploy", "u.token"] if is_stored else ["u.token"])


def test_a_value_that_is_replaced_is_announced_and_in_the_history(owner: Home, sender: Home) -> None:
    file = send(sender, owner, "u.token")
    with Terminal(owner, "collect", file) as terminal:
        terminal.expect("replaces a value")
        terminal.answer(QUESTION, "n\n")
        assert terminal.end()[0] == REFUSED
    assert owner.get("u.token") == b"tok"
    with Terminal(owner, "collect", file) as terminal:
        terminal.answer(QUESTION, "y\n")
        assert terminal.end()[0] == 0
    assert owner.get("u.token") == CANARY
    owner.output("restore", "u.token")
    assert owner.get("u.token") == b"tok"


def test_of_several_drops_all_are_stored_or_none(owner: Home, sender: Home) -> None:
    first = send(sender, owner, "first")
    (owner.folder / "text").write_text("no drop\n")
    assert "text: " in owner.refusal(USAGE, "collect", "--force", first, "text")
    assert owner.names() == ["u.token"]
    again = (owner.folder / first).rename(owner.folder / "again.drop").name
    finished = owner.run("collect", again, send(sender, owner, "first", b"later"), start_new_session=True)
    assert "replaces the one above" in finished.stderr.decode().splitlines()[1]
    owner.output("collect", "--force", again, first)
    assert owner.get("first") == b"later"


def test_what_a_stranger_has_written_cannot_command_the_terminal(owner: Home, sender: Home) -> None:
    send(sender, owner, "ab", CANARY, "-a", "k=w\x1b[2J=v\x1b[1m\u202e")
    with Terminal(owner, "collect", "ab.drop") as terminal:
        terminal.answer(QUESTION, "n\n")
        terminal.end()
        shown = terminal.everything
    assert b"k=w\\x1b[2J=v" in shown and b"\\u{202e}" in shown
    assert b"\x1b" not in shown and "\u202e".encode() not in shown


@pytest.mark.parametrize("name", [" u.token", "u.token ", "u.token\u200b", "u\u202e.token", "u\u00a0.token"], ids=ascii)
def test_a_name_that_looks_like_another_is_neither_dropped_nor_collected(
    owner: Home, sender: Home, name: str
) -> None:
    sentence = sender.refusal(USAGE, "drop", "--to", drop_box(owner), "-o", "x.drop", name, stdin=b"x")
    assert "may look like another one" in sentence and sender.files() == []
    # Somebody else's program seals it all the same.
    file = seal_by_age(owner, contents(name.encode(), b"\x00\x00"))
    assert "may look like another one" in owner.refusal(USAGE, "collect", "--force", file)
    assert owner.names() == ["u.token"]


# What is no drop for this vault


def test_no_changed_or_cut_drop_is_stored(owner: Home, sender: Home) -> None:
    file = owner.folder / send(sender, owner, "deploy")
    sound = file.read_bytes()
    before = owner.vault.read_bytes()
    payload = sound.index(b"\n--- ") + 50
    for offset in range(0, len(sound), 9):
        for content in (sound[:offset] + bytes([sound[offset] ^ 1]) + sound[offset + 1 :], sound[:offset]):
            file.write_bytes(content)
            finished = owner.run("collect", "--force", file.name)
            assert finished.returncode != 0 and f"{file.name}: ".encode() in finished.stderr, (offset, finished)
            assert offset < payload or finished.returncode == DAMAGED, (offset, finished)
    assert owner.vault.read_bytes() == before


def test_a_drop_for_another_vault_and_one_from_before_a_rotation_are_exit_5(owner: Home, sender: Home) -> None:
    sender.set("u.token", b"of another vault")
    file = send(sender, owner, "deploy")
    sender.refusal(LOCKED, "collect", "--force", str(owner.folder / file))
    former = drop_box(owner)
    owner.output("key", "rotate")
    assert drop_box(owner) != former
    assert "rotated" in owner.refusal(LOCKED, "collect", "--force", file)
    assert owner.names() == sender.names() == ["u.token"]
    owner.output("collect", "--force", send(sender, owner, "again"))
    assert owner.get("again") == CANARY


@pytest.mark.parametrize("path", ["nothing", "."])
def test_a_drop_that_cannot_be_read_is_exit_8(owner: Home, path: str) -> None:
    assert path in owner.refusal(IO, "collect", "--force", path)


# age


def contents(name: bytes, rest: bytes, value: bytes = CANARY, magic: bytes = MAGIC) -> bytes:
    """What is in a drop; `rest` is the kind and the attributes."""
    return magic + counted(varint(int(time.time() * 1000)) + counted(name) + rest) + value


def seal_by_age(home: Home, content: bytes, *options: str) -> str:
    sealed = subprocess.run(["age", "-r", drop_box(home), *options], input=content, capture_output=True, check=True)
    (home.folder / "by-age.drop").write_bytes(sealed.stdout)
    return "by-age.drop"


@pytest.mark.parametrize("options", [(), ("--armor",)], ids=["binary", "armored"])
def test_a_drop_that_age_has_sealed_is_collected(owner: Home, options: tuple[str, ...]) -> None:
    given = [("host", "example.org"), ("port", "22")]
    content = contents("Zoë".encode(), b"\x01" + encoded_attributes(given))
    owner.output("collect", "--force", seal_by_age(owner, content, *options))
    (item,) = json.loads(owner.output("ls", "Zoë", "--json"))["items"]
    assert owner.get("Zoë") == CANARY and item["attributes"] == dict(given) and item["kind"] == "text"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        contents(b"n", b"\x00\x00", magic=b"vltdrop2"),
        contents(b"n", b"", value=b""),
        contents(b"n", b"\x00\x00" + CANARY),
        MAGIC + varint(1 << 30) + CANARY,
        contents(b"", b"\x00\x00"),
        contents(b"a\nb", b"\x00\x00"),
        contents(b"n", b"\x00" + encoded_attributes([("b", "1"), ("a", "2")])),
        contents(b"n", b"\x00" + encoded_attributes([("", "1")])),
        contents(b"n", b"\x01\x00", value=b"\xff"),
    ],
    ids=["empty", "text", "magic", "cut", "more", "size", "no name", "control character", "order", "key", "UTF-8"],
)
def test_an_age_file_that_is_no_drop_is_exit_2(owner: Home, content: bytes) -> None:
    assert "not a drop" in owner.refusal(USAGE, "collect", "--force", seal_by_age(owner, content))
    assert owner.names() == ["u.token"]


OLDER = "--accept-older"


def test_a_drop_from_before_the_last_change_is_refused_unless_that_is_said(owner: Home, sender: Home) -> None:
    """Who has kept one could put a former value back, or what was removed."""
    kept = send(sender, owner, "deploy", CANARY)
    owner.output("collect", "--force", kept)
    sentence = owner.refusal(REFUSED, "collect", "--force", kept)
    assert "this drop was sealed before" in sentence and OLDER in sentence
    owner.set("deploy", b"newer")
    owner.refusal(REFUSED, "collect", "--force", kept)
    assert owner.get("deploy") == b"newer"
    owner.output("rm", "deploy")
    owner.refusal(REFUSED, "collect", "--force", kept)
    assert owner.run("get", "deploy").returncode == 3
    owner.output("collect", "--force", OLDER, kept)
    assert owner.get("deploy") == CANARY
    (owner.folder / kept).unlink()
    owner.output("collect", "--force", send(sender, owner, "deploy", b"newest"))
    assert owner.get("deploy") == b"newest"


def test_of_several_drops_the_order_is_that_of_their_times(owner: Home, sender: Home) -> None:
    first = (owner.folder / send(sender, owner, "deploy", b"1")).rename(owner.folder / "first.drop").name
    second = send(sender, owner, "deploy", b"2")
    owner.refusal(REFUSED, "collect", "--force", second, first)
    assert owner.names() == ["u.token"]
    owner.output("collect", "--force", first, second)
    assert owner.get("deploy") == b"2"


@pytest.mark.parametrize(
    "keys",
    [["a\nb"], ["a\x1bb"], ["a\u00a0b"], ["pol\u200bicy"], [" a"], ["a  b"], ["Host", "host"], ["K", "\u212a"]],
    ids=ascii,
)
def test_keys_of_attributes_that_look_like_others_are_refused(owner: Home, keys: list[str]) -> None:
    """Nothing says who has sealed a drop, and a person is to see what is in it."""
    given = [(key, str(number)) for number, key in enumerate(keys)]
    drop = seal_by_age(owner, contents(b"n", b"\x00" + encoded_attributes(given)))
    sentence = owner.refusal(USAGE, "collect", "--force", drop)
    assert "Invalid" in sentence and len(sentence.splitlines()) == 1 and owner.names() == ["u.token"]


def test_an_attribute_begins_no_line_of_its_own(owner: Home) -> None:
    content = contents(b"n", b"\x00" + encoded_attributes([("a", "b\nother  1 byte, new")]))
    file = seal_by_age(owner, content)
    with Terminal(owner, "collect", file) as terminal:
        terminal.answer("[y/N] ", "n\n")
        terminal.end()
    assert rb'a="b\nother  1 byte, new"' in terminal.everything


def test_a_drop_for_a_person_is_read_by_age_and_collected_with_their_identity(owner: Home, sender: Home) -> None:
    public = new_identity(owner.folder / "identity")
    drop = sender.output("drop", "--to", public, "for.mia", "-a", "host=ci", stdin=CANARY)
    (owner.folder / "mia.drop").write_bytes(drop)
    opened = subprocess.run(["age", "-d", "-i", owner.folder / "identity"], input=drop, capture_output=True, check=True)
    content = Cursor(opened.stdout, "drop")
    assert content.take(8, "magic") == MAGIC
    end = content.varint("size") + content.offset
    assert abs(content.varint("time") / 1000 - time.time()) < 60
    assert (content.text("name"), content.fixed(1, "kind")) == ("for.mia", 0)
    assert dict(read_attributes(content)) == {"host": "ci"} and content.offset == end
    assert opened.stdout[end:] == CANARY
    owner.refusal(LOCKED, "collect", "--force", "mia.drop")
    owner.output("collect", "--force", "mia.drop", "--identity", "identity")
    assert owner.get("for.mia") == CANARY and attributes(owner, "for.mia") == {"host": "ci"}


def test_the_drop_box_is_an_age_identity_that_follows_from_the_data_key(owner: Home, sender: Home) -> None:
    """Format.md says how; age takes it for one of its own."""
    secret = open_image(owner.vault.read_bytes(), owner.key.read_bytes()).keys.drop_box
    assert drop_box(owner) == recipient_text(secret)
    identity = owner.folder / "box"
    identity.write_text(identity_text(secret))
    drop = owner.folder / send(sender, owner, "ci.token")
    opened = subprocess.run(["age", "-d", "-i", identity, drop], capture_output=True, check=True)
    assert opened.stdout.startswith(MAGIC) and opened.stdout.endswith(CANARY)
