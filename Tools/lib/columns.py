#!/usr/bin/env python3
"""Checks that no comment of the Swift files is wider than 120 columns. swift-format breaks code there, never a comment.

Usage: columns.py FOLDER...
"""

import sys
from pathlib import Path

COLUMNS = 120


def main(folders: list[str]) -> int:
    found = False
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.swift")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.lstrip().startswith("//") and len(line) > COLUMNS:
                print(f"{path}:{number}: the comment has {len(line)} columns. Break it at {COLUMNS}.")
                found = True
    if not found:
        print(f"no comment is wider than {COLUMNS} columns")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
