"""Fixtures of the interop tests."""

import os
from pathlib import Path

import pytest

from interop_support import Command


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """The built command, whose path is in VAULT_BINARY."""
    binary = os.environ.get("VAULT_BINARY", "")
    if not os.access(binary, os.X_OK) or not Path(binary).is_file():
        pytest.fail(f"VAULT_BINARY has to be the path of the built `vault`; it is {binary!r}", pytrace=False)
    return Command(str(Path(binary).absolute()), tmp_path)
