"""Keys of a vault as a person adds them, and the table of key slots in the header as an attacker changes it."""

import json
import subprocess
from pathlib import Path

from homes import Home
from layout import HEADER_SIZE, number
from terminals import Terminal

SLOTS, SLOT_SIZE = 256, 112
PARAMETERS, PARAMETERS_END, HINT = 2048, 4032, 4064
PASSES, MEMORY = 24, 32  # in a slot
PASSPHRASE = "five random words in a row"
PROMPT = "Passphrase of "


def keys(home: Home, *options: str) -> list[dict]:
    return json.loads(home.output("key", "ls", "--json", *options))["keys"]


def fingerprint(home: Home, *options: str) -> str:
    return json.loads(home.output("key", "ls", "--json", *options))["fingerprint"]


def add_passphrase(home: Home, *options: str, passphrase: str = PASSPHRASE) -> bytes:
    """Adds it at a terminal, and returns all that was shown."""
    with Terminal(home, "key", "add", "--passphrase", *options) as terminal:
        terminal.answer("New passphrase (not shown): ", passphrase + "\n")
        terminal.answer("Repeat the passphrase: ", passphrase + "\n")
        code, _ = terminal.end()
        assert code == 0, terminal.everything
        return terminal.everything


def with_passphrase(home: Home, *words: str, passphrase: str = PASSPHRASE) -> bytes:
    """Standard output of a command that asks for the passphrase."""
    with Terminal(home, *words, stdout=subprocess.PIPE) as terminal:
        terminal.answer(PROMPT, passphrase + "\n")
        code, _ = terminal.end()
        assert code == 0, terminal.everything
        return terminal.process.stdout.read()


def lose_key_file(home: Home) -> Path:
    """Takes the key file away, and returns where it is now."""
    return home.key.rename(home.folder / "taken.key")


def private_file(path: Path, content: bytes) -> Path:
    path.touch(0o600)
    path.write_bytes(content)
    return path


def new_identity(path: Path) -> str:
    """Lets age make an identity, and returns its public key."""
    subprocess.run(["age-keygen", "-o", path], check=True, capture_output=True)
    return subprocess.run(["age-keygen", "-y", path], check=True, capture_output=True, text=True).stdout.strip()


# The header


class SlotTable:
    """The slots in a header, to be changed without a key."""

    def __init__(self, vault: Path) -> None:
        self.vault = vault
        data = vault.read_bytes()
        count = number(data, 12, 4)
        self.slots = [bytearray(data[start : start + SLOT_SIZE]) for start in slot_offsets(count)]
        self.parameters = data[PARAMETERS:PARAMETERS_END]

    def write(self) -> None:
        """Puts the slots into the header and its copy. The MAC stays: it takes the data key to make another."""
        data = bytearray(self.vault.read_bytes())
        data[12:16] = len(self.slots).to_bytes(4, "little")
        data[SLOTS:PARAMETERS] = b"".join(self.slots).ljust(PARAMETERS - SLOTS, b"\0")
        data[PARAMETERS:PARAMETERS_END] = self.parameters
        data[HEADER_SIZE : HEADER_SIZE + HINT] = data[:HINT]
        self.vault.write_bytes(data)


def slot_offsets(count: int) -> range:
    return range(SLOTS, SLOTS + count * SLOT_SIZE, SLOT_SIZE)
