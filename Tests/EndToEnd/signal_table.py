"""What each signal does to a program, alone and behind `vault run`: a table, to be compared and to be read."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from homes import Home

LEAD = Path(__file__).with_name("signal_lead.c")
# The processor's, by which a program learns of its own fault, and those that nobody can catch.
FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS}
UNSTOPPABLE = {signal.SIGKILL, signal.SIGSTOP}
# glibc lets no program catch or ignore the two that it uses itself.
OF_GLIBC = {32, 33}
NUMBERS = range(1, signal.NSIG)
CATCHABLE = [number for number in NUMBERS if number not in FAULTS | UNSTOPPABLE | OF_GLIBC]
# What a program does about a signal, and what it finds when it starts.
WAYS = ["handled", "default", "ignored", "ignored, then handled"]
REDACTED = ("run", "--env", "TOKEN=u.token", "--redact", "--")


def name(number: int) -> str:
    return signal.Signals(number).name[3:] if number in signal.Signals.__members__.values() else f"RT{number}"


@dataclass(frozen=True)
class Case:
    number: int
    way: str
    has_terminal: bool

    @property
    def words(self) -> Sequence[str]:
        """Of the program."""
        return ("program", str(int(self.number) if "handled" in self.way else 0))


@dataclass(frozen=True)
class Outcome:
    # What whoever has started the command sees: `exit 7`, `signal`, `stopped`, or `goes on`.
    seen: str
    # Whether the program is left running, though the command has ended.
    is_left: bool


def compiled(folder: Path) -> Path:
    program = folder / "signal_lead"
    subprocess.run(["clang", "-Wall", "-Werror", "-o", program, LEAD], check=True)
    return program


def outcome(case: Case, lead: Path, home: Home, through: Sequence[str]) -> Outcome:
    """Sends the signal to the command that `through` is followed by the program."""
    telling, told = os.pipe()
    outer, inner = pty.openpty() if case.has_terminal else (None, None)
    streams = {"stdin": inner, "stdout": inner, "stderr": inner} if case.has_terminal else {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.DEVNULL,
    }
    ignored = case.number if "ignored" in case.way else 0
    words = [lead, "lead", *map(str, (told, int(case.has_terminal), int(ignored))), *through, lead, *case.words]
    with subprocess.Popen(words, env=home.environment, cwd=home.folder, pass_fds=(told,), **streams) as process:
        os.close(told)
        if inner is not None:
            os.close(inner)
        output = outer if outer is not None else process.stdout.fileno()
        command = int(read_line(telling))
        program = int(read_line(output).split()[1])
        os.kill(command, case.number)
        seen = read_line(telling, within=0.3) or "goes on"
        is_left = False
        if seen in ("goes on", "stopped"):
            os.kill(command, signal.SIGKILL)
            read_line(telling)
        deadline = time.monotonic() + 5
        while runs(program):
            if time.monotonic() > deadline:
                is_left = True
                os.kill(program, signal.SIGKILL)
            time.sleep(0.005)
        process.kill()
    os.close(telling)
    if outer is not None:
        os.close(outer)
    return Outcome(seen, is_left)


def read_line(descriptor: int, within: float = 20) -> str:
    line = b""
    while not line.endswith(b"\n") and select.select([descriptor], [], [], within)[0]:
        try:
            found = os.read(descriptor, 1)
        except OSError:
            break
        if not found:
            break
        line += found
    return line.decode().strip()


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def outcomes(cases: Sequence[Case], lead: Path, home: Home, through: Sequence[str] = ()) -> dict[Case, Outcome]:
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(cases, pool.map(lambda case: outcome(case, lead, home, through), cases)))


def shown(home: Home, folder: Path) -> str:
    """The table of all signals, where those of equal rows share one."""
    lead = compiled(folder)
    ways = [(way, has_terminal) for way in WAYS for has_terminal in (False, True)]
    cases = [Case(number, way, terminal) for number in NUMBERS if number not in OF_GLIBC for way, terminal in ways]
    found = outcomes(cases, lead, home, (home.binary, *REDACTED))
    rows: dict[tuple[str, ...], list[int]] = {}
    for number in NUMBERS:
        if number not in OF_GLIBC:
            row = tuple(cell(found[Case(number, way, terminal)]) for way, terminal in ways)
            rows.setdefault(row, []).append(number)
    heads = [f"{way}{', at a terminal' if terminal else ''}" for way, terminal in ways]
    lines = [" | ".join(["signals", *heads])]
    lines += [" | ".join([" ".join(map(name, numbers)), *row]) for row, numbers in rows.items()]
    return "\n".join(lines)


def cell(outcome: Outcome) -> str:
    return outcome.seen + (", and the program is left" if outcome.is_left else "")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    home = Home(os.environ["VAULT_BINARY"], folder / "home")
    home.set("u.token", b"a-secret")
    print(shown(home, folder))
