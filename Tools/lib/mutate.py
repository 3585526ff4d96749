#!/usr/bin/env python3
"""Runs the mutants of Tests/Mutants: mutate.py run|list|quick [NAME...]. Tools/mutate prepares what it needs."""

import fnmatch
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants import ListError, Mutant, Mutants

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build/mutants"
# More at once would make each other slow, and a test that waits could fail for that alone.
JOBS = 2
# Of the judges without a mutant, in seconds. With one, three times what its judge took then counts as a hang.
PATIENCE = 1_200
SHORTEST_PATIENCE = 120

LEFT_OUT = {".build", ".git"}
FAILED_TEST = re.compile(r"recorded an issue")
TESTS_RUN = re.compile(r"Test run with ([1-9]\d*) tests?")


def main(mode: str, patterns: list[str]) -> int:
    mutants = Mutants.read(ROOT)
    if complaints := list(mutants.complaints()):
        raise ListError("\n".join(["the lists do not fit the project:", *complaints]))
    chosen = selected(mutants.all, patterns)
    match mode:
        case "quick":
            print(f"{len(mutants.all)} mutants fit the sources, SECURITY.md and the tests")
            return 0
        case "list":
            for mutant in chosen:
                judges = [mutant.tests, f"VaultSimulator {mutant.simulator}" if mutant.simulator else ""]
                judges.append(f"the traces of seeds {mutant.traces}" if mutant.traces else "")
                print(f"{mutant.name} (Sources/{mutant.file}, VAULT_MUTANT={mutant.number})")
                print(f"    {mutant.reason}\n    judges: {'; '.join(filter(None, judges))}")
            return 0
    copy(mutants)
    built = build()
    return run(built, chosen, check_without_mutants(built, chosen))


def selected(mutants: list[Mutant], patterns: list[str]) -> list[Mutant]:
    for pattern in patterns:
        if not fnmatch.filter([mutant.name for mutant in mutants], pattern):
            raise ListError(f"there is no mutant {pattern}")
    return [m for m in mutants if not patterns or any(fnmatch.fnmatch(m.name, pattern) for pattern in patterns)]


# The copy


def copy(mutants: Mutants) -> None:
    """Brings the copy of the project up to date. A file that is the same keeps its time, so that it is not built anew."""
    target = SCRATCH / "source"
    changed = {Path("Sources", path): text.encode() for path, text in mutants.sources().items()}
    kept = {target / path for path in changed}
    for path in changed:
        write(target / path, changed[path])
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        for name in files:
            path = Path(folder, name).relative_to(ROOT)
            kept.add(target / path)
            if path not in changed:
                write(target / path, Path(folder, name).read_bytes())
                shutil.copymode(Path(folder, name), target / path)
    for path in [path for path in target.rglob("*") if path.is_file() and path not in kept]:
        path.unlink()


def write(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def build() -> Path:
    """Builds the copy, and returns the folder of the executables."""
    began = time.monotonic()
    command = ["swift", "build", "--build-tests", "--package-path", SCRATCH / "source", "--scratch-path", SCRATCH / "build"]
    subprocess.run(command, check=True)
    shown = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True)
    print(f"built in {minutes(time.monotonic() - began)}", flush=True)
    return Path(shown.stdout.strip())


# The judges


def commands(built: Path, mutants: list[Mutant]) -> list[list[str]]:
    """Returns the commands of the judges. Tests are run by their executable: `swift test` takes seconds to start it."""
    [bundle] = built.glob("*.xctest")
    tests = sorted({test for mutant in mutants for test in mutant.tests.split("|") if test})
    filters = [f"--filter=(^|[.]){re.escape(test)}([/(]|$)" for test in tests]
    simulations = sorted({mutant.simulator for mutant in mutants if mutant.simulator})
    simulator = str(built / "VaultSimulator")
    traces = sorted({mutant.traces for mutant in mutants if mutant.traces})
    return [
        *([[str(bundle), "--testing-library", "swift-testing", *filters]] if tests else []),
        *([simulator, *arguments.split()] for arguments in simulations),
        *([str(ROOT / "Tests/Models/traces.py"), "simulate", simulator, seeds] for seeds in traces),
    ]


def judge(command: list[str], number: int, patience: float) -> str:
    """Runs a judge with a mutant on, 0 for none. Returns how it noticed; nothing if it did not."""
    with tempfile.TemporaryDirectory(prefix="vault-mutant-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            command,
            cwd=SCRATCH / "source",
            env=os.environ | {"VAULT_MUTANT": str(number), "NO_COLOR": "1", "TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # A group of its own: what it has started ends with it.
            start_new_session=True,
        )
        try:
            return verdict(process, lines(process), time.monotonic() + patience)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def lines(process: subprocess.Popen[str]) -> "queue.Queue[str | None]":
    """Reads the output on a thread of its own, so that a judge that is silent can be given up. None is its end."""
    found: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            found.put(line)
        found.put(None)

    threading.Thread(target=read, daemon=True).start()
    return found


def verdict(process: subprocess.Popen[str], output: "queue.Queue[str | None]", deadline: float) -> str:
    is_test = "--testing-library" in process.args
    text = ""
    while True:
        try:
            line = output.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            return "it hung"
        if line is None:
            break
        text += line
        # The first failure is enough.
        if FAILED_TEST.search(line):
            return line.strip()
    status = process.wait()
    if status < 0:
        return f"it crashed: {signal.strsignal(-status)}"
    if not is_test and status not in (0, 1):
        raise ListError(f"{' '.join(process.args)} ended with {status}:\n{text}")
    if is_test and status == 0 and not TESTS_RUN.search(text):
        raise ListError(f"no test ran: {' '.join(process.args)}")
    if status == 0:
        return ""
    said = text.strip().splitlines() or ["it failed"]
    # The simulator's first words name the seed.
    return said[-1] if is_test else said[0]


def check_without_mutants(built: Path, mutants: list[Mutant]) -> dict[str, float]:
    """Ends the run if a judge fails without a mutant: what it says then means nothing. Returns how long each may take."""
    patience: dict[str, float] = {}
    for command in commands(built, mutants):
        began = time.monotonic()
        if noticed := judge(command, 0, PATIENCE):
            raise ListError(f"without any mutant it fails: {' '.join(command)}\n{noticed}")
        taken = time.monotonic() - began
        print(f"without a mutant {Path(command[0]).name} passes, in {minutes(taken)}", flush=True)
        patience[command[0]] = max(patience.get(command[0], SHORTEST_PATIENCE), 3 * taken)
    return patience


def run(built: Path, mutants: list[Mutant], patience: dict[str, float]) -> int:
    """Runs all mutants, and prints how each was noticed. Returns the exit code."""
    began = time.monotonic()

    def outcome(mutant: Mutant) -> bool:
        noticed = {
            Path(command[0]).name: judge(command, mutant.number, patience[command[0]])
            for command in commands(built, [mutant])
        }
        report(mutant, noticed)
        return all(noticed.values())

    with ThreadPoolExecutor(JOBS) as pool:
        survivors = [mutant for mutant, is_caught in zip(mutants, pool.map(outcome, mutants)) if not is_caught]
    simulated = sum(1 for mutant in mutants if mutant.simulator)
    print(
        f"{len(mutants)} mutants in {minutes(time.monotonic() - began)}: {len(mutants) - len(survivors)} caught, "
        f"{len(survivors)} survived ({sum(1 for mutant in mutants if mutant.tests)} judged by tests, {simulated} by the "
        "simulator)"
    )
    for mutant in survivors:
        print(f"SURVIVED {mutant.name}: {mutant.reason}")
    return 1 if survivors else 0


def report(mutant: Mutant, noticed: dict[str, str]) -> None:
    for judge_name, how in noticed.items():
        if how:
            print(f"caught   {mutant.name}: {how}", flush=True)
        else:
            print(f"SURVIVED {mutant.name} ({judge_name}): {mutant.reason}", flush=True)


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except ListError as error:
        sys.exit(f"Tools/mutate: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"Tools/mutate: the build failed ({error.returncode}); its output is above.")
