"""`vault run --redact` and every signal: what reaches vault has the effect that it has on the program alone."""

import os
import signal
import termios
import time
from collections.abc import Iterator
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


# Jobs of a shell


@pytest.fixture
def shell(vault: Home) -> Iterator[pexpect.spawn]:
    environment = vault.environment | {"PS1": "ready> ", "TERM": "dumb", "V": " ".join([vault.binary, *REDACTED])}
    shell = pexpect.spawn(
        "bash", ["--norc", "--noprofile", "-i"], env=environment, cwd=vault.folder, timeout=20, encoding="utf-8"
    )
    shell.expect_exact("ready> ")
    yield shell
    shell.close(force=True)


def test_what_a_job_in_the_background_reads_is_typed_when_it_is_in_front(shell: pexpect.spawn) -> None:
    shell.sendline("$V sh -c 'read line; echo got-$line-$TOKEN' &")
    shell.sendline("echo shell-$((1 + 1))")
    shell.expect_exact("shell-2")
    shell.sendline("fg")
    shell.expect_exact("got-$line-$TOKEN'")
    shell.sendline("this")
    shell.expect_exact("got-this-********")


@pytest.mark.parametrize("output", ["", ">out", ">out 2>err", "2>err"])
def test_a_job_in_the_background_runs_to_its_end(shell: pexpect.spawn, vault: Home, output: str) -> None:
    """As it does without vault, and the shell's line keeps its modes."""
    shell.sendline(f"$V sh -c 'sleep 0.3; echo $TOKEN; echo $TOKEN >&2; touch done' {output} &")
    for _ in range(100):
        shell.sendline("jobs")
        assert shell.expect_exact(["Stopped", "Running", "Done"]) != 0
        if (vault.folder / "done").exists():
            break
        time.sleep(0.1)
    shell.sendline("wait; echo ended-$?; stty -a")
    shell.expect_exact("ended-0")
    shell.expect(r"[ ;](-?)echo[ ;]")
    assert shell.match[1] == ""
    for name in output.replace("2>", ">").replace(">", "").split():
        assert (vault.folder / name).read_text() == "********\n"


def test_a_job_that_is_stopped_and_continued_waits_for_no_key(shell: pexpect.spawn, vault: Home) -> None:
    script = "echo of-$PPID-; while ! test -e go; do sleep 0.05; done; echo one-$TOKEN; echo two; read line; echo $line"
    shell.sendline(f"$V sh -c '{script}; stty -a >modes'")
    shell.expect(r"of-(\d+)-")
    process = int(shell.match[1])
    for _ in range(2):
        os.kill(process, signal.SIGSTOP)
        shell.expect_exact("Stopped")
        shell.sendline("bg")
        shell.sendline("echo shell-$((1 + 1))")
        shell.expect_exact("shell-2")
        shell.sendline("fg")
        shell.expect_exact("stty -a >modes'")
    (vault.folder / "go").touch()
    shell.expect_exact("one-********\r\ntwo\r\n")
    shell.sendline("typed")
    shell.expect_exact("typed\r\ntyped\r\n")
    shell.sendline("stty -a")
    shell.expect(r"[ ;](-?)icanon[ ;]")
    assert shell.match[1] == "" and " icanon" in (vault.folder / "modes").read_text()


def test_a_job_that_came_from_the_background_has_the_modes_of_the_foreground(shell: pexpect.spawn, vault: Home) -> None:
    """A shell that reads its line has others, which the program's terminal began with."""
    shell.sendline("$V sh -c 'while ! test -e go; do sleep 0.05; done; stty -a; echo end' &")
    time.sleep(0.3)
    shell.sendline("fg")
    shell.expect_exact("echo end'")
    time.sleep(0.3)
    (vault.folder / "go").touch()
    shell.expect(r"[ ;](-?)icanon[ ;]")
    assert shell.match[1] == ""
    shell.expect_exact("end\r\n")


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
