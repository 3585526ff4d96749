"""`vault key rotate`: everything is sealed anew while others write, and the former data key opens nothing."""

import itertools
import json
import secrets
import signal
import threading
from pathlib import Path

import pytest

import interop  # noqa: F401
from histories import History
from homes import VAULT_AND_KEY, Home, goes_on
from key_slots import PASSPHRASE, add_passphrase, fingerprint, keys, private_file, with_passphrase
from reading.credentials import Credentials
from reading.errors import Damaged
from reading.header import Header, open_header
from reading.sealing import Subkeys, open_box
from reading.tree import read_tree
from reading.vault import Vault, open_image
from terminals import Terminal
from tracing import CHANGING, trace, with_fault
from volumes import fill, volume
from writing.builder import VaultBuilder
from writing.entries import Entry, Value

pytestmark = pytest.mark.both_paths_in_full

USAGE, LOCKED, BUSY, IO, ALARM = 2, 5, 7, 8, 9
ROTATE = ("key", "rotate")


def filled(home: Home, values: dict[str, bytes]) -> None:
    """Puts a vault there that has these values, and its key file."""
    vault = VaultBuilder(secrets.token_hex(16))
    vault.history = 10, 90
    vault.begin([Entry(name, Value(content, 0)) for name, content in values.items()], cells_per_page=40, levels=2)
    for path, content in ((home.vault, bytes(vault.data)), (home.key, vault.key_file)):
        path.parent.mkdir(parents=True)
        private_file(path, content)


# While others write


@pytest.mark.in_a_file
def test_1000_entries_are_sealed_anew_while_another_process_writes(home: Home) -> None:
    values = {f"name-{index:04}": b"value %d " % index * 300 for index in range(1_000)}
    filled(home, values)
    written = dict(values)
    delayed = ("-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:delay_enter=150000")
    slow = home.started_through("strace", "-f", "-o", "/dev/null", *delayed)
    is_over = threading.Event()
    failures = []

    def write() -> None:
        for turn in itertools.count():
            if is_over.is_set():
                break
            for name in (f"name-{turn % 1_000:04}", f"new-{turn:04}"):
                finished = home.run("set", "--exact", name, stdin=b"turn %d" % turn)
                if finished.returncode != 0:
                    failures.append(finished)
                written[name] = b"turn %d" % turn

    writer = threading.Thread(target=write)
    writer.start()
    try:
        # Its flushes take longer, so that others come between.
        for _ in range(3):
            before = len(written)
            slow.output(*ROTATE)
            assert len(written) > before, "nothing was written meanwhile"
    finally:
        is_over.set()
        writer.join()
    assert not failures
    vault = open_image(home.vault.read_bytes(), home.key.read_bytes())
    assert {name: entry.value for name, entry in vault.entries.items()} == written
    home.output("verify")
    assert home.get("name-0000") == written["name-0000"] and home.get("new-0000") == b"turn 0"


def test_a_process_that_has_opened_the_vault_before_goes_on_with_the_same_key_file(home: Home) -> None:
    home.set("u.token", b"tok")
    with home.start("set", "u.late") as process:
        assert home.output("get", "u.token") == b"tok"
        home.output(*ROTATE)
        _, errors = process.communicate(b"late", timeout=30)
        assert process.returncode == 0, errors
    assert home.values() == {"u.token": b"tok", "u.late": b"late"}


def test_of_several_rotations_at_once_each_is_done_or_told_to_try_again(home: Home) -> None:
    """One that another has overtaken does not bring back the keys of before."""
    home.set("u.token", b"tok")
    before = fingerprint(home)
    processes = [home.start(*ROTATE) for _ in range(4)]
    ended = [(process.communicate(timeout=30)[1], process.returncode) for process in processes]
    assert {code for _, code in ended} <= {0, BUSY} and 0 in {code for _, code in ended}, ended
    for told, code in ended:
        assert code == 0 or b"keys" in told and b"names" not in told, told
    assert home.get("u.token") == b"tok" and fingerprint(home) != before
    home.output("verify")


# Killed


def test_killed_at_any_call_that_changes_something_the_vault_is_as_it_was_or_rotated(
    twenty: History, tmp_path: Path
) -> None:
    template = twenty.home
    traced = template.copy(tmp_path / "traced")
    calls = [call for call in trace(traced, *ROTATE, names=CHANGING) if str(traced.folder) in call.line]
    changing = [call for call in calls if call.name != "openat" or "O_CREAT" in call.line]
    assert len(changing) > 10
    before, after = fingerprint(template), set()
    home = template.copy(tmp_path / "killed")
    for call in changing:
        home.restore(template)
        finished = with_fault(home, call.name, f"signal=KILL:when={call.ordinal}", *ROTATE)
        assert finished.returncode == -signal.SIGKILL, (call, finished)
        vault = open_image(home.vault.read_bytes(), home.key.read_bytes())
        assert {name: entry.value for name, entry in vault.entries.items()} == twenty.values, call
        after.add(fingerprint(home) == before)
        home.output(*ROTATE)
        assert home.files() == VAULT_AND_KEY, call
    assert after == {False, True}, "kills before and after the rename"
    goes_on(home, twenty.values)


# The former data key


def boxes(image: bytes, vault: Vault) -> list[tuple[int, int, bytes]]:
    """Where each box of a file begins and ends, with its nonce."""
    pages = [vault.header.manifest]
    pages += read_tree(image, vault.header.root, vault.keys.page, vault.header.checkpoint).pages
    found = [(page.offset, page.end, page.nonce) for page in pages]
    for record in vault.log.records:
        frame = record.frame
        found.append((frame.index_offset, frame.payload_offset, image[frame.offset + 24 : frame.index_offset]))
        if record.tree:
            within = range(frame.payload_offset, frame.end)
            tree = read_tree(image, record.tree.root, vault.keys.page, within)
            found += [(page.offset, page.end, page.nonce) for page in tree.pages]
    versions = {version for entry in vault.current.values() for version in entry.versions}
    return found + [(version.offset, version.end, version.nonce) for version in versions]


def opens(box: bytes, nonce: bytes, keys: Subkeys) -> bool:
    for key in (keys.record, keys.page, keys.value):
        try:
            open_box(box, nonce, key, "", "")
        except Damaged:
            continue
        return True
    return False


def opened_header(image: bytes, key: bytes) -> tuple[Header, Subkeys]:
    return open_header(image, Credentials.given(key, None, None, None))


def test_the_former_data_key_opens_nothing_in_the_new_file(twenty: History) -> None:
    home = twenty.home
    home.set("entry-05", b"its former value becomes history")
    key, former = home.key.read_bytes(), home.vault.read_bytes()
    old = open_image(former, key)
    old_boxes = boxes(former, old)
    assert all(opens(former[start:end], nonce, old.keys) for start, end, nonce in old_boxes), "what is tried does open"
    home.output(*ROTATE)
    image = home.vault.read_bytes()
    new = open_image(image, key)
    assert new.header.vault_id == old.header.vault_id
    assert {name: entry.value for name, entry in new.entries.items()} == home.values()
    _, keys_by_old_header = opened_header(former, key)
    assert keys_by_old_header == old.keys and not set(vars(old.keys).values()) & set(vars(new.keys).values())
    for start, end, nonce in boxes(image, new):
        assert not opens(image[start:end], nonce, old.keys), start
    # A box of the old file that was copied would have its old nonce, at whatever place it is.
    for start, end, nonce in old_boxes:
        for offset in range(0, len(image) - (end - start) + 1, 16):
            assert not opens(image[offset : offset + end - start], nonce, old.keys), (start, offset)
    # Nor has any of them left a part of itself: the ids are what both files share.
    blocks = {image[offset : offset + 16] for offset in range(0, len(image), 16)}
    for start, end, _ in old_boxes:
        assert not blocks & {former[offset : offset + 16] for offset in range(start, end, 16)}


def test_no_two_boxes_have_one_nonce_before_and_after(twenty: History) -> None:
    home = twenty.home
    key = home.key.read_bytes()
    former = home.vault.read_bytes()
    nonces = [nonce for _, _, nonce in boxes(former, open_image(former, key))]
    home.output(*ROTATE)
    image = home.vault.read_bytes()
    nonces += [nonce for _, _, nonce in boxes(image, open_image(image, key))]
    assert len(set(nonces)) == len(nonces)


@pytest.mark.in_a_file
def test_the_slots_of_the_old_file_do_not_open_the_new_one(home: Home) -> None:
    """Someone who has a removed key, the old file, and can write: the header of then leads nowhere."""
    home.output("init")
    home.output("key", "add", "--file", "second.key")
    home.set("u.token", b"tok")
    old = home.vault.read_bytes()
    home.output(*ROTATE, "--drop", "2")
    image = bytearray(home.vault.read_bytes())
    for start in (0, 4096):
        image[start + 256 : start + 4032] = old[256:4032]
        image[start + 12 : start + 16] = old[12:16]
    home.vault.write_bytes(image)
    for options in ((), ("--key-file", "second.key")):
        for one in (home, home.without_memory()):
            finished = one.run("get", "u.token", *options)
            assert finished.returncode in (6, ALARM) and finished.stdout == b"", finished


# What stays


def test_everything_that_is_known_of_an_entry_stays(home: Home) -> None:
    home.output("set", "u.token", "-a", "host=example.org", "--type", "string", stdin=b"first")
    home.output("set", "u.token", stdin=b"second")
    home.set("u.gone", b"removed")
    home.output("rm", "u.gone")
    listed = ("ls", "-l", "--json")
    before = [
        home.output(*words) for words in (listed, ("history", "u.token", "--json"), ("history", "u.gone", "--json"))
    ]
    created = [key["created"] for key in keys(home)]
    home.output(*ROTATE)
    after = [
        home.output(*words) for words in (listed, ("history", "u.token", "--json"), ("history", "u.gone", "--json"))
    ]
    assert after == before and [key["created"] for key in keys(home)] == created
    home.output("restore", "u.token")
    home.output("restore", "u.gone")
    assert home.get("u.token") == b"first" and home.get("u.gone") == b"removed"


# The keys that stay need their secrets


@pytest.fixture
def with_two(home: Home) -> Home:
    home.set("u.token", b"tok")
    home.output("key", "add", "--file", "second.key", "--label", "usb")
    return home


def test_a_key_file_that_stays_is_named(with_two: Home) -> None:
    before = fingerprint(with_two)
    with_two.output(*ROTATE, "--file", "2=second.key")
    assert fingerprint(with_two) != before
    assert with_two.get("u.token") == b"tok" == with_two.output("get", "u.token", "--key-file", "second.key")
    assert [key["label"] for key in keys(with_two)] == ["", "usb"]


def test_a_key_that_is_dropped_opens_the_vault_no_more(with_two: Home) -> None:
    with_two.output(*ROTATE, "--drop", "2")
    with_two.refusal(LOCKED, "get", "u.token", "--key-file", "second.key")
    assert len(keys(with_two)) == 1 and with_two.get("u.token") == b"tok"


def test_without_a_secret_nothing_is_changed_and_it_is_said_what_to_do(with_two: Home) -> None:
    before = with_two.vault.read_bytes()
    sentence = with_two.refusal(LOCKED, *ROTATE)
    assert sentence.startswith("vault: Key 2 (\"usb\")"), "a sentence"
    assert "--file 2=PATH" in sentence and "--drop 2" in sentence
    assert with_two.vault.read_bytes() == before


def test_a_wrong_key_file_is_told_with_its_key(with_two: Home) -> None:
    before = with_two.vault.read_bytes()
    private_file(with_two.folder / "wrong", b"another secret")
    sentence = with_two.refusal(LOCKED, *ROTATE, "--file", "2=wrong")
    assert "Key 2 (\"usb\")" in sentence and "Nothing was changed" in sentence
    assert with_two.vault.read_bytes() == before


def test_a_key_file_that_is_missing_is_named(with_two: Home) -> None:
    before = with_two.vault.read_bytes()
    sentence = with_two.refusal(LOCKED, *ROTATE, "--file", "2=nothing")
    assert "nothing" in sentence and str(with_two.key) not in sentence
    assert with_two.vault.read_bytes() == before


@pytest.mark.parametrize("text", ["second.key", "=second.key", "0=second.key", "two=second.key", "3=second.key"])
def test_a_key_file_without_a_key_of_that_number_is_refused(with_two: Home, text: str) -> None:
    """It is a mistyped number, and not to be passed over in silence."""
    before = with_two.vault.read_bytes()
    finished = with_two.run(*ROTATE, "--file", text, "--file", "2=second.key")
    assert finished.returncode in (USAGE, 3) and b"ttribute" not in finished.stderr, finished
    assert with_two.vault.read_bytes() == before


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("kind", ["generated", "other"])
def test_one_file_does_not_replace_two_keys(with_two: Home, is_there: bool, kind: str) -> None:
    """It would be one key with two numbers: whoever drops one of them has dropped nothing."""
    new = with_two.folder / "new.key"
    if kind == "other":
        private_file(new, b"a passphrase in a file, of some length")
    elif is_there:
        with_two.output("key", "add", "--file", "new.key")
        with_two.output("key", "rm", "3")
    before, was_there = with_two.vault.read_bytes(), new.exists()
    for names in (("new.key", "new.key"), ("new.key", "./new.key")):
        failed = with_two.refusal(USAGE, "key", "rotate", "--replace", f"1={names[0]}", "--replace", f"2={names[1]}")
        assert "cannot replace two keys" in failed
        assert with_two.vault.read_bytes() == before and new.exists() == was_there
    with_two.output("key", "rotate", "--replace", "1=new.key", "--replace", "2=newer.key")
    for file in ("new.key", "newer.key"):
        assert with_two.output("get", "u.token", "--key-file", file) == b"tok"


def test_the_key_in_use_cannot_be_dropped(with_two: Home) -> None:
    before = with_two.vault.read_bytes()
    assert "in use" in with_two.refusal(USAGE, *ROTATE, "--drop", "1", "--file", "2=second.key")
    assert with_two.vault.read_bytes() == before
    with_two.output(*ROTATE, "--drop", "1", "--key-file", "second.key")
    with_two.refusal(LOCKED, "get", "u.token")


def test_passphrases_that_stay_are_asked_for(home: Home) -> None:
    home.set("u.token", b"tok")
    add_passphrase(home, "--label", "mine")
    before, sealed = fingerprint(home), home.vault.read_bytes()
    with Terminal(home, *ROTATE) as terminal:
        terminal.answer("Passphrase of key 2 (\"mine\"): ", "wrong\n")
        code, shown = terminal.end()
    assert code == LOCKED and b"Nothing was changed" in shown and home.vault.read_bytes() == sealed
    finished = home.run(*ROTATE, start_new_session=True)
    assert finished.returncode == LOCKED and home.vault.read_bytes() == sealed
    with Terminal(home, *ROTATE) as terminal:
        terminal.answer("Passphrase of key 2 (\"mine\"): ", PASSPHRASE + "\n")
        assert terminal.end()[0] == 0, terminal.everything
    assert fingerprint(home) != before
    home.key.unlink()
    assert with_passphrase(home, "get", "u.token") == b"tok"


def test_the_report(with_two: Home) -> None:
    report = json.loads(with_two.output(*ROTATE, "--drop", "2", "--json"))
    assert report == {"fingerprint": fingerprint(with_two), "dropped": [2], "keys": keys(with_two)}
    assert len(report["keys"]) == 1


def test_without_room_it_is_exit_8_and_nothing_is_left_behind(binary: str, tmp_path: Path) -> None:
    with volume(tmp_path / "small", "1m") as folder:
        home = Home(binary, folder / "home")
        home.set("u.token", secrets.token_bytes(200_000))
        old, values = fingerprint(home), home.values()
        fill(folder)
        assert "No space left on device" in home.refusal(IO, *ROTATE)
        assert home.files() == VAULT_AND_KEY and home.values() == values and fingerprint(home) == old


# The memory of machines


def test_the_file_from_before_is_noticed_on_this_machine_and_on_another(home: Home) -> None:
    home.set("u.token", b"before")
    older, copy = home.vault.read_bytes(), home.folder / "older.vault"
    second = home.with_variables(XDG_STATE_HOME=str(home.folder / "second-machine"))
    assert second.get("u.token") == b"before"
    home.output(*ROTATE)
    assert second.get("u.token") == b"before", "the second machine takes the new file"
    home.set("u.token", b"after")
    third = home.with_variables(XDG_STATE_HOME=str(home.folder / "third-machine"))
    assert third.get("u.token") == b"after"
    home.vault.write_bytes(older)
    for machine in (home, second, third):
        for words in (("get", "u.token"), ("set", "u.token"), ("ls",), ("verify",), ROTATE):
            assert "--accept-rolled-back" in machine.refusal(ALARM, *words, stdin=b"new")
    private_file(copy, older)
    home.refusal(ALARM, "get", "u.token", "--vault", str(copy))
    assert home.vault.read_bytes() == older
    assert home.output("get", "u.token", "--accept-rolled-back") == b"before"
    assert home.get("u.token") == b"before"
    home.set("u.token", b"and on")
    home.output("verify")


def test_a_machine_that_was_away_for_some_rotations_takes_the_file_and_no_older_one(home: Home) -> None:
    home.set("u.token", b"tok")
    second = home.with_variables(XDG_STATE_HOME=str(home.folder / "second-machine"))
    second.set("u.token", b"new")
    older = home.vault.read_bytes()
    for _ in range(8):
        home.output(*ROTATE)
    assert second.get("u.token") == b"new"
    home.vault.write_bytes(older)
    second.refusal(ALARM, "get", "u.token")


def test_a_rotated_vault_that_diverged_before_is_noticed(home: Home) -> None:
    home.set("u.token", b"tok")
    fork = home.vault.read_bytes()
    home.set("u.token", b"here")
    home.vault.write_bytes(fork)
    elsewhere = home.without_memory()
    elsewhere.set("u.token", b"elsewhere")
    elsewhere.output(*ROTATE)
    assert "--accept-diverged" in home.refusal(ALARM, "get", "u.token")
