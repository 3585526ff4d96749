"""Measures a vault in a database; see Tools/bench-database.

Usage: bench_database.py BINARIES FLOOR [--large]
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


def row(label: str, ours: float, floor: float, unit: str = "ms", more: str = "") -> None:
    factor = 1000 if unit == "ms" else 1
    print(f"{label:46} {ours * factor:10.2f} {floor * factor:10.2f} {unit:4} {ours / floor:6.2f} x  {more}", flush=True)


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
            ("a Unix socket", self.cluster.url("near"), self.conninfo()),
            ("TLS", self.cluster.tls_url("far"), self.conninfo(**tls)),
            ("pgbouncer", self.pooler.url("pooled"), self.conninfo(port=self.pooler.port)),
        ):
            at = self.at(url)
            seconds([self.vault, "set", "a"], at, value)
            seconds([self.vault, "get", "a"], at)
            ours, floor = medians(
                60, lambda: seconds([self.vault, "get", "a"], at), lambda: seconds([self.floor, "get", conninfo]))
            row(f"get, {name}", ours, floor, more="aim 1.5")
            ours, floor = medians(
                60, lambda: seconds([self.vault, "set", "a"], at, value),
                lambda: seconds([self.floor, "set", conninfo]))
            row(f"set, {name}", ours, floor, more="aim 1.5")
        file = self.at(str(self.folder / "file.vault"))
        kept = self.at(self.cluster.url("offline"))
        for at in (file, kept):
            seconds([self.vault, "set", "a"], at, value)
            seconds([self.vault, "get", "a"], at)
        ours, floor = medians(
            60, lambda: seconds([self.vault, "get", "--offline", "a"], kept),
            lambda: seconds([self.vault, "get", "a"], file))
        row("get --offline, beside a file's", ours, floor, more="aim 0.5 ms more")

    def large_values(self) -> None:
        value = os.urandom(16 << 20)
        at = self.at(self.cluster.url("values"))
        seconds([self.vault, "set", "a"], at, b"x")
        ours, floor = medians(
            7, lambda: seconds([self.vault, "set", "big", "--exact"], at, value),
            lambda: seconds([self.floor, "set-large", self.conninfo()], stdin=value))
        row("set of 16 MiB", ours, floor, more="aim 2")
        cache = self.folder / ".cache"
        for name, prepare in (("first get of 16 MiB", lambda: shutil.rmtree(cache)), ("get of 16 MiB", lambda: None)):
            ours, floor = medians(
                7, lambda: seconds([self.vault, "get", "big"], at, prepare=prepare),
                lambda: seconds([self.floor, "get-large", self.conninfo()]))
            row(name, ours, floor, more="aim 2")

    def load(self, processes: int, count: int) -> None:
        at = self.at(self.cluster.url("load"))
        seconds([self.vault, "init"], at)
        key = str(self.folder / ".config/vault/default.key")
        ours = self.together([
            [self.example, at["VAULT_FILE"], key, f"p{number}", str(count)] for number in range(processes)])
        floor = self.together([[self.floor, "load", self.conninfo(), str(count), "300"]] * processes)
        total = processes * count
        row(f"{processes} processes of {count} sets", total / max(ours), total / max(floor), "/s",
            f"aim 0.5; slowest {max(ours) / statistics.mean(ours):.2f} x the mean, aim 2")
        entries = subprocess.run([self.vault, "ls"], env=at, capture_output=True, check=True).stdout.count(b"\n")
        assert entries == total, entries
        seconds([self.vault, "verify"], at)

    def threads(self) -> None:
        at = self.at(self.cluster.url("threads"))
        seconds([self.vault, "init"], at)
        key = str(self.folder / ".config/vault/default.key")
        records, entries = 200, 10_000
        ours = seconds([self.example, at["VAULT_FILE"], key, "t", str(entries), "100"], at)
        floor = seconds([self.floor, "load", self.conninfo(), str(records), str(8 << 10)])
        row("100 threads, entries, beside 50 in 8 KiB", entries / ours, 50 * records / floor, "/s", "aim 0.5")

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

    def million(self) -> None:
        file, key = str(self.folder / "million.vault"), str(self.folder / "million.key")
        seconds([self.filler, "fill", file, key, "1000000"], self.environment)
        url = self.cluster.url("million")
        seconds([self.vault, "--key-file", key, "clone", file, url], self.environment)
        names = subprocess.run(
            [self.vault, "--key-file", key, "--vault", file, "ls"], env=self.environment, check=True,
            capture_output=True).stdout.split()
        proxy = Proxy(self.cluster)
        flights = []
        for number in range(5):
            cold = self.environment | {"XDG_CACHE_HOME": str(self.folder / f"cold{number}")}
            proxy.forget()
            taken = seconds(
                [self.vault, "--key-file", key, "--vault", proxy.url("million"), "get",
                 names[(number * 2 + 1) * len(names) // 11].decode()], cold)
            flights.append(proxy.flights)
        proxy.close()
        print(f"first get of a machine at 1,000,000 entries: {max(flights)} flights, aim 5; {taken * 1000:.0f} ms "
              "through the proxy")


def main() -> None:
    binaries, floor, *options = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir="/tmp"))
    bench = Bench(Path(binaries), Path(floor), folder)
    try:
        print(f"{'':46} {'vault':>10} {'floor':>10}")
        bench.single()
        bench.large_values()
        bench.threads()
        bench.load(100, 100)
        if "--large" in options:
            bench.million()
    finally:
        bench.end()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
