"""Measures a vault in a database beside a C program on libpq that does the same without sealing anything.

The PostgreSQL server is its own, in a temporary folder. Prints rows for Tools/bench, their fields parted by bars.

Usage: bench_database.py BINARIES FLOOR ENTRIES
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from postgres import Cluster, Pooler
from proxies import Proxy

FLOOR_TABLES = """
CREATE TABLE floor_head (sequence int8);
INSERT INTO floor_head VALUES (0);
CREATE TABLE floor_record (sequence int8, piece bigserial, bytes bytea, PRIMARY KEY (sequence, piece));
ALTER TABLE floor_record ALTER COLUMN bytes SET STORAGE EXTERNAL
"""


def seconds(words: list[str], environment: dict[str, str] | None = None, stdin: bytes = b"", prepare=None) -> float:
    if prepare:
        prepare()
    began = time.perf_counter()
    done = subprocess.run(words, env=environment, input=stdin, capture_output=True)
    taken = time.perf_counter() - began
    assert done.returncode == 0, (words, done.stderr)
    return taken


def row(label: str, ours: str, other: str, measured: float, unit: str, aim: float) -> None:
    print(label, ours, other, measured, unit, aim, sep="|", flush=True)


def beside(label: str, ours: float, floor: float, aim: float) -> None:
    times = f"{ours * 1000:.2f} ms", f"{floor * 1000:.2f} ms"
    row(f"database, {label}, beside a C program", *times, ours / floor, "x", aim)


def medians(count: int, *calls) -> list[float]:
    """Of calls that take turns: a machine that slows down slows all of them."""
    times = [[call() for call in calls] for _ in range(count)]
    return [statistics.median(column) for column in zip(*times)]


class Bench:
    def __init__(self, binaries: Path, floor: Path, folder: Path):
        self.vault, self.example, self.filler = (str(binaries / name) for name in (
            "vault-shared", "VaultSharedExample", "VaultBenchmark"))
        self.floor = str(floor)
        self.folder = folder
        self.cluster = Cluster(has_tls=True).create()
        self.pooler = Pooler(self.cluster)
        self.cluster.sql(FLOOR_TABLES)
        self.environment = {"HOME": str(folder), "PATH": os.environ["PATH"]}

    def end(self) -> None:
        self.pooler.stop()
        self.cluster.remove()

    def conninfo(self, **options) -> str:
        options = {"host": self.cluster.folder, "port": self.cluster.port} | options
        return " ".join(f"{name}={value}" for name, value in options.items()) + " user=vault dbname=postgres"

    def at(self, url: str) -> dict[str, str]:
        return self.environment | {"VAULT_FILE": url}

    def single(self) -> None:
        value = b"x" * 100
        tls = {"host": "localhost", "sslmode": "verify-full", "sslrootcert": self.cluster.certificate}
        for name, url, conninfo in (
            ("over TLS", self.cluster.tls_url("far"), self.conninfo(**tls)),
            ("through pgbouncer", self.pooler.url("pooled"), self.conninfo(port=self.pooler.port)),
        ):
            at = self.at(url)
            seconds([self.vault, "set", "a"], at, value)
            seconds([self.vault, "get", "a"], at)
            ours, floor = medians(
                60, lambda: seconds([self.vault, "get", "a"], at), lambda: seconds([self.floor, "get", conninfo]))
            beside(f"`vault get` {name}", ours, floor, 1.5)
            ours, floor = medians(
                60, lambda: seconds([self.vault, "set", "a"], at, value),
                lambda: seconds([self.floor, "set", conninfo]))
            beside(f"`vault set` {name}", ours, floor, 1.5)

    def large_values(self) -> None:
        value = os.urandom(16 << 20)
        at = self.at(self.cluster.url("values"))
        seconds([self.vault, "set", "a"], at, b"x")
        ours, floor = medians(
            7, lambda: seconds([self.vault, "set", "big", "--exact"], at, value),
            lambda: seconds([self.floor, "set-large", self.conninfo()], stdin=value))
        beside("`vault set` of 16 MiB", ours, floor, 2)
        cache = self.folder / ".cache"
        ours, floor = medians(
            7, lambda: seconds([self.vault, "get", "big"], at, prepare=lambda: shutil.rmtree(cache)),
            lambda: seconds([self.floor, "get-large", self.conninfo()]))
        beside("first `vault get` of 16 MiB", ours, floor, 2)

    def processes(self, processes: int, count: int) -> None:
        at = self.at(self.cluster.url("load"))
        seconds([self.vault, "init"], at)
        key = str(self.folder / ".config/vault/default.key")
        ours = self.together([
            [self.example, at["VAULT_FILE"], key, f"p{number}", str(count)] for number in range(processes)])
        floor = self.together([[self.floor, "load", self.conninfo(), str(count), "300"]] * processes)
        beside(f"{processes} processes of {count} sets each", max(ours), max(floor), 2)
        slowest = max(ours) / statistics.mean(ours)
        row("database, the slowest of these processes, beside the mean", "", "", slowest, "x", 2)
        entries = subprocess.run([self.vault, "ls"], env=at, capture_output=True, check=True).stdout.count(b"\n")
        assert entries == processes * count, entries
        seconds([self.vault, "verify"], at)

    def threads(self) -> None:
        at = self.at(self.cluster.url("threads"))
        seconds([self.vault, "init"], at)
        key = str(self.folder / ".config/vault/default.key")
        records, entries = 200, 10_000
        ours = seconds([self.example, at["VAULT_FILE"], key, "t", str(entries), "100"], at)
        floor = seconds([self.floor, "load", self.conninfo(), str(records), str(8 << 10)])
        # The program writes as many records as the entries need if 50 of them share one.
        beside("a set by one of 100 threads", ours / entries, floor / (50 * records), 2)

    def together(self, commands: list[list[str]]) -> list[float]:
        """Runs programs at once, and returns how long each took."""
        began = time.perf_counter()
        running = {
            subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL).pid for words in commands}
        taken = []
        while running:
            process, status = os.wait()
            assert process in running and status == 0, status
            running.remove(process)
            taken.append(time.perf_counter() - began)
        return taken

    def first_get(self, count: int) -> None:
        file, key = str(self.folder / "large.vault"), str(self.folder / "large.key")
        seconds([self.filler, "fill", file, key, str(count)], self.environment)
        seconds([self.vault, "--key-file", key, "clone", file, self.cluster.url("large")], self.environment)
        names = subprocess.run(
            [self.vault, "--key-file", key, "--vault", file, "ls"], env=self.environment, check=True,
            capture_output=True).stdout.split()
        proxy = Proxy(self.cluster)
        flights = []
        for number in range(5):
            cold = self.environment | {"XDG_CACHE_HOME": str(self.folder / f"cold{number}")}
            proxy.forget()
            name = names[(number * 2 + 1) * len(names) // 11].decode()
            seconds([self.vault, "--key-file", key, "--vault", proxy.url("large"), "get", name], cold)
            flights.append(proxy.flights)
        proxy.close()
        row(f"database, a machine's first `vault get` of {count:,} entries", "", "", max(flights), "round trips", 5)


def main() -> None:
    binaries, floor, entries = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir="/tmp"))
    bench = Bench(Path(binaries), Path(floor), folder)
    try:
        bench.single()
        bench.large_values()
        bench.threads()
        bench.processes(100, 100)
        bench.first_get(int(entries))
    finally:
        bench.end()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
