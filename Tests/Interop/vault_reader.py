#!/usr/bin/env python3
"""Reads a vault file, verifies all of it, and prints its names and values (base64).

It opens by a key file, a passphrase, both, or the X25519 identity of a recipient.

Exit codes: 0 read, 5 locked (nothing that was given opens it), 6 damaged or of a later version of the format, 8 a file
cannot be read.
"""

import argparse
import base64
import json
import sys
from dataclasses import asdict
from pathlib import Path

from reading.errors import Damaged, Locked, Newer
from reading.members import Author
from reading.vault import EarlierValue, OpenEntry, RemovedEntry, Vault, open_image, open_vault

__all__ = ["Damaged", "Locked", "Newer", "OpenEntry", "Vault", "described", "open_image", "open_vault"]


def described(entry: OpenEntry | RemovedEntry) -> dict:
    """An entry as the test vectors write it; what is not there is left out."""

    description: dict = {"modified": entry.modified} | described_author(entry.author)
    if isinstance(entry, OpenEntry):
        description |= described_value(entry) | {"created": entry.created, "attributes": entry.attributes}
        if entry.expiry is not None:
            description["expiry"] = entry.expiry
    if entry.earlier:
        description["earlier"] = [described_earlier(version) for version in entry.earlier]
    return description


def described_earlier(version: EarlierValue) -> dict:
    expiry = {} if version.expiry is None else {"expiry": version.expiry}
    return described_value(version) | {"attributes": version.attributes} | expiry | described_author(version.author)


def described_author(author: Author | None) -> dict:
    return {} if author is None else {"author": asdict(author)}


def described_value(version: OpenEntry | EarlierValue) -> dict:
    content = base64.b64encode(version.value).decode()
    return {"value_base64": content, "kind": version.kind, "modified": version.modified}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vault", type=Path)
    parser.add_argument("--key-file", type=Path)
    parser.add_argument("--passphrase-file", type=Path, help="a passphrase; one end of a line behind it is left out")
    parser.add_argument("--identity", type=Path, help="a file of one line, AGE-SECRET-KEY-1...")
    parser.add_argument("--fingerprint", type=bytes.fromhex, help="of the vault, in hex; needed with an identity")
    parser.add_argument("--json", action="store_true", help="print everything known of each name")
    options = parser.parse_args()
    try:
        key_file = options.key_file.read_bytes() if options.key_file else None
        passphrase = options.passphrase_file.read_text("utf-8").removesuffix("\n") if options.passphrase_file else None
        identity = options.identity.read_text("ascii").strip() if options.identity else None
        vault = open_vault(options.vault, key_file, passphrase, identity, options.fingerprint)
    except (Locked, Damaged, Newer) as failure:
        print(f"vault_reader: {failure}", file=sys.stderr)
        return 5 if isinstance(failure, Locked) else 6
    except OSError as failure:
        print(f"vault_reader: {failure}", file=sys.stderr)
        return 8
    if options.json:
        entries = {name: described(entry) for name, entry in vault.entries.items()}
        removed = {name: described(entry) for name, entry in vault.removed.items()}
        print(json.dumps({"entries": entries, "removed": removed}, ensure_ascii=False, indent=2))
    else:
        for name, entry in vault.entries.items():
            print(name, base64.b64encode(entry.value).decode(), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
