"""Small file systems of our own: full, or read-only."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def volume(folder: Path, size: str) -> Iterator[Path]:
    """A file system in memory at a folder; the test is skipped, with mount's words, where none may be mounted."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", folder], check=True)


def fill(folder: Path) -> Path:
    """A file that takes all the room there is."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 4096)
            except OSError:
                return filler
