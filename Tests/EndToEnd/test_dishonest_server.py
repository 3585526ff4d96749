"""What a server that lies can do to the command: refuse, and no more. It costs bounded memory and time."""

import os
import random
import sys
import time
from dataclasses import dataclass

import pytest

from homes import Home
from liars import Liar
from postgres import Cluster

# More are run by hand: the variable has their number, and optionally the first of them behind a colon.
RUNS, _, FIRST = os.environ.get("VAULT_LIES", "60").partition(":")
# In MiB. A command that has heard no lie takes about 30.
MOST_MEMORY = 128
# With a given time of one: a command asks several times, and looks afterwards what has become of a change.
MOST_SECONDS = 15


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster().create()
    yield cluster
    cluster.remove()


@dataclass
class Finished:
    code: int
    output: bytes
    errors: str
    # The most that it had, in MiB, and how long it took, in seconds.
    memory: int
    seconds: float


# A process has at least as much as the one that has started it: this one is small.
MEASURING = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:], timeout=90)
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10))
sys.exit(code)
"""


def bounded(home: Home, *words: str, stdin: bytes) -> Finished:
    """Runs a command and measures it alone."""
    start = time.monotonic()
    memory = home.folder / "memory"
    finished = home.started_through(sys.executable, "-S", "-c", MEASURING, str(memory)).run(*words, stdin=stdin)
    seconds = time.monotonic() - start
    return Finished(finished.returncode, finished.stdout, finished.stderr.decode(), int(memory.read_text()), seconds)


@pytest.mark.parametrize("seed", range(int(FIRST or 0), int(FIRST or 0) + int(RUNS)))
def test_a_lie_is_refused_in_time(home: Home, cluster: Cluster, vault_name: str, seed: int) -> None:
    generator = random.Random(seed)
    honest = home.with_variables(VAULT_FILE=cluster.url(vault_name))
    honest.set("a", b"before")
    if generator.random() < 0.5:
        honest.set("large", generator.randbytes(600_000))
    liar = Liar(cluster, generator)
    try:
        # Some find a copy on this machine, and some know nothing yet.
        cache = home.folder / f"cache-{seed}" if generator.random() < 0.5 else home.folder / ".cache"
        through = honest.with_variables(VAULT_FILE=liar.url(vault_name), XDG_CACHE_HOME=str(cache))
        liar.lie, liar.number = generator.choice(Liar.LIES), generator.choice([0, 1, 2, 13, *range(14, 40)])
        words, value = generator.choice([(("get", "a"), b""), (("set", "a"), b"after"), (("verify",), b"")])
        finished = bounded(through, *words, "--timeout", "1", stdin=value)
    finally:
        liar.close()
    told = (seed, liar.lie, liar.number, words, liar.sent >> 20, finished)
    assert finished.code in {0, 1, 3, 6, 7, 8, 9}, told
    assert finished.memory < MOST_MEMORY and finished.seconds < MOST_SECONDS, told
    cluster.wait_until_idle()
    stored = honest.get("a")
    if words[0] == "get":
        assert stored == b"before" and finished.output == (stored if finished.code == 0 else b""), told
    elif words[0] == "set":
        assert stored == b"after" if finished.code == 0 else stored in {b"before", b"after"}, told
    honest.output("verify")
