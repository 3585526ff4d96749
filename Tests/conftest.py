"""A test that starts a program which is not installed is skipped, and fails in the full run."""

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

LINES = (Path(__file__).parent / "programs.txt").read_text().splitlines()
PACKAGES = dict(line.split() for line in LINES if not line.startswith("#"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(program...): the test starts these through a shell or the command")


def lacks(program: str) -> None:
    """Skips the test, with the package of the program as the reason."""
    reason = f"{program} is not installed; it is in the package {PACKAGES[program]}"
    if os.environ.get("VAULT_TESTS_COMPLETE") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def watched() -> Generator[None, object, object]:
    try:
        return (yield)
    except FileNotFoundError as error:
        program = os.path.basename(os.fsdecode(error.filename or ""))
        if program in PACKAGES and not shutil.which(program):
            lacks(program)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if not shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin"):
                lacks(program)
    return (yield from watched())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from watched())
