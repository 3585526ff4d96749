"""Tries the same attacks on the vault and on other stores of secrets, and prints a table of what became of them.

Usage: compare.py [--only NAME,...] [--samples N] [--absent NAME=REASON]... [--write FILE | --check FILE]
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import accidents
import secrecy
import tampering
import theft
from keepassxc import KeePassXC
from keyring import GnomeKeyring
from openpgp import Gopass, Pass
from peer import Peer
from plain import PlainFile
from outcomes import is_harm
from scene import Scene, prepared
from sqlcipher import SQLCipher
from table import Column, differences, placed, table
from vault import Vault

CONTROL = "plain"
SAMPLES = 200
SLOWEST = ("secret-tool", "keepassxc-cli")
PEERS: dict[str, Callable[[Path], Peer]] = {
    "vault": Vault,
    "pass": Pass,
    "gopass": Gopass,
    "keepassxc-cli": KeePassXC,
    "secret-tool": GnomeKeyring,
    "sqlcipher": SQLCipher,
    CONTROL: PlainFile,
}
ATTACKS: dict[str, Callable[[Scene], str]] = {
    "Names, to a thief": theft.names,
    "Number of entries, to a thief": theft.number,
    "Length of a value, to a thief": theft.length,
    "One byte changed": tampering.changed_byte,
    "Truncated": tampering.truncated,
    "Parts exchanged": tampering.exchanged,
    "Entry or part removed": tampering.removed,
    "One entry rolled back": tampering.rolled_back_entry,
    "Whole store rolled back": tampering.rolled_back_store,
    "`kill -9` during a set": accidents.killed,
    "20 sets at once": accidents.at_once,
    "Full disk": accidents.full_disk,
    "Flushed when set returns": accidents.flushed,
    "Secret in plain during a set": secrecy.secret_in_plain,
}


def main() -> int:
    options = arguments()
    absent = dict(word.split("=", 1) for word in options.absent)
    work = Path(tempfile.mkdtemp(prefix="peers-"))
    try:
        with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            # The slowest first.
            names = sorted(options.only, key=lambda name: name not in SLOWEST)
            tasks = {name: pool.submit(measured, name, work, options.samples, absent.get(name)) for name in names}
            columns = [tasks[name].result() for name in options.only]
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(table(list(ATTACKS), columns), end="")
    return judged(columns, options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=lambda words: words.split(","), default=list(PEERS))
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--absent", action="append", default=[])
    parser.add_argument("--write", type=Path)
    parser.add_argument("--check", type=Path)
    options = parser.parse_args()
    # What an attack does rarely is not met in few tries.
    if (options.write or options.check) and (options.only != list(PEERS) or options.samples < SAMPLES):
        parser.error("--write and --check need all the stores and all the tries")
    return options


def measured(name: str, work: Path, samples: int, absent: str | None) -> Column:
    """Tries every attack on one store. What cannot be tried is told in the column."""
    if absent is not None:
        return Column(name, f"{name}<br>not measured", reasons=[absent])
    column, peer = Column(name, f"{name}<br>not measured"), PEERS[name](work / name)
    try:
        column.head = f"{peer.title}<br>{peer.version()}"
        scene = prepared(peer, samples)
        for attack, tried in ATTACKS.items():
            began = time.monotonic()
            try:
                column.cells[attack] = tried(scene)
            except Exception as error:
                column.reasons.append(f"{attack}: {error}")
            result = column.cells.get(attack, "not measured")
            print(f"{name}: {attack}: {result} ({time.monotonic() - began:.0f} s)", file=sys.stderr)
    except Exception as error:
        column.reasons.append(str(error))
    finally:
        peer.stop()
    return column


def judged(columns: list[Column], options: argparse.Namespace) -> int:
    """An attack that does the control no harm proves nothing of the others."""
    control = next((column for column in columns if column.name == CONTROL), None)
    if control:
        powerless = [attack for attack in ATTACKS if not is_harm(control.cells.get(attack, ""))]
        if powerless:
            print(f"These attacks do no harm to the control, so they prove nothing: {powerless}", file=sys.stderr)
            return 1
    text = table(list(ATTACKS), [column for column in columns if column is not control])
    if options.write:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
        dated = f"Measured on {time.strftime('%Y-%m-%d')}, {system}:\n\n{text}"
        options.write.write_text(placed(options.write.read_text(), dated))
    if options.check:
        found = differences(options.check.read_text(), text)
        print(*found, sep="\n", file=sys.stderr)
        return 1 if found else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
