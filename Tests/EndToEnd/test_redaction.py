"""`vault run --redact`: what the program prints has no secret, and all else is as without it."""

import os
import signal
import subprocess
import termios
import time

import pytest

from homes import Home
from terminals import Terminal

CANARY = b"canary-9b3d"
MASK = b"********"
RUN = ("run", "--env", "TOKEN=u.token", "--redact", "--")


@pytest.fixture
def vault(home: Home) -> Home:
    home.set("u.token", CANARY)
    return home


@pytest.fixture
def vault_with_key(vault: Home) -> Home:
    vault.set("key", b"-----BEGIN KEY-----\nfirst line\nsecond line\n1234\n-----END KEY-----\n")
    return vault


# What is replaced


def test_both_streams_are_redacted_and_stay_apart(vault: Home) -> None:
    finished = vault.run(*RUN, "sh", "-c", 'echo "out $TOKEN$TOKEN"; echo "err $TOKEN" >&2')
    assert finished.stdout == b"out " + MASK + MASK + b"\n" and finished.stderr == b"err " + MASK + b"\n"


def test_a_value_that_is_printed_in_two_writes_is_redacted(vault: Home) -> None:
    for offset in range(1, len(CANARY)):
        pause = "sleep 0.2" if offset == 7 else ":"
        words = ("sh", "-c", f'printf %.{offset}s "$TOKEN"; {pause}; echo "${{TOKEN#$(printf %.{offset}s "$TOKEN")}}"')
        assert vault.output(*RUN, *words) == MASK + b"\n", offset


def test_values_of_several_lines_are_redacted_line_by_line(vault_with_key: Home) -> None:
    words = ("run", "--file", "KEY=key", "--redact", "--", "sh", "-c", 'cat "$KEY"; grep second "$KEY"; echo 1234')
    assert vault_with_key.output(*words) == MASK + b"\n" + MASK + b"\n1234\n"
    with Terminal(vault_with_key, *words) as terminal:
        assert terminal.end()[1].replace(b"\r", b"") == MASK + b"\n" + MASK + b"\n1234\n"


def test_a_value_from_a_file_of_windows_is_hidden_however_it_is_printed(vault: Home) -> None:
    vault.set("lines", b"\xef\xbb\xbffirst-line-1234\r\n\tsecond-line-5678 \r\n")
    script = """tr -d '\\r\\n' < "$K"; echo; tr -d '\\r\\t' < "$K"; sed 's/ *\\r//; 1s/^...//' "$K"; cat "$K" """
    shown = vault.output("run", "--file", "K=lines", "--redact", "--", "sh", "-c", script)
    assert b"line" not in shown and MASK in shown


def test_the_beginning_of_a_value_at_the_end_of_the_output_is_hidden(vault: Home) -> None:
    script = 'printf "so far %.4s" "$TOKEN"; kill -KILL $$'
    assert vault.run(*RUN, "sh", "-c", script).stdout == b"so far " + MASK
    assert vault.run(*RUN, "sh", "-c", script.replace(".4s", ".3s")).stdout == b"so far " + CANARY[:3]


def test_other_bytes_pass_as_they_are(vault: Home) -> None:
    data = os.urandom(1 << 20)
    assert vault.output(*RUN, "cat", stdin=data) == data
    assert vault.output(*RUN, "sh", "-c", 'cat; printf "%s" "$TOKEN"', stdin=data) == data + MASK


def test_what_is_read_from_standard_input_is_redacted_too(vault: Home) -> None:
    assert vault.output("run", "--stdin", "u.token", "--redact", "cat") == MASK


def test_a_prompt_is_shown_though_it_ends_like_the_beginning_of_a_secret(vault: Home) -> None:
    process = vault.start(*RUN, "sh", "-c", "printf 'a sentence: ca'; read line; echo $line")
    assert os.read(process.stdout.fileno(), 100) + os.read(process.stdout.fileno(), 100) == b"a sentence: ca"
    assert process.communicate(b"typed\n")[0] == b"typed\n"


# The process


@pytest.mark.parametrize("code", [0, 1, 125, 255])
def test_the_exit_code_is_the_programs(vault: Home, code: int) -> None:
    assert vault.run(*RUN, "sh", "-c", f"exit {code}").returncode == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGQUIT])
def test_so_is_the_signal_that_ends_it(vault: Home, number: signal.Signals) -> None:
    assert vault.run(*RUN, "sh", "-c", f"kill -{number.name[3:]} $$").returncode == -number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_passed_on(vault: Home, number: signal.Signals) -> None:
    script = f"trap 'echo caught; exit 3' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
    process = vault.start(*RUN, "sh", "-c", script)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    assert process.communicate(timeout=10)[0] == b"caught\n" and process.returncode == 3


def test_a_reader_that_goes_away_ends_the_program(vault: Home) -> None:
    script = '"$0" run --env TOKEN=u.token --redact -- yes | head -n 1'
    words = ["bash", "-c", script, vault.binary]
    finished = subprocess.run(words, env=vault.environment, capture_output=True, timeout=20)
    assert (finished.stdout, finished.stderr) == (b"y\n", b"")


def test_it_ends_with_the_program_though_a_child_of_it_goes_on(vault: Home) -> None:
    started = time.monotonic()
    assert vault.output(*RUN, "sh", "-c", "sleep 20 & echo $TOKEN") == MASK + b"\n"
    assert time.monotonic() - started < 10


# At a terminal


def test_at_a_terminal_the_program_has_one_of_the_same_size_and_modes(vault: Home) -> None:
    script = 'test -t 0 && test -t 1 && test -t 2 && echo "$TOKEN" >/dev/tty; stty size; stty -a | grep -o "[-]*echo "'
    with Terminal(vault, *RUN, "sh", "-c", script, columns=97) as terminal:
        code, shown = terminal.end()
        assert (code, shown.split()) == (0, [MASK, b"24", b"97", b"echo"])
        assert terminal.modes == terminal.modes_before


def test_what_is_typed_reaches_the_program_and_ctrl_c_interrupts_it(vault: Home) -> None:
    with Terminal(vault, *RUN, "sh", "-c", 'echo ready; read -r line; echo "$line $TOKEN"; exec sleep 60') as terminal:
        terminal.answer("ready", "typed\n")
        terminal.expect("typed " + MASK.decode())
        terminal.type("\x03")
        assert terminal.end()[0] == -signal.SIGINT
        assert terminal.modes == terminal.modes_before and CANARY not in terminal.everything


def test_a_new_size_reaches_the_program(vault: Home) -> None:
    script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done"
    with Terminal(vault, *RUN, "sh", "-c", script, columns=80) as terminal:
        terminal.expect("ready")
        termios.tcsetwinsize(terminal.outer, (30, 100))
        terminal.expect("30 100")
        assert terminal.end()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_modes_of_the_terminal_are_restored_when_a_signal_ends_the_program(vault: Home, number: int) -> None:
    with Terminal(vault, *RUN, "sh", "-c", "echo ready; exec sleep 60") as terminal:
        terminal.expect("ready")
        assert not terminal.echoes
        terminal.process.send_signal(number)
        assert terminal.end()[0] == -number and terminal.modes == terminal.modes_before


def test_a_terminal_that_goes_away_ends_the_program(vault: Home) -> None:
    with Terminal(vault, *RUN, "sh", "-c", "echo ready; exec sleep 60") as terminal:
        terminal.expect("ready")
        terminal.hang_up()
        assert terminal.process.wait(10) != 0


def test_a_program_that_is_not_found_leaves_the_terminal_as_it_was(vault: Home) -> None:
    with Terminal(vault, *RUN, "nowhere") as terminal:
        code, shown = terminal.end()
        assert code == 127 and b"nowhere" in shown and terminal.modes == terminal.modes_before


def test_piped_output_beside_a_terminal_stays_piped(vault: Home) -> None:
    script = 'test -t 1 || echo "out $TOKEN"; echo "err $TOKEN" >&2'
    with Terminal(vault, *RUN, "sh", "-c", script, stdout=subprocess.PIPE) as terminal:
        assert terminal.process.stdout.read() == b"out " + MASK + b"\n"
        assert terminal.end() == (0, b"err " + MASK + b"\n")


def test_standard_input_from_a_pipe_is_the_programs_at_a_terminal(vault: Home) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"piped " + CANARY + b"\n")
    os.close(writing)
    with Terminal(vault, *RUN, "cat", stdin=reading) as terminal:
        os.close(reading)
        assert terminal.end() == (0, b"piped " + MASK + b"\n")
        assert terminal.modes == terminal.modes_before


def test_ctrl_z_stops_it_where_it_has_no_terminal_of_its_own(vault: Home) -> None:
    """Both are in one group, as a shell's job is."""
    process = vault.start(*RUN, "sh", "-c", "echo ready; read line; echo $line", process_group=0)
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGTSTP)
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    os.killpg(process.pid, signal.SIGCONT)
    assert process.communicate(b"on\n", timeout=10)[0] == b"on\n" and process.returncode == 0
