"""100,000 entries: everything works, and a look-up reads little of the file."""

import json
import os
import re
import resource
import subprocess
from pathlib import Path

import pytest

from homes import Home
from tracing import trace

COUNT = 100_000
DAMAGED = 6


def name(index: int) -> str:
    return f"entry-{index:014}"


@pytest.fixture(scope="module")
def large_template(binary: str, benchmark_tool: str, tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(binary, tmp_path_factory.mktemp("large") / "home")
    subprocess.run([benchmark_tool, "fill", home.vault, home.key, str(COUNT)], env=home.environment, check=True)
    return home


@pytest.fixture
def large(large_template: Home, tmp_path: Path) -> Home:
    return large_template.copy(tmp_path / "large")


def bytes_read(home: Home, *arguments: str, stdin: bytes = b"") -> int:
    """How many bytes of the vault file a run reads."""
    calls = trace(home, *arguments, stdin=stdin, names=("read", "pread64", "readv", "preadv", "mmap"))
    of_the_vault = [call for call in calls if "default.vault>" in call.line]
    assert of_the_vault and not [call for call in of_the_vault if call.name == "mmap"]
    return sum(int(re.search(r"= (\d+)$", call.line)[1]) for call in of_the_vault)


def test_get_set_rm_mv_and_exists_work(large: Home) -> None:
    assert large.get(name(0)) == large.get(name(COUNT - 1)) == b"v" * 40
    large.set(name(77_777), b"new")
    large.set("another", b"one more")
    large.output("rm", name(5))
    large.output("mv", name(6), "moved")
    assert large.get(name(77_777)) == b"new" and large.get("another") == b"one more"
    assert large.get("moved") == b"v" * 40
    large.refusal(3, "get", name(5))
    assert large.run("exists", name(6)).returncode == 3
    assert len(large.names()) == COUNT


def test_ls_gives_all_names_in_order(large: Home) -> None:
    assert large.names() == [name(index) for index in range(COUNT)]
    assert large.output("ls", "entry-0000000001234").decode().split() == [name(12_340 + digit) for digit in range(10)]
    assert len(json.loads(large.output("ls", "--json"))["items"]) == COUNT


LISTS = pytest.mark.parametrize(
    "words", [("ls",), ("ls", "-l"), ("ls", "--json"), ("find", "entry"), ("find", "--json", "entry")], ids=" ".join
)


@LISTS
def test_a_list_takes_no_memory_for_its_entries(large_template: Home, words: tuple[str, ...]) -> None:
    """The names alone would take more than is allowed."""
    limit = 8 << 20
    finished = large_template.run(
        *words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    )
    assert finished.returncode == 0 and finished.stdout.count(b"entry-") == COUNT


@LISTS
def test_a_list_shows_one_moment_whatever_happens_while_it_is_written(large: Home, words: tuple[str, ...]) -> None:
    whole = large.output(*words)
    process = large.start(*words, bufsize=0)
    start = process.stdout.read(1)
    # It waits now, since a pipe holds far less than the list.
    large.set(name(COUNT - 1), b"new and longer")
    large.output("rm", name(5), name(COUNT - 2))
    large.output("compact")
    rest, said = process.communicate()
    assert (process.returncode, said) == (0, b"") and start + rest == whole


@LISTS
def test_a_list_that_breaks_off_tells_so(large: Home, words: tuple[str, ...]) -> None:
    whole = large.output(*words)
    size = len(large.vault.read_bytes().rstrip(b"\0"))
    with large.vault.open("r+b") as file:
        # In the index, which lies behind the values.
        file.seek(size - (1 << 20))
        file.write(b"damage")
    finished = large.run(*words)
    assert finished.returncode == DAMAGED and b"damaged" in finished.stderr
    assert whole.startswith(finished.stdout) and len(finished.stdout) < len(whole)
    # The long form looks at all entries for the widths of its columns before it writes the first.
    assert bool(finished.stdout) == ("-l" not in words)


def test_verify_and_compact_work(large: Home) -> None:
    large.set("another", b"one more")
    assert json.loads(large.output("verify", "--json"))["entries"] == COUNT + 1
    large.output("compact")
    assert json.loads(large.output("verify", "--json"))["entries"] == COUNT + 1
    assert large.get("another") == b"one more"


def test_get_does_not_read_the_whole_file(large: Home) -> None:
    size = large.vault.stat().st_size
    assert size > 10 << 20
    for index in (0, COUNT // 2, COUNT - 1):
        assert bytes_read(large, "get", name(index)) < 512 << 10


def test_set_exists_and_ls_of_few_do_not_read_the_whole_file(large: Home) -> None:
    assert bytes_read(large, "set", name(4711), stdin=b"new") < 512 << 10
    assert bytes_read(large, "exists", name(4711)) < 512 << 10
    assert bytes_read(large, "ls", "entry-00000000012345") < 512 << 10


def test_get_does_not_read_the_whole_file_with_a_long_tail_behind_it(large: Home) -> None:
    for index in range(600):
        large.set(name(index * 100), b"new %d" % index)
    assert large.get(name(100)) == b"new 1" and large.get(name(59_900)) == b"new 599"
    assert bytes_read(large, "get", name(100)) < 512 << 10
    assert bytes_read(large, "get", name(101)) < 512 << 10
    large.output("verify")


def test_one_change_costs_one_small_append(large: Home) -> None:
    before = large.vault.read_bytes()
    large.set(name(4711), b"new")
    after = large.vault.read_bytes()
    assert after[: len(before)].rstrip(b"\0").startswith(before.rstrip(b"\0"))
    assert len(after.rstrip(b"\0")) - len(before.rstrip(b"\0")) < 1024


def test_many_large_values_come_back(home: Home) -> None:
    values = {f"value-{index}": os.urandom(4 << 20) for index in range(6)}
    for key, value in values.items():
        home.set(key, value)
    for key in ("value-1", "value-3"):
        values[key] = os.urandom(1 << 20)
        home.set(key, values[key])
    assert home.values() == values
    home.output("verify")
    assert home.vault.stat().st_size < 60 << 20, "what was replaced is let go in time"


def test_one_value_set_again_and_again_does_not_grow_the_file_for_ever(home: Home) -> None:
    for turn in range(60):
        home.set("u.token", b"%d" % turn * 10_000)
    assert home.get("u.token") == b"59" * 10_000
    assert home.vault.stat().st_size < 1 << 20
