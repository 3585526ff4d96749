"""The example program: a result that one process stores, the next one shows."""

import plistlib
import re
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from homes import Home, told


@pytest.fixture
def example(example_program: str, tmp_path: Path) -> Home:
    return Home(example_program, tmp_path / "home")


def preferences(home: Home) -> Path:
    return home.folder / ".config/vault/preferences/VaultExample.plist"


def test_what_the_first_start_has_computed_the_second_one_shows(example: Home) -> None:
    first, second = example.output().decode(), example.output().decode()
    result = "below 100000, the longest chain starts at 77031 and takes 350 steps\n"
    assert first == f"computed: {result}"
    assert re.fullmatch(r"from last time \(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\): " + re.escape(result), second)


def test_other_tools_read_what_it_stored(example: Home) -> None:
    example.output()
    kept = plistlib.loads(preferences(example).read_bytes())["example.longestChain"]
    assert (kept["limit"], kept["start"], kept["steps"]) == (100_000, 77_031, 350)
    assert isinstance(kept["computed"], (datetime, dict)), "a date, or its form with a fraction of a second"


def test_a_result_that_cannot_be_read_is_an_error_and_stays(example: Home) -> None:
    example.output()
    preferences(example).write_bytes(b"no property list")
    finished: subprocess.CompletedProcess = example.run()
    assert finished.returncode == 1 and b"damaged" in finished.stdout, told(finished)
    assert preferences(example).read_bytes() == b"no property list"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_what_is_printed_where_nothing_is_open_gets_into_no_file(example: Home, closed: str) -> None:
    example.output()
    kept = preferences(example).read_bytes()
    example.started_through("sh", "-c", f'"$0" {closed}').run()
    assert preferences(example).read_bytes() == kept
    assert example.output().startswith(b"from last time")
