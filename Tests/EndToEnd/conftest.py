"""Fixtures of the end-to-end tests."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from canaries import prepared
from executables import executable
from histories import History, twenty_entries
from homes import AS_NOBODY, NOBODY, Home


def pytest_configure() -> None:
    """Lets the tested programs begin with the default actions of signals: a job in the background, or `nohup`, ignores
    some, and they would inherit that. A signal that is handled here is not ignored by them."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture(scope="session")
def binary() -> str:
    return executable("VAULT_BINARY", "the built `vault`")


@pytest.fixture(scope="session")
def benchmark_tool() -> str:
    return executable("VAULT_BENCHMARK", "the built `VaultBenchmark`")


@pytest.fixture(scope="session")
def example_program() -> str:
    return executable("VAULT_EXAMPLE", "the built `VaultExample`")


@pytest.fixture
def home(binary: str, tmp_path: Path) -> Home:
    return Home(binary, tmp_path / "home")


@pytest.fixture
def ordinary(binary: str) -> Iterator[Home]:
    """The home of a user who is not root, with a copy of the command where that user can reach it."""
    folder = Path(tempfile.mkdtemp(prefix="vault-test-"))
    try:
        home = Home(shutil.copy(binary, folder), folder / "home")
        if os.geteuid() == 0:
            folder.chmod(0o755)
            os.chown(home.folder, NOBODY, NOBODY)
            home.through = AS_NOBODY
        yield home
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def twenty_template(binary: str, tmp_path_factory: pytest.TempPathFactory) -> History:
    return twenty_entries(binary, tmp_path_factory.mktemp("twenty") / "home")


@pytest.fixture
def twenty(twenty_template: History, tmp_path: Path) -> History:
    """A copy of the vault with twenty entries; its memory knows the newest state."""
    return History(twenty_template.home.copy(tmp_path / "twenty"), twenty_template.states)


@pytest.fixture
def stored(binary: str, tmp_path: Path) -> Home:
    """A home with one value."""
    return prepared(binary, tmp_path / "stored")
