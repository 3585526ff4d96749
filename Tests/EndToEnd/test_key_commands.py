"""Keys that a command prints, for devices such as TPMs, and keys from a descriptor."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from homes import Home
from key_slots import PARAMETERS, SlotTable, keys, lose_key_file, private_file
from terminals import Terminal, on_terminal

pytestmark = pytest.mark.both_paths_in_full

USAGE, LOCKED, IO = 2, 5, 8
GET = ("get", "u.token")


@pytest.fixture
def vault(home: Home) -> Home:
    home.set("u.token", b"tok")
    return home


def printing(home: Home, content: bytes = b"what a device prints") -> str:
    """A command that prints this, and leaves a trace that it ran."""
    private_file(home.folder / "device", content)
    return f"touch {home.folder}/ran; cat {home.folder}/device"


def has_run(home: Home) -> bool:
    ran = (home.folder / "ran").exists()
    (home.folder / "ran").unlink(missing_ok=True)
    return ran


# The option


def test_the_output_of_a_command_is_used_as_a_key_file_is(vault: Home) -> None:
    command = printing(vault, lose_key_file(vault).read_bytes())
    assert vault.output(*GET, "--key-command", command) == b"tok"
    assert vault.output("key", "check", "--key-command", command)
    vault.output("set", "u.token", "--key-command", command, stdin=b"new")
    assert vault.output(*GET, "--key-file", "taken.key") == b"new"


def test_the_value_from_standard_input_is_not_the_commands(vault: Home) -> None:
    command = printing(vault, vault.key.read_bytes())
    vault.output("set", "u.token", "--key-command", f"cat >stolen; {command}", stdin=b"the value")
    assert vault.get("u.token") == b"the value"
    assert (vault.folder / "stolen").read_bytes() == b""


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("exit 3", "status 3"),
        ("no-such-program", "status 127"),
        ("kill -9 $$", "signal 9"),
        ("true", "empty"),
        ("echo", "blank"),
        ("", "command"),
        ("echo vault-key-1-torn", '"echo vault-key-1-torn"'),
        ("head -c 3000000 /dev/zero | tr '\\0' x", "1 MiB"),
    ],
)
def test_a_command_that_gives_no_key_is_exit_5_and_says_why(vault: Home, command: str, told: str) -> None:
    finished = vault.run(*GET, f"--key-command={command}")
    sentence = finished.stderr.decode().splitlines()[-1]
    assert finished.returncode in ((USAGE, LOCKED) if command == "" else (LOCKED,)) and finished.stdout == b"", finished
    assert sentence.startswith("vault: ") and told in sentence
    assert "The key file the output" not in sentence, "a sentence"


def test_an_output_that_opens_nothing_is_not_blamed_on_a_key_file(vault: Home) -> None:
    sentence = vault.refusal(LOCKED, *GET, "--key-command", "echo another secret")
    assert str(vault.key) not in sentence and "echo another secret" in sentence


def test_what_the_command_says_to_a_person_is_shown(vault: Home) -> None:
    with Terminal(vault, *GET, "--key-command", f"echo touch the key >&2; cat {vault.key}") as terminal:
        terminal.expect("touch the key")
        assert terminal.end()[0] == 0


def test_a_vault_that_is_created_with_a_command_opens_by_it(home: Home) -> None:
    command = printing(home)
    home.output("init", "--key-command", command)
    assert not home.key.exists()
    home.output("set", "u.token", stdin=b"tok")
    assert home.get("u.token") == b"tok", "who gave the command has agreed to it"
    assert [key["kind"] for key in keys(home)] == ["command"]


def test_no_key_file_is_named_where_a_command_gives_the_key(home: Home) -> None:
    created = home.run("init", "--key-command", printing(home))
    assert created.returncode == 0 and b"Created a new vault" in created.stderr
    assert str(home.key).encode() not in created.stderr


# The slot


def test_a_command_of_the_vault_is_run_only_where_a_person_has_agreed(vault: Home) -> None:
    command = printing(vault)
    vault.output("key", "add", "--command", command)
    lose_key_file(vault)
    has_run(vault)
    assert vault.get("u.token") == b"tok" and has_run(vault), "where it was added"
    elsewhere = vault.with_variables(XDG_STATE_HOME=str(vault.folder / "another-machine"))
    for words in (GET, ("ls",), ("set", "u.token"), ("verify",)):
        sentence = elsewhere.refusal(LOCKED, *words, stdin=b"new")
        assert command in sentence
        assert not has_run(vault)
    assert vault.without_memory().run(*GET).returncode == LOCKED and not has_run(vault)
    assert elsewhere.output(*GET, "--key-command", command) == b"tok"
    has_run(vault)
    assert elsewhere.get("u.token") == b"tok" and has_run(vault), "from now on"


def test_it_is_said_how_to_agree_to_a_command(vault: Home) -> None:
    vault.output("key", "add", "--command", printing(vault))
    lose_key_file(vault)
    assert "--key-command" in vault.without_memory().refusal(LOCKED, *GET)


@pytest.mark.in_a_file
def test_another_command_than_the_one_agreed_to_is_not_run(vault: Home) -> None:
    """Whoever can write the file can put any command into its header."""
    command = printing(vault)
    vault.output("key", "add", "--command", command)
    lose_key_file(vault)
    has_run(vault)
    table = SlotTable(vault.vault)
    evil = command.replace("ran", "ram")
    table.parameters = table.parameters.replace(command.encode(), evil.encode())
    table.write()
    for one in (vault, vault.without_memory()):
        assert one.run(*GET).returncode != 0
    assert not has_run(vault) and not (vault.folder / "ram").exists()


@pytest.mark.in_a_file
def test_a_command_in_a_message_cannot_command_the_terminal(vault: Home) -> None:
    command = printing(vault)
    vault.output("key", "add", "--command", command)
    lose_key_file(vault)
    table = SlotTable(vault.vault)
    table.parameters = table.parameters.replace(b"touch", b"\x1b[2Jt")
    table.write()
    shown = on_terminal(vault, *GET)
    assert b"approved" in shown and b"\x1b" not in shown


def test_a_command_writes_no_line_of_its_own(vault: Home) -> None:
    """Whoever can write the file can put any text there, and so could a member."""
    command = printing(vault) + "\n# vault: The vault is intact."
    vault.output("key", "add", "--command", command)
    lose_key_file(vault)
    shown = vault.output("key", "ls", "--key-command", command).decode()
    assert r"\n# vault: The vault is intact." in shown and len(shown.splitlines()) == 3, shown
    sentence = vault.without_memory().refusal(LOCKED, *GET)
    assert r"\n# vault: The vault is intact." in sentence and len(sentence.splitlines()) == 1, sentence


def test_commands_that_swift_takes_for_equal_are_told_apart(vault: Home) -> None:
    """To the shell, U+037E is no semicolon."""
    command = printing(vault)
    vault.output("key", "add", "--command", command)
    lose_key_file(vault)
    elsewhere = vault.without_memory()
    has_run(vault)
    assert b"has not been approved" in elsewhere.run(*GET, "--key-command", command.replace(";", "\u037e")).stderr
    assert not has_run(vault), "the one in the vault has another text"
    assert elsewhere.output(*GET, "--key-command", command) == b"tok"


def test_who_waits_for_a_command_is_told_once_what_for(vault: Home) -> None:
    command = f"sleep 6; cat {lose_key_file(vault)}"
    with Terminal(vault, *GET, "--key-command", command) as terminal:
        terminal.expect(f'Waiting for the command "{command}". Answer its prompt if it shows one, or press Ctrl-C.')
        assert terminal.end()[0] == 0 and terminal.everything.count(b"Waiting for") == 1
    assert b"Waiting for" not in vault.run(*GET, "--key-command", command).stderr


def test_a_key_file_is_enough_and_the_command_is_not_run_then(vault: Home) -> None:
    vault.output("key", "add", "--command", printing(vault))
    has_run(vault)
    assert vault.get("u.token") == b"tok" and not has_run(vault)


def test_a_command_that_fails_when_it_is_added_adds_no_key(vault: Home) -> None:
    before = vault.vault.read_bytes()
    for command in ("exit 3", "true", "echo"):
        vault.refusal(LOCKED, "key", "add", "--command", command)
    assert vault.vault.read_bytes() == before


def test_a_command_that_fails_leaves_the_other_keys(vault: Home) -> None:
    vault.output("key", "add", "--command", printing(vault))
    taken = lose_key_file(vault)
    (vault.folder / "device").unlink()
    finished = vault.run(*GET)
    assert finished.returncode == LOCKED and b"status 1" in finished.stderr
    assert vault.output(*GET, "--key-file", str(taken)) == b"tok"


def test_a_rotation_runs_the_command_again(vault: Home) -> None:
    vault.output("key", "add", "--command", printing(vault), "--label", "card")
    has_run(vault)
    vault.output("key", "rotate")
    assert has_run(vault)
    lose_key_file(vault)
    assert vault.get("u.token") == b"tok"


def test_the_longest_command_fits_and_a_longer_one_is_refused(vault: Home) -> None:
    area = 1984
    device = private_file(vault.folder / "device", b"what a device prints")
    command = f"cat {device} #"
    longest = command.ljust(area, "x")
    vault.refusal(USAGE, "key", "add", "--command", longest + "x")
    vault.output("key", "add", "--command", longest)
    assert vault.vault.read_bytes()[PARAMETERS : PARAMETERS + area] == longest.encode()
    assert keys(vault)[1]["command"] == longest
    lose_key_file(vault)
    assert vault.get("u.token") == b"tok"


# Stand-ins for devices


def test_a_device_that_wants_to_be_touched(vault: Home) -> None:
    """As a FIDO2 key with hmac-secret does: 32 bytes, if somebody touches it."""
    device = vault.folder / "fido2-stand-in"
    device.write_text(
        "#!/usr/bin/env python3\n"
        "import hashlib, os, sys\n"
        "print('Touch the device.', file=sys.stderr)\n"
        "if not os.path.exists(os.path.dirname(__file__) + '/touched'):\n"
        "    sys.exit('Nobody touched it.')\n"
        "sys.stdout.buffer.write(hashlib.sha256(b'the secret of the device').digest())\n"
    )
    device.chmod(0o700)
    touch = vault.folder / "touched"
    touch.touch()
    vault.output("key", "add", "--command", str(device), "--label", "fido2")
    lose_key_file(vault)
    finished = vault.run(*GET)
    assert finished.stdout == b"tok" and finished.stderr == b"Touch the device.\n"
    touch.unlink()
    finished = vault.run(*GET)
    assert finished.returncode == LOCKED and b"Nobody touched it." in finished.stderr


@pytest.fixture
def tpm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A TPM in software, and the variable that leads the tools to it."""
    port = free_ports()
    state = tmp_path / "tpm"
    state.mkdir()
    paths = [f"type=tcp,port={port}", f"type=tcp,port={port + 1}"]
    process = subprocess.Popen(
        ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={state}", "--server", paths[0], "--ctrl", paths[1]]
        + ["--flags", "not-need-init,startup-clear"]
    )
    try:
        variables = {"TPM2TOOLS_TCTI": f"swtpm:host=localhost,port={port}"}
        deadline = time.monotonic() + 20
        while subprocess.run(["tpm2_getrandom", "1"], env=os.environ | variables, capture_output=True).returncode:
            assert time.monotonic() < deadline and process.poll() is None, "the TPM does not start"
            time.sleep(0.05)
        yield variables
    finally:
        process.kill()
        process.wait()


def free_ports() -> int:
    """The first of two."""
    for port in range(20_000 + os.getpid() % 20_000, 60_000):
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("localhost", port))
                second.bind(("localhost", port + 1))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


@pytest.mark.needs("tpm2_unseal")
def test_a_key_file_sealed_by_a_tpm_opens_the_vault_while_the_tpm_is_there(vault: Home, tpm: dict[str, str]) -> None:
    home = vault.with_variables(**tpm)
    folder = vault.folder / "sealed"
    folder.mkdir()

    def tool(*words: str, stdin: bytes = b"") -> None:
        ran = subprocess.run(words, env=os.environ | tpm, input=stdin, capture_output=True, cwd=folder)
        assert ran.returncode == 0, ran.stderr

    home.output("key", "add", "--file", "new.key")
    home.output("key", "rm", "2")
    flush = ("tpm2_flushcontext", "-t")
    tool("tpm2_createprimary", "-c", "primary")
    tool(*flush)
    text = (vault.folder / "new.key").read_bytes().splitlines()[-1]
    tool("tpm2_create", "-C", "primary", "-i", "-", "-u", "public", "-r", "private", stdin=text)
    tool(*flush)
    tool("tpm2_load", "-C", "primary", "-u", "public", "-r", "private", "-c", "sealed")
    tool(*flush)
    (vault.folder / "new.key").unlink()
    home.output("key", "add", "--command", f"tpm2_unseal -c {folder}/sealed", "--label", "tpm")
    tool(*flush)
    assert keys(home)[1]["cost"] is None, "a generated key needs no Argon2id"
    lose_key_file(vault)
    assert home.get("u.token") == b"tok"
    elsewhere = vault.with_variables(TPM2TOOLS_TCTI="swtpm:host=localhost,port=1")
    finished = elsewhere.run(*GET)
    assert finished.returncode == LOCKED and b"failed" in finished.stderr


# A descriptor


def with_descriptor(home: Home, content: bytes, *words: str, **options) -> subprocess.CompletedProcess[bytes]:
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
        os.close(writing)
        return home.run(*words, "--key-fd", str(reading), pass_fds=[reading], **options)
    finally:
        os.close(reading)


def test_the_key_is_read_from_a_descriptor(vault: Home) -> None:
    key = lose_key_file(vault).read_bytes()
    assert with_descriptor(vault, key, *GET).stdout == b"tok"
    assert with_descriptor(vault, key, "set", "u.token", stdin=b"new").returncode == 0
    assert with_descriptor(vault, key, *GET).stdout == b"new"
    assert with_descriptor(vault, key, "key", "check").returncode == 0


@pytest.mark.parametrize(("content", "told"), [(b"", b"empty"), (b"\n", b"blank"), (b"another passphrase", b"does not open")])
def test_a_wrong_key_from_a_descriptor_is_exit_5(vault: Home, content: bytes, told: bytes) -> None:
    finished = with_descriptor(vault, content, *GET)
    assert finished.returncode == LOCKED and told in finished.stderr, finished
    assert os.fsencode(vault.key) not in finished.stderr, "the key file is not what was used"
    assert b"another passphrase" not in finished.stderr


@pytest.mark.parametrize(("number", "code"), [("99", IO), ("x", USAGE), ("-1", USAGE), ("", USAGE), ("1.5", USAGE)])
def test_what_is_no_descriptor_is_refused(vault: Home, number: str, code: int) -> None:
    vault.refusal(code, *GET, f"--key-fd={number}")


def test_a_key_is_never_taken_from_the_environment(vault: Home) -> None:
    """Other programs of the user, and what they start, see the environment."""
    text = lose_key_file(vault).read_text()
    names = ("VAULT_KEY", "VAULT_KEY_FILE", "VAULT_KEY_COMMAND", "VAULT_PASSPHRASE", "VAULT_PASSWORD", "VAULT_IDENTITY")
    names += ("VAULT_KEY_FD", "VAULT_KEY_CONTENTS", "AGE_IDENTITY")
    for name in names:
        for value in (text, text.splitlines()[-1], f"cat {vault.folder}/taken.key"):
            finished = vault.with_variables(**{name: value}).run(*GET)
            assert finished.returncode in (USAGE, LOCKED) and finished.stdout == b"", (name, finished)


def test_the_report_of_a_key_from_a_command(vault: Home) -> None:
    report = json.loads(vault.output("key", "add", "--command", printing(vault), "--label", "card", "--json"))
    assert (report["kind"], report["label"], report["number"]) == ("command", "card", 2)
    assert report["command"].startswith("touch ") and report["recipient"] is None
    assert "cat" in vault.output("key", "ls").decode()
