"""The keys of a vault: each of them opens it alone, and no one without a key changes what they are."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from homes import Home, mode
from key_slots import (
    MEMORY,
    PASSES,
    SlotTable,
    add_passphrase,
    keys,
    lose_key_file,
    new_identity,
    private_file,
    with_passphrase,
)
from terminals import on_terminal

pytestmark = pytest.mark.both_paths

USAGE, NOT_FOUND, REFUSED, LOCKED, DAMAGED = 2, 3, 4, 5, 6
GET = ("get", "u.token")


@pytest.fixture
def vault(home: Home) -> Home:
    home.set("u.token", b"tok")
    return home


# Each kind of key: how it is added, and the options with which it opens the vault.


def key_file(home: Home) -> list[str]:
    home.output("key", "add", "--file", "second.key")
    return ["--key-file", "second.key"]


def other_file(home: Home) -> list[str]:
    private_file(home.folder / "photo", bytes(range(256)))
    home.output("key", "add", "--file", "photo")
    return ["--key-file", "photo"]


def passphrase(home: Home) -> list[str]:
    add_passphrase(home)
    return []


def passphrase_with_key_file(home: Home) -> list[str]:
    add_passphrase(home, "--file", str(private_file(home.folder / "photo", bytes(range(256)))))
    return ["--key-file", "photo"]


def recipient(home: Home) -> list[str]:
    home.output("key", "add", "--recipient", new_identity(home.folder / "identity"))
    return ["--identity", "identity"]


def command(home: Home) -> list[str]:
    private_file(home.folder / "output", b"what a device prints")
    home.output("key", "add", "--command", "cat output")
    return []


KINDS: list[tuple[str, Callable[[Home], list[str]]]] = [
    ("key-file", key_file),
    ("other-file", other_file),
    ("passphrase", passphrase),
    ("passphrase-with-key-file", passphrase_with_key_file),
    ("recipient", recipient),
    ("command", command),
]


@pytest.mark.parametrize(("kind", "add"), KINDS, ids=[kind for kind, _ in KINDS])
def test_each_kind_of_key_opens_the_vault_by_itself_until_it_is_removed(
    vault: Home, kind: str, add: Callable[[Home], list[str]]
) -> None:
    options = add(vault)
    assert [key["kind"] for key in keys(vault)] == ["key-file", kind]
    assert [key["is_in_use"] for key in keys(vault)] == [True, False]
    taken = lose_key_file(vault)
    get = with_passphrase if "passphrase" in kind else Home.output
    assert get(vault, *GET, *options) == b"tok"
    with_first = ("--key-file", str(taken))
    vault.output("key", "rm", "2", *with_first)
    assert [key["kind"] for key in keys(vault, *with_first)] == ["key-file"]
    vault.refusal(LOCKED, *GET, *options)
    assert vault.output(*GET, *with_first) == b"tok"


def test_a_key_that_is_removed_is_exit_5(vault: Home) -> None:
    vault.output("key", "add", "--file", "second.key")
    vault.output("key", "rm", "1", "--key-file", "second.key")
    for words in (GET, ("ls",), ("verify",), ("set", "u.token"), ("key", "ls"), ("key", "add", "--file", "third.key")):
        assert str(vault.key) in vault.refusal(LOCKED, *words, stdin=b"new")
    assert vault.output(*GET, "--key-file", "second.key") == b"tok"


def test_an_added_key_opens_what_is_set_later_too(vault: Home) -> None:
    vault.output("key", "add", "--file", "second.key")
    vault.set("later", b"later")
    assert vault.output("get", "later", "--key-file", "second.key") == b"later"
    vault.output("set", "latest", "--key-file", "second.key", stdin=b"latest")
    assert vault.values() == {"u.token": b"tok", "later": b"later", "latest": b"latest"}


def test_a_key_file_that_is_needed_beside_a_passphrase_is_generated_too(vault: Home) -> None:
    shown = add_passphrase(vault, "--file", "second.key")
    assert b"Created the key file second.key" in shown
    lose_key_file(vault)
    assert with_passphrase(vault, *GET, "--key-file", "second.key") == b"tok"


def test_a_generated_key_file_is_told_of_and_for_its_owner_alone(vault: Home) -> None:
    finished = vault.run("key", "add", "--file", "new/second.key")
    assert finished.returncode == 0, finished
    assert b"Created the key file new/second.key" in finished.stderr and b"Back it up" in finished.stderr
    assert mode(vault.folder / "new/second.key") == 0o600
    finished = vault.run("key", "add", "--file", str(private_file(vault.folder / "third", b"a third one" * 3)))
    assert finished.returncode == 0 and b"Created" not in finished.stderr


# What is refused


def test_the_last_key_cannot_be_removed(vault: Home) -> None:
    before = vault.vault.read_bytes()
    sentence = vault.refusal(USAGE, "key", "rm", "1")
    assert "last key" in sentence or "only key" in sentence
    assert vault.vault.read_bytes() == before
    assert vault.get("u.token") == b"tok"


@pytest.mark.parametrize("number", ["2", "16", "17", "4000000000"])
def test_a_number_that_is_no_keys_is_exit_3(vault: Home, number: str) -> None:
    for words in (("rm", number), ("replace", "x.key", "--key", number), ("rotate", "--drop", number)):
        sentence = vault.refusal(NOT_FOUND, "key", *words)
        assert number in sentence
    assert not (vault.folder / "x.key").exists() and len(keys(vault)) == 1


@pytest.mark.parametrize("number", ["0", "-1", "one", "1.0", "", "99999999999999999999"])
def test_what_is_no_number_is_exit_2(vault: Home, number: str) -> None:
    for words in (("rm", "--", number), ("replace", f"--key={number}", "x.key"), ("rotate", f"--drop={number}")):
        vault.refusal(USAGE, "key", *words)
    assert not (vault.folder / "x.key").exists()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--label", "nothing else"),
        ("--file", "x.key", "--command", "true"),
        ("--file", "x.key", "--recipient", "age1"),
        ("--passphrase", "--command", "true"),
        ("--recipient", "age1", "--command", "true"),
    ],
)
def test_one_key_is_added_at_a_time(vault: Home, options: tuple[str, ...]) -> None:
    assert "vault help key add" in vault.refusal(USAGE, "key", "add", *options)
    assert not (vault.folder / "x.key").exists() and len(keys(vault)) == 1


def test_a_key_that_opens_the_vault_already_is_exit_4(vault: Home) -> None:
    public = new_identity(vault.folder / "identity")
    vault.output("key", "add", "--recipient", public)
    before = vault.vault.read_bytes()
    for words in (
        ("add", "--file", str(vault.key)),
        ("add", "--command", f"cat {vault.key}"),
        ("add", "--recipient", public),
        ("replace", str(vault.key)),
    ):
        assert "already" in vault.refusal(REFUSED, "key", *words)
    assert vault.vault.read_bytes() == before


@pytest.mark.parametrize("text", ["", "age1", "someone", "age1qqqq", "AGE-SECRET-KEY-1QQQ", "ssh-ed25519 AAAA"])
def test_what_is_no_recipient_is_exit_2(vault: Home, text: str) -> None:
    vault.refusal(USAGE, "key", "add", f"--recipient={text}")
    assert len(keys(vault)) == 1


def test_a_secret_key_given_as_a_recipient_is_not_repeated(vault: Home) -> None:
    new_identity(vault.folder / "identity")
    secret = (vault.folder / "identity").read_text().splitlines()[-1]
    assert secret.startswith("AGE-SECRET-KEY-1")
    assert secret not in vault.refusal(USAGE, "key", "add", "--recipient", secret)


def test_a_vault_has_16_keys_at_most_and_each_opens_it(vault: Home) -> None:
    for index in range(2, 17):
        vault.output("key", "add", "--file", f"{index}.key", "--label", f"the key {index}")
    before = vault.vault.read_bytes()
    sentence = vault.refusal(USAGE, "key", "add", "--file", "17.key")
    assert "16" in sentence
    assert vault.vault.read_bytes() == before
    is_left = (vault.folder / "17.key").exists()
    for index in range(2, 17):
        assert vault.output(*GET, "--key-file", f"{index}.key") == b"tok"
    vault.output("key", "rm", "9")
    vault.output("key", "add", "--file", "17.key")
    assert vault.output(*GET, "--key-file", "17.key") == b"tok"
    assert not is_left, "a key file that opens nothing would be taken for one that does"
    assert [key["label"] for key in keys(vault)] == [
        "",
        *(f"the key {index}" for index in range(2, 17) if index != 9),
        "",
    ]


# Labels


def test_labels_are_shown_and_in_no_file(vault: Home) -> None:
    label = "Mia's blue laptop \N{DESKTOP COMPUTER}"
    vault.output("key", "add", "--file", "second.key", "--label", label)
    vault.set("later", b"later")
    assert f'"{label}"' in vault.output("key", "ls").decode()
    assert keys(vault)[1]["label"] == label
    for path in (vault.vault, *vault.memory.iterdir(), vault.folder / "second.key"):
        assert b"laptop" not in path.read_bytes(), path


def test_a_label_cannot_command_the_terminal(vault: Home) -> None:
    shown = on_terminal(vault, "key", "add", "--file", "second.key", "--label", "a\x1b[2Jb")
    assert b"an invisible character" in shown and b"\x1b" not in shown and len(keys(vault)) == 1


@pytest.mark.parametrize(("label", "code"), [("l" * 256, 0), ("l" * 257, USAGE), ("\u00fc" * 129, USAGE)])
def test_a_label_has_256_bytes_at_most(vault: Home, label: str, code: int) -> None:
    finished = vault.run("key", "add", "--file", "second.key", "--label", label)
    assert finished.returncode == code, finished
    assert (vault.folder / "second.key").exists() == (code == 0)
    assert len(keys(vault)) == (2 if code == 0 else 1)


def test_the_list_marks_the_key_in_use(vault: Home) -> None:
    vault.output("key", "add", "--file", "second.key", "--label", "usb")
    first, second, line = vault.output("key", "ls", "--key-file", "second.key").decode().splitlines()
    assert first.startswith("  1  key file") and second.startswith('* 2  key file "usb"')
    assert line.startswith("Fingerprint: ") and len(line.split(": ")[1].split("-")) == 8


# Replacing


def test_a_replaced_key_file_opens_the_vault_no_more(vault: Home) -> None:
    vault.output("key", "add", "--file", "second.key", "--label", "usb")
    finished = vault.run("key", "replace", "--key", "2", "third.key")
    assert finished.returncode == 0 and b"Created the key file third.key" in finished.stderr
    assert b"vault key rotate" in finished.stdout
    vault.refusal(LOCKED, *GET, "--key-file", "second.key")
    assert vault.output(*GET, "--key-file", "third.key") == b"tok" == vault.get("u.token")
    assert [key["label"] for key in keys(vault)] == ["", "usb"]


def test_the_key_in_use_is_replaced_unless_another_is_named(vault: Home) -> None:
    former = vault.vault.read_bytes()
    report = json.loads(vault.output("key", "replace", "--json", "new.key"))
    assert report == {"key_file": "new.key", "made_key_file": True}
    vault.refusal(LOCKED, *GET)
    assert vault.output(*GET, "--key-file", "new.key") == b"tok"
    # As the command says: a copy from before still opens.
    vault.vault.write_bytes(former)
    assert vault.without_memory().get("u.token") == b"tok"


def test_only_a_key_file_can_be_replaced(vault: Home) -> None:
    vault.output("key", "add", "--recipient", new_identity(vault.folder / "identity"))
    vault.refusal(USAGE, "key", "replace", "--key", "2", "x.key")
    assert not (vault.folder / "x.key").exists(), "nothing is left of what was refused"
    assert [key["kind"] for key in keys(vault)] == ["key-file", "recipient"]


@pytest.mark.in_a_file
@pytest.mark.parametrize("words", [("add", "--file"), ("replace",)])
def test_the_vault_itself_is_no_key_file(vault: Home, words: tuple[str, ...]) -> None:
    before = vault.vault.read_bytes()
    vault.refusal(USAGE, "key", *words, str(vault.vault))
    assert vault.vault.read_bytes() == before and vault.get("u.token") == b"tok"


# Checking


@pytest.mark.in_a_file
def test_a_backup_of_the_key_file_is_checked_and_nothing_is_changed(vault: Home, tmp_path: Path) -> None:
    backup = shutil.copy(vault.key, tmp_path / "backup.key")
    before = {path: path.read_bytes() for path in vault.folder.rglob("*") if path.is_file()}
    output = vault.output("key", "check", str(backup)).decode()
    assert "Key 1 opens the vault: key file" in output and "1 entry checked" in output
    vault.output("key", "check")
    assert {path: path.read_bytes() for path in vault.folder.rglob("*") if path.is_file()} == before
    report = json.loads(vault.output("key", "check", "--json", str(backup)))
    assert report["number"] == 1 and report["kind"] == "key-file" and report["is_in_use"]


def test_a_wrong_backup_of_the_key_file_is_exit_5(vault: Home, tmp_path: Path) -> None:
    other = Home(vault.binary, tmp_path / "other")
    other.set("u.token", b"other")
    torn = private_file(tmp_path / "torn.key", vault.key.read_bytes()[:-3])
    for wrong in (other.key, torn, private_file(tmp_path / "blank", b"\n"), tmp_path / "nothing", tmp_path):
        assert str(wrong) in vault.refusal(LOCKED, "key", "check", str(wrong))


@pytest.mark.parametrize("add", [command, recipient], ids=lambda add: add.__name__)
def test_the_key_that_is_checked_has_to_open_the_vault_itself(
    vault: Home, tmp_path: Path, add: Callable[[Home], list[str]]
) -> None:
    """Another key that would open the vault, on this machine, is no excuse for a wrong backup."""
    options = add(vault)
    other = Home(vault.binary, tmp_path / "other")
    other.set("u.token", b"other")
    for wrong in (other.key, tmp_path / "nothing"):
        assert str(wrong) in vault.refusal(LOCKED, "key", "check", str(wrong), *options)


def test_a_key_is_checked_against_the_whole_vault(vault: Home) -> None:
    vault.set("large", b"x" * 5_000)
    vault.output("compact")
    data = bytearray(vault.vault.read_bytes())
    data[9_000] ^= 1
    vault.vault.write_bytes(data)
    vault.refusal(DAMAGED, "key", "check")


# What someone without a key can do to the table


def add_slot(table: SlotTable) -> None:
    table.slots.append(bytearray(table.slots[1]))


def remove_slot(table: SlotTable) -> None:
    table.slots.pop(1)


def swap_slots(table: SlotTable) -> None:
    table.slots[0], table.slots[1] = table.slots[1], table.slots[0]


def put_another_salt(table: SlotTable) -> None:
    table.slots[1][8:24] = bytes(16)


def put_another_wrapped_key(table: SlotTable) -> None:
    table.slots[1][64:] = bytes(48)


def make_it_of_another_kind(table: SlotTable) -> None:
    table.slots[1][0] = 3


def make_it_of_a_later_kind(table: SlotTable) -> None:
    table.slots[1][0] = 77


def lower_the_cost(table: SlotTable) -> None:
    set_limits(table, 1, 8 << 10)


def raise_the_cost(table: SlotTable) -> None:
    set_limits(table, 4, 64 << 20)


def put_a_cost_out_of_bounds(table: SlotTable) -> None:
    set_limits(table, 1_000_000, 1 << 40)


def set_limits(table: SlotTable, passes: int, memory: int) -> None:
    table.slots[1][PASSES : PASSES + 8] = passes.to_bytes(8, "little")
    table.slots[1][MEMORY : MEMORY + 8] = memory.to_bytes(8, "little")


def put_a_command(table: SlotTable) -> None:
    line = b"touch ran"
    table.slots[1][2:6] = bytes(2) + len(line).to_bytes(2, "little")
    table.parameters = line.ljust(len(table.parameters), b"\0")


CHANGES = [
    add_slot,
    remove_slot,
    swap_slots,
    put_another_salt,
    put_another_wrapped_key,
    make_it_of_another_kind,
    make_it_of_a_later_kind,
    lower_the_cost,
    raise_the_cost,
    put_a_cost_out_of_bounds,
    put_a_command,
]


@pytest.fixture(scope="module")
def with_other_file_template(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A vault with a generated key file, and any other file as its second key."""
    home = Home(binary, tmp_path_factory.mktemp("keys") / "home")
    home.set("u.token", b"tok")
    other_file(home)
    return home


@pytest.fixture
def with_other_file(with_other_file_template: Home, tmp_path: Path) -> Home:
    return with_other_file_template.copy(tmp_path / "copy")


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("memory", [True, False], ids=["with memory", "without memory"])
def test_a_change_to_the_keys_by_someone_without_one_is_damage(
    with_other_file: Home, change: Callable[[SlotTable], None], memory: bool
) -> None:
    home = with_other_file if memory else with_other_file.without_memory()
    table = SlotTable(home.vault)
    change(table)
    table.write()
    before = home.vault.read_bytes()
    for words in (GET, ("verify",), ("set", "u.token"), ("key", "ls"), ("key", "rm", "2"), ("key", "rotate")):
        home.refusal(DAMAGED, *words, stdin=b"new")
    assert home.vault.read_bytes() == before
    assert not (home.folder / "ran").exists()


@pytest.mark.parametrize(
    ("change", "code"), [(lower_the_cost, LOCKED), (raise_the_cost, LOCKED), (put_a_cost_out_of_bounds, DAMAGED)]
)
def test_a_changed_cost_opens_nothing_and_takes_no_longer(
    with_other_file: Home, change: Callable[[SlotTable], None], code: int
) -> None:
    """Nothing authenticates the limits before a slot has opened: they are bounded, and make another key."""
    table = SlotTable(with_other_file.vault)
    change(table)
    table.write()
    with_other_file.refusal(code, *GET, "--key-file", "photo")


@pytest.mark.in_a_file
@pytest.mark.parametrize("count", [0, 17, 0xFFFFFFFF])
def test_a_count_of_keys_out_of_bounds_is_damage(vault: Home, count: int) -> None:
    data = bytearray(vault.vault.read_bytes())
    for offset in (12, 4096 + 12):
        data[offset : offset + 4] = count.to_bytes(4, "little")
    vault.vault.write_bytes(data)
    vault.refusal(DAMAGED, *GET)


@pytest.mark.in_a_file
def test_a_table_that_is_changed_in_the_header_alone_is_damage(vault: Home) -> None:
    vault.output("key", "add", "--file", "second.key")
    sound = vault.vault.read_bytes()
    table = SlotTable(vault.vault)
    remove_slot(table)
    table.write()
    for part in (slice(0, 4096), slice(4096, 8192)):
        changed = bytearray(sound)
        changed[part] = vault.vault.read_bytes()[part]
        home = vault.copy(vault.folder.with_name(f"part-{part.start}"))
        home.vault.write_bytes(changed)
        home.refusal(DAMAGED, "verify")


def test_the_slots_of_an_older_copy_let_no_removed_key_in_again(vault: Home) -> None:
    """A key that was removed was in the header once, under the same data key."""
    vault.output("key", "add", "--file", "second.key")
    older = SlotTable(vault.vault)
    vault.output("key", "rm", "2")
    older.write()
    for home in (vault, vault.without_memory()):
        # What this machine has kept of a database is what it has authenticated: `get` needs no more, and no other key
        # opens it.
        home.refusal(DAMAGED, "verify")
        assert home.run(*GET, "--key-file", "second.key").returncode in (LOCKED, DAMAGED)
