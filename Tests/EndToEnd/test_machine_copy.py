"""The copy of a vault in a database that a machine keeps: its processes complete it together."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from homes import Home
from postgres import Cluster
from test_shared_vault import other_machine


@pytest.fixture
def shared(home: Home, cluster: Cluster, vault_name: str) -> Home:
    return home.with_variables(VAULT_FILE=cluster.url(vault_name))


def copy_words(home: Home) -> str:
    [line] = re.findall(r"Copy here: +(.*)", home.output("--offline", "info").decode())
    return line


def loop(home: Home, line: str) -> subprocess.Popen:
    """A shell that runs `vault` five times, each a process of its own."""
    return subprocess.Popen(
        ["bash", "-c", f'vault() {{ "{home.binary}" "$@"; }}; for n in 1 2 3 4 5; do {line} || exit 1; done'],
        env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("size", [10, 40_000])
def test_eight_writers_and_eight_readers_keep_all(shared: Home, size: int, tmp_path: Path) -> None:
    shared.set("base", b"0")
    home = other_machine(shared, tmp_path / "other")
    running = [loop(home, f"printf %{size}d $n | vault set w{number}/$n") for number in range(8)]
    running += [loop(home, "vault get base && vault ls") for _ in range(8)]
    # Another machine changes and compacts it meanwhile.
    running.append(loop(shared, "vault set other/$n <<<x && vault compact"))
    for process in running:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    names = home.names()
    assert len(names) == 8 * 5 + 6
    # What a compaction elsewhere has replaced is completed by what follows.
    for _ in range(10):
        home.get("base")
    assert ", complete, " in copy_words(home)
    for name in names:
        home.output("--offline", "get", name)
    home.output("--offline", "set", "base", stdin=b"1")
    assert home.get("base") == b"1"


def test_a_get_completes_what_is_missing_bit_by_bit(shared: Home, tmp_path: Path) -> None:
    for number in range(4):
        shared.set(f"n{number}", os.urandom(400_000))
    shared.output("compact")
    home = other_machine(shared, tmp_path / "other")
    missing = []
    for _ in range(8):
        home.get("n0")
        missing.append(copy_words(home))
    assert "incomplete" in missing[0] and ", complete, " in missing[-1]
    for number in range(4):
        assert len(home.output("--offline", "get", f"n{number}")) == 400_000


def test_much_that_is_missing_is_left_to_a_verification(shared: Home, tmp_path: Path) -> None:
    shared.set("large", os.urandom(9 << 20))
    shared.set("a", b"1")
    shared.output("compact")
    home = other_machine(shared, tmp_path / "other")
    before = home.output("get", "a") and copy_words(home)
    assert "incomplete (8.9 MiB missing)" in before
    home.get("a")
    assert copy_words(home).partition(", as of")[0] == before.partition(", as of")[0]
    report = home.run("doctor").stdout.decode()
    assert re.search(r"copy: .*incomplete .*missing.*Complete it with `vault verify`", report, re.DOTALL)
    home.output("verify")
    assert ", complete, " in copy_words(home)
    assert "Complete it" not in home.run("doctor").stdout.decode()
    assert len(home.output("--offline", "get", "large")) == 9 << 20
