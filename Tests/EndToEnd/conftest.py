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
from postgres import Cluster
from shared_homes import SharedHome


# With `all`, each test that may run with a file and with a database runs with both; otherwise, only some tests do.
IS_FULL = os.environ.get("VAULT_TEST_STORES") == "all"


def pytest_configure(config: pytest.Config) -> None:
    """Lets the tested programs begin with the default actions of signals: a job in the background, or `nohup`, ignores
    some, and they would inherit that. A signal that is handled here is not ignored by them."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    for marker in (
        "both_paths: `home` has its vault in a file, and once more in a database",
        "both_paths_in_full: the same, with VAULT_TEST_STORES=all",
        "in_a_file: what is tested is of files alone",
    ):
        config.addinivalue_line("markers", marker)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    markers = {marker.name for marker in metafunc.definition.iter_markers()}
    is_on_both = "both_paths" in markers or IS_FULL and "both_paths_in_full" in markers
    if is_on_both and "in_a_file" not in markers and "kind_of_location" in metafunc.fixturenames:
        metafunc.parametrize("kind_of_location", ["file", "database"], indirect=True)


@pytest.fixture(scope="session")
def binary() -> str:
    return executable("VAULT_BINARY", "the built `vault`")


@pytest.fixture(scope="session")
def benchmark_tool() -> str:
    return executable("VAULT_BENCHMARK", "the built `VaultBenchmark`")


@pytest.fixture(scope="session")
def example_program() -> str:
    return executable("VAULT_EXAMPLE", "the built `VaultExample`")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server for all tests of this process that do it no harm."""
    cluster = Cluster().create()
    yield cluster
    cluster.remove()


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """A server of the test's own."""
    cluster = Cluster().create()
    yield cluster
    cluster.remove()


@pytest.fixture
def vault_name(request: pytest.FixtureRequest) -> str:
    """The name in a database of a vault of the test's own."""
    return f"v{abs(hash(request.node.nodeid)) % 10**12}"


@pytest.fixture
def kind_of_location(request: pytest.FixtureRequest) -> str:
    """What the test's vault is in: a file, unless `pytest_generate_tests` says otherwise."""
    return getattr(request, "param", "file")


@pytest.fixture
def fresh_home(request: pytest.FixtureRequest, kind_of_location: str, binary: str, tmp_path: Path) -> Home:
    if kind_of_location == "file":
        return Home(binary, tmp_path / "home")
    cluster, name = (request.getfixturevalue(fixture) for fixture in ("cluster", "vault_name"))
    return SharedHome(binary, tmp_path / "home", cluster=cluster, name=name)


@pytest.fixture
def home(fresh_home: Home) -> Home:
    return fresh_home


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
