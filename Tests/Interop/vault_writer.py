#!/usr/bin/env python3
"""Writes all test vectors into a folder: for each a .vault file, its .key file, and what to expect as .json."""

import argparse
from pathlib import Path

from writing.catalogue import MODULES


def write_vectors(folder: Path) -> int:
    """Replaces the vectors in `folder` and tells how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    for ending in ("vault", "key", "json"):
        for old in folder.glob(f"*.{ending}"):
            old.unlink()
    vectors = [vector for module in MODULES for vector in module.catalogue.vectors]
    names = [vector.name for vector in vectors]
    if len(set(names)) != len(names):
        raise ValueError("two vectors have the same name")
    for vector in vectors:
        vector.write(folder)
    return len(vectors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    print(f"{write_vectors(options.folder)} vectors in {options.folder}")
