"""Sweeps faults over calls and changes over bytes, and prints how many were tried."""

import argparse
import multiprocessing
import multiprocessing.pool
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

import call_faults
import changes
import damage
from cases import KINDS, Case, Result
from homes import Home
from judge import Ready, state_of
from postgres import Cluster
from scenarios import BY_NAME, Scenario
from shared_homes import SharedHome
from specimens import SPECIMENS, Specimen, build
from volumes import volume

SUBJECTS = [*BY_NAME, *SPECIMENS]


@dataclass
class Worker:
    """A process's own folder, and what it has prepared there."""

    binary: str
    folder: Path
    full: bool
    has_volumes: bool
    cluster: Cluster | None
    mounts: ExitStack = field(default_factory=ExitStack)
    prepared: dict[str, Ready] = field(default_factory=dict)
    specimens: dict[str, Specimen] = field(default_factory=dict)

    def scenario(self, name: str, has_volume: bool = False) -> Ready:
        key = f"{name}{' in a volume' if has_volume else ''}"
        if key not in self.prepared:
            self.prepared[key] = self.prepare(name, self.volume() if has_volume else self.folder / "calls", key)
        return self.prepared[key]

    def prepare(self, name: str, folder: Path, key: str) -> Ready:
        scenario = BY_NAME[name]
        shutil.rmtree(folder / "home", ignore_errors=True)
        folder.mkdir(exist_ok=True)
        home = self.home(scenario, folder / "home")
        scenario.prepare(home)
        template = home.copy(self.folder / f"template {key}")
        image = home.vault.read_bytes() if home.vault.exists() else None
        if scenario.accepting:
            home.output(*scenario.accepting)
        old = {} if name == "salvage" else state_of(home)
        home.restore(template)
        output = home.output(*scenario.words, stdin=scenario.stdin)
        return Ready(home, template, old, image, call_faults.calls_of(home, template, scenario), output)

    def home(self, scenario: Scenario, folder: Path) -> Home:
        if not scenario.is_shared:
            return Home(self.binary, folder, dict(scenario.variables))
        name = f"{self.folder.name}-{scenario.name}"
        url = self.cluster.url(name, host="127.0.0.1", sslmode="disable", application_name=name)
        return SharedHome(self.binary, folder, {"VAULT_FILE": url}, cluster=self.cluster, name=name)

    def volume(self) -> Path:
        folder = self.folder / "volume"
        if not folder.exists():
            self.mounts.enter_context(volume(folder, "4m"))
        return folder

    def specimen(self, name: str) -> Specimen:
        if name not in self.specimens:
            self.specimens[name] = build(name, Home(self.binary, self.folder / name))
        return self.specimens[name]


# Each process has its own.
worker: Worker


def start(binary: str, folder: str, full: bool, has_volumes: bool, cluster: Cluster | None) -> None:
    global worker
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    own = Path(tempfile.mkdtemp(dir=folder))
    worker = Worker(binary, own, full, has_volumes, cluster)


def enumerate_cases(request: tuple[str, frozenset[str], int]) -> tuple[list[Case], int]:
    """The cases of a subject, and the number of calls that it makes."""
    name, kinds, seed = request
    chance = None if worker.full else Random(f"{seed} {name}")
    if name in SPECIMENS:
        return list(changes.cases_of(worker.specimen(name), set(kinds), chance)), 0
    ready = worker.scenario(name)
    return list(call_faults.cases_of(ready, name, set(kinds), chance, worker.has_volumes)), len(ready.calls)


def run_case(item: tuple[int, Case]) -> Result:
    index, case = item
    try:
        if case.subject in SPECIMENS:
            damage.run(worker.specimen(case.subject), case, index, worker.full)
        else:
            ready = worker.scenario(case.subject, case.what.startswith("room:"))
            call_faults.run(ready, BY_NAME[case.subject], case)
    except (AssertionError, subprocess.TimeoutExpired, UnicodeError) as violation:
        return Result(case, f"{type(violation).__name__}: {violation}")
    except Exception:
        return Result(case, traceback.format_exc())
    return Result(case)


def can_mount(folder: Path) -> bool:
    try:
        with volume(folder / "tried", "64k"):
            return True
    except pytest.skip.Exception as reason:
        print(f"without small file systems: {reason}")
        return False


def chosen_cases(pool: multiprocessing.pool.Pool, arguments: argparse.Namespace) -> tuple[list[Case], int]:
    if arguments.case:
        return [Case.parsed(arguments.case)], 0
    requests = [(name, frozenset(arguments.faults), arguments.seed) for name in arguments.subjects]
    found, calls = [], 0
    for some, count in pool.imap(enumerate_cases, requests):
        found += some
        calls += count
    return found, calls


def cluster_for(subjects: list[str]) -> Cluster | None:
    """A server for all processes, if a subject needs one."""
    is_needed = any(name in BY_NAME and BY_NAME[name].is_shared for name in subjects)
    return Cluster().create() if is_needed else None


def sweep(arguments: argparse.Namespace, folder: str, cluster: Cluster | None) -> int:
    initial = (arguments.binary, folder, arguments.full or bool(arguments.case), can_mount(Path(folder)), cluster)
    context = multiprocessing.get_context("fork")
    began = time.monotonic()
    tried: Counter[str] = Counter()
    violations = 0
    with context.Pool(arguments.jobs, start, initial) as pool:
        cases, calls = chosen_cases(pool, arguments)
        for result in pool.imap_unordered(run_case, enumerate(cases), chunksize=8):
            tried[result.case.kind] += 1
            if result.violation is not None:
                violations += 1
                print(f"ERROR: {result.case}\n    {result.violation}", flush=True)
                print(f"    Repeat it with: Tools/sweep --case {result.case}", flush=True)
            done = sum(tried.values())
            if done % 5_000 == 0:
                print(f"{done} of {len(cases)}, violations {violations}, {time.monotonic() - began:.0f} s", flush=True)
        pool.close()
        pool.join()
    counts = ", ".join(f"{title} {tried[kind]}" for kind, title in KINDS.items() if tried[kind])
    print(f"seed {arguments.seed}, {len(arguments.subjects)} subjects, {time.monotonic() - began:.0f} s")
    print(f"calls {calls}, {counts}, violations {violations}")
    return 1 if violations else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Tools/sweep", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"one of {', '.join(SUBJECTS)} (default: all)")
    parser.add_argument("--faults", default=",".join(KINDS), metavar="KIND,...", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--full", action="store_true", help="every case; takes hours")
    parser.add_argument("--case", metavar="CASE", help="repeats one case")
    parser.add_argument("--list", action="store_true", help="names the subjects")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what the quick form tries")
    arguments = parser.parse_args()
    arguments.faults = arguments.faults.split(",")
    if arguments.list:
        print("\n".join(SUBJECTS))
        parser.exit()
    if unknown := [name for name in arguments.subjects if name not in SUBJECTS]:
        parser.error(f"there is no subject {', '.join(unknown)}")
    if unknown := [kind for kind in arguments.faults if kind not in KINDS]:
        parser.error(f"there is no fault {', '.join(unknown)}")
    if arguments.case:
        arguments.subjects = [Case.parsed(arguments.case).subject]
    arguments.subjects = arguments.subjects or SUBJECTS
    arguments.binary = os.environ["VAULT_BINARY"]
    return arguments


def main() -> int:
    arguments = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    memory = "/dev/shm"
    where = memory if os.access(memory, os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="vault-sweep.", dir=where)
    cluster = cluster_for(arguments.subjects)
    try:
        return sweep(arguments, folder, cluster)
    finally:
        if cluster:
            cluster.remove()
        for mounted in Path(folder).glob("*/volume"):
            subprocess.run(["umount", "--lazy", mounted], stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
