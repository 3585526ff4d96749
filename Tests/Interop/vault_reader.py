#!/usr/bin/env python3
"""Reads a vault file, verifies all of it, and prints its names and values (base64).

Exit codes: 0 read, 5 locked (the key file does not open it), 6 damaged or of a later version of the format, 8 a file
cannot be read.
"""

import argparse
import base64
import json
import sys
from pathlib import Path

from reading.errors import Damaged, Locked, Newer
from reading.vault import EarlierValue, OpenEntry, Vault, open_image, open_vault

__all__ = ["Damaged", "Locked", "Newer", "OpenEntry", "Vault", "described", "open_image", "open_vault"]


def described(entry: OpenEntry) -> dict:
    """An entry as the test vectors write it; what is not there is left out."""

    def value(version: OpenEntry | EarlierValue) -> dict:
        content = base64.b64encode(version.value).decode()
        return {"value_base64": content, "kind": version.kind, "modified": version.modified}

    description = value(entry) | {"created": entry.created, "attributes": entry.attributes}
    if entry.expiry is not None:
        description["expiry"] = entry.expiry
    if entry.earlier:
        description["earlier"] = [value(version) for version in entry.earlier]
    return description


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vault", type=Path)
    parser.add_argument("--key-file", type=Path, required=True)
    parser.add_argument("--json", action="store_true", help="print everything known of each name")
    options = parser.parse_args()
    try:
        vault = open_vault(options.vault, options.key_file.read_bytes())
    except (Locked, Damaged, Newer) as failure:
        print(f"vault_reader: {failure}", file=sys.stderr)
        return 5 if isinstance(failure, Locked) else 6
    except OSError as failure:
        print(f"vault_reader: {failure}", file=sys.stderr)
        return 8
    if options.json:
        entries = {name: described(entry) for name, entry in vault.entries.items()}
        print(json.dumps({"entries": entries, "removed": vault.removed}, ensure_ascii=False, indent=2))
    else:
        for name, entry in vault.entries.items():
            print(name, base64.b64encode(entry.value).decode(), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
