#!/usr/bin/env python3
"""Checks that imports in Sources flow downwards only, and that nothing imports all of Foundation.

All of Foundation would bring ICU and its data into the static executable. Only Sealing calls libsodium,
only PropertyList expat, only OneTimeCode nettle, and only VaultShared libpq.
"""

import re
import sys
from pathlib import Path

# Each module may import those before it.
ORDER = [
    "CLinux",
    "CSodium",
    "CExpat",
    "CNettle",
    "CPostgres",
    "CVaultTesting",
    "CVaultCommand",
    "LinuxSystem",
    "PropertyList",
    "PlainStores",
    "Sealing",
    "Age",
    "Formats",
    "OneTimeCode",
    "SealedFormat",
    "SealedLog",
    "Vault",
    "VaultAccount",
    "VaultTesting",
    "VaultCommand",
    "VaultExecutable",
    "VaultShared",
    "VaultSharedExecutable",
]
# Modules that only these may import.
ALONE = {
    "CSodium": {"Sealing"},
    "CExpat": {"PropertyList"},
    "CNettle": {"OneTimeCode"},
    "CPostgres": {"VaultShared"},
    "VaultShared": {"VaultSharedExecutable"},
    "PropertyList": {"Formats", "PlainStores"},
}

IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?(\w+)"
)


def complaints(sources: Path):
    """Yields one sentence for each import that breaks a rule."""
    for module in sorted(path.name for path in sources.iterdir() if path.is_dir()):
        if module not in ORDER:
            yield f"{sources / module}: a new module; name its place in the order in Tools/lib/layers.py"
    for file in sorted(sources.rglob("*.swift")):
        module = file.relative_to(sources).parts[0]
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = IMPORT.match(line)
            imported = found and found.group(1)
            where = f"{file}:{number}"
            if imported == "Foundation":
                yield f"{where}: imports all of Foundation; FoundationEssentials is what the executable may link"
            elif imported in ALONE and module not in ALONE[imported]:
                yield f"{where}: {module} imports {imported}; only {', '.join(sorted(ALONE[imported]))} may"
            elif imported in ORDER and module in ORDER and ORDER.index(imported) >= ORDER.index(module):
                yield f"{where}: {module} imports {imported}, which is not below it"


if __name__ == "__main__":
    found = list(complaints(Path(sys.argv[1])))
    print("\n".join(found) or "imports flow downwards")
    sys.exit(bool(found))
