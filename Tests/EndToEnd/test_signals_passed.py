"""`vault run --redact` and every signal: what reaches vault has the effect that it has on the program alone."""

import os
import signal
import termios
import time
from pathlib import Path

import pexpect
import pytest

from homes import Home
from signal_table import CATCHABLE, FAULTS, OF_GLIBC, REDACTED, WAYS, Case, Outcome, compiled, name, outcomes
from terminals import Terminal


@pytest.fixture(scope="module")
def lead(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("lead"))


@pytest.fixture
def vault(home: Home) -> Home:
    home.set("u.token", b"a-secret-of-17-b")
    return home


def through_vault(cases: list[Case], lead: Path, vault: Home) -> dict[Case, Outcome]:
    return outcomes(cases, lead, vault, (vault.binary, *REDACTED))


@pytest.mark.parametrize("has_terminal", [False, True], ids=["piped", "at a terminal"])
@pytest.mark.parametrize("way", WAYS)
def test_every_signal_has_the_effect_that_it_has_on_the_program_alone(
    vault: Home, lead: Path, way: str, has_terminal: bool
) -> None:
    cases = [Case(number, way, has_terminal) for number in CATCHABLE]
    alone, behind = outcomes(cases, lead, vault), through_vault(cases, lead, vault)
    assert len(cases) == 53
    differing = {name(case.number): (alone[case], behind[case]) for case in cases if alone[case] != behind[case]}
    assert not differing


@pytest.mark.parametrize("has_terminal", [False, True], ids=["piped", "at a terminal"])
def test_what_ends_vault_alone_leaves_no_program_with_the_secret(vault: Home, lead: Path, has_terminal: bool) -> None:
    numbers = sorted(FAULTS | {signal.SIGKILL})
    cases = [Case(number, way, has_terminal) for number in numbers for way in ("handled", "default")]
    cases += [Case(number, "default", has_terminal) for number in sorted(OF_GLIBC)]
    found = through_vault(cases, lead, vault)
    assert not [case for case in cases if found[case].is_left]
    assert {found[case].seen for case in cases if case.number in numbers} == {"signal"}


def test_a_stopped_program_that_is_continued_goes_on(vault: Home) -> None:
    """Whoever waits for vault sees that it stops, when the program has handled the signal and stops itself."""
    script = "trap 'echo handled; kill -STOP $$' TSTP; echo ready; while :; do read line && echo $line; done"
    process = vault.start(*REDACTED, "sh", "-c", script, process_group=0)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTSTP)
    process.stdin.write(b"typed\n")
    process.stdin.flush()
    assert process.stdout.readline() in (b"handled\n", b"typed\n")
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == -signal.SIGTERM


def test_a_closed_pipe_of_vault_itself_is_no_signal_to_the_program(vault: Home) -> None:
    script = "trap 'echo caught >&2' PIPE; echo ready; sleep 0.3; echo more 2>/dev/null; echo end >&2"
    process = vault.start(*REDACTED, "bash", "-c", script)
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()
    # The program's own write fails as it does without vault, once.
    assert process.stderr.read().count(b"caught") <= 1
    process.wait(10)
    process.stderr.close()
    process.stdin.close()


def test_a_program_in_the_background_stops_as_any_other_and_goes_on_in_front(vault: Home) -> None:
    environment = vault.environment | {"PS1": "ready> ", "TERM": "dumb"}
    shell = pexpect.spawn("bash", ["--norc", "--noprofile", "-i"], env=environment, timeout=20, encoding="utf-8")
    try:
        shell.expect_exact("ready> ")
        shell.sendline(f"{vault.binary} {' '.join(REDACTED)} sh -c 'read line; echo got-$line-$TOKEN' &")
        for _ in range(50):
            shell.sendline("jobs")
            if shell.expect_exact(["Stopped", "Running"]) == 0:
                break
            time.sleep(0.1)
        shell.sendline("echo shell-$((1 + 1))")
        shell.expect_exact("shell-2")
        shell.sendline("fg")
        shell.expect_exact("got-$line-$TOKEN'")
        shell.sendline("this")
        shell.expect_exact("got-this-********")
    finally:
        shell.close(force=True)


def test_a_parent_that_ignores_its_children_is_the_programs_too(vault: Home) -> None:
    words = ("grep", "SigIgn", "/proc/self/status")
    ignoring = vault.started_through("env", "--ignore-signal=CHLD")
    plain, behind = (ignoring.run(*options, *words) for options in (("run", "--env", "TOKEN=u.token", "--"), REDACTED))
    assert behind.returncode == plain.returncode == 0
    ignored = [int(run.stdout.split()[1], 16) & ~(3 << 31) for run in (plain, behind)]
    assert ignored[0] == ignored[1] and ignored[1] >> (signal.SIGCHLD - 1) & 1 == 1


def test_a_size_that_changes_while_it_is_stopped_reaches_the_program(vault: Home) -> None:
    script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done"
    with Terminal(vault, *REDACTED, "sh", "-c", script, columns=80) as terminal:
        terminal.expect("ready")
        terminal.process.send_signal(signal.SIGSTOP)
        termios.tcsetwinsize(terminal.outer, (30, 100))
        terminal.process.send_signal(signal.SIGCONT)
        terminal.expect("30 100")
