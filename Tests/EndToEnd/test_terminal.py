"""At a terminal: the value is asked for twice and not shown, and the echo comes back however it ends."""

import os
import signal
import subprocess
import time
from collections.abc import Callable

import pexpect
import pytest

from homes import Home
from terminals import Terminal

pytestmark = pytest.mark.both_paths_in_full

FIRST, AGAIN = "(not shown): ", "Repeat the value: "
SECRET = "s3cret-at-the-terminal"


def test_the_value_is_asked_for_twice_and_not_shown(home: Home) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        terminal.answer(FIRST, SECRET + "\n")
        terminal.answer(AGAIN, SECRET + "\n")
        code, shown = terminal.end()
    assert code == 0 and SECRET.encode() not in terminal.everything + shown
    assert home.get("u.token") == SECRET.encode()


def test_the_prompt_names_what_is_asked_for(home: Home) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        terminal.expect("u.token")
        terminal.expect(FIRST)


def test_the_echo_is_off_while_it_asks_and_back_afterwards(home: Home) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        terminal.expect(FIRST)
        assert not terminal.echoes
        terminal.type(SECRET + "\n")
        terminal.expect(AGAIN)
        assert not terminal.echoes
        terminal.type(SECRET + "\n")
        assert terminal.end()[0] == 0
        assert terminal.echoes and terminal.modes == terminal.modes_before


def test_entries_that_differ_are_refused_with_4_and_nothing_is_stored(home: Home) -> None:
    home.set("u.token", b"old")
    with Terminal(home, "set", "u.token") as terminal:
        terminal.answer(FIRST, SECRET + "\n")
        terminal.answer(AGAIN, SECRET + "x\n")
        code, shown = terminal.end()
        assert terminal.echoes
    assert code == 4 and b"differ" in shown and SECRET.encode() not in shown
    assert home.get("u.token") == b"old"


def test_an_empty_entry_is_an_error_unless_it_is_allowed(home: Home) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        terminal.answer(FIRST, "\n")
        terminal.answer(AGAIN, "\n")
        code, shown = terminal.end()
    assert code == 2 and b"--allow-empty" in shown and not home.vault.exists()
    with Terminal(home, "set", "u.token", "--allow-empty") as terminal:
        terminal.answer(FIRST, "\n")
        terminal.answer(AGAIN, "\n")
        assert terminal.end()[0] == 0
    assert home.get("u.token") == b""


@pytest.mark.parametrize("prompt", [FIRST, AGAIN])
def test_ctrl_d_at_an_empty_prompt_cancels_with_4(home: Home, prompt: str) -> None:
    """What was meant for the shell is neither the secret nor left over: it was typed without being seen."""
    home.set("u.token", b"old")
    with Terminal(home, "set", "u.token") as terminal:
        if prompt == AGAIN:
            terminal.answer(FIRST, SECRET + "\n")
        terminal.answer(prompt, "\x04the next line\n")
        code, shown = terminal.end()
        assert terminal.modes == terminal.modes_before
        os.set_blocking(terminal.inner, False)
        with pytest.raises(BlockingIOError):
            os.read(terminal.inner, 1)
    assert code == 4 and b"Cancelled; nothing was stored." in shown and AGAIN.encode() not in shown
    assert home.get("u.token") == b"old"


def test_ctrl_d_after_text_ends_the_line(home: Home) -> None:
    assert stored(home, SECRET + "\x04") == SECRET.encode()


@pytest.mark.parametrize("prompt", [FIRST, AGAIN])
def test_ctrl_c_ends_by_the_signal_and_restores_the_echo(home: Home, prompt: str) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        if prompt == AGAIN:
            terminal.answer(FIRST, SECRET + "\n")
        terminal.expect(prompt)
        terminal.type("half a secr\x03")
        code, shown = terminal.end()
        assert code == -signal.SIGINT, "as a shell expects it"
        assert terminal.modes == terminal.modes_before
    assert b"half" not in shown and not home.vault.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1])
def test_every_signal_that_ends_it_restores_the_echo(home: Home, number: signal.Signals) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        terminal.expect(FIRST)
        terminal.type("half a secr")
        os.kill(terminal.process.pid, number)
        assert terminal.end()[0] == -number
        assert terminal.modes == terminal.modes_before


def test_a_terminal_that_goes_away_ends_it(home: Home) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        terminal.expect(FIRST)
        terminal.hang_up()
        assert terminal.process.wait(10) != 0
    assert not home.vault.exists()


def test_ctrl_z_restores_the_echo_and_fg_asks_again(home: Home) -> None:
    environment = home.environment | {"PS1": "ready> ", "TERM": "dumb"}
    shell = pexpect.spawn("bash", ["--norc", "--noprofile", "-i"], env=environment, timeout=20)
    try:
        shell.expect_exact("ready> ")
        shell.sendline(f"{home.binary} set u.token")
        shell.expect_exact(FIRST)
        shell.send("half\x1a")
        shell.expect_exact("ready> ")
        shell.sendline("stty -a")
        shell.expect(r"[ ;](-?)echo[ ;]")
        assert shell.match[1] == b""
        shell.expect_exact("ready> ")
        shell.sendline("fg")
        for prompt in (FIRST, AGAIN):
            shell.expect_exact(prompt)
            shell.waitnoecho(10)
            shell.sendline(SECRET)
        shell.expect_exact("ready> ")
        assert SECRET.encode() not in shell.before
    finally:
        shell.close(force=True)
    assert home.get("u.token") == SECRET.encode()


def test_stopped_by_a_signal_and_continued_it_asks_again_without_echo(home: Home) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        terminal.expect(FIRST)
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.expect(FIRST)
        assert not terminal.echoes
        terminal.type(SECRET + "\n")
        terminal.answer(AGAIN, SECRET + "\n")
        assert terminal.end()[0] == 0
    assert home.get("u.token") == SECRET.encode()


def stored(home: Home, first: str, again: str = "") -> bytes:
    """What `set` stores if that is typed at its prompts. The second line is the plain one if there are two."""
    with Terminal(home, "set", "u.token") as terminal:
        terminal.answer(FIRST, first)
        terminal.answer(AGAIN, again or first)
        code, shown = terminal.end()
    assert code == 0, shown
    return home.get("u.token")


def test_typed_mistakes_can_be_erased(home: Home) -> None:
    assert stored(home, "tokü\x7fen\n", "all wrong\x15token\n") == b"token"
    assert stored(home, "a wrong one \x17token\n", "a wrong tokem\x17token\n") == b"a wrong token"


@pytest.mark.parametrize(
    "key",
    [
        *("\x1b[A", "\x1bOD", "\x1b[H", "\x1b[4~", "\x1b[1;5C", "\x1bOP", "\x1b[15~", "\x1b[[A"),
        *("\x1bx", "\x1bü", "\x1b\x1b[A"),
        *("\x00", "\x01", "\x0c", "\x12", "\x1f"),
    ],
)
def test_keys_that_are_not_text_are_no_part_of_the_secret(home: Home, key: str) -> None:
    assert stored(home, f"{key}to{key}ken{key}\n") == b"token"


def test_the_key_esc_is_told_from_a_sequence_by_the_pause_after_it(home: Home) -> None:
    with Terminal(home, "set", "u.token") as terminal:
        terminal.answer(FIRST, "tok\x1b")
        time.sleep(0.3)
        terminal.type("[Aen\n")
        terminal.answer(AGAIN, "tok[Aen\n")
        assert terminal.end()[0] == 0
    assert home.get("u.token") == b"tok[Aen"


def test_the_marks_around_a_paste_are_no_part_of_the_secret(home: Home) -> None:
    assert stored(home, "\x1b[200~a pasted token\x1b[201~\n", "a pasted token\n") == b"a pasted token"


def test_a_newline_in_a_paste_ends_the_line_with_marks_as_without(home: Home) -> None:
    """The newline that comes along with a copied line is not to become part of the secret."""
    assert stored(home, "\x1b[200~token\n\x1b[201~", "token\n") == b"token"
    with Terminal(home, "set", "u.token") as terminal:
        terminal.answer(FIRST, "\x1b[200~two\nlines\n\x1b[201~")
        assert terminal.end()[0] == 4


def test_ctrl_v_takes_a_control_character_into_the_secret(home: Home) -> None:
    assert stored(home, "a\x16\x04b\x16\x1b[A\n") == b"a\x04b\x1b[A"


def test_a_long_line_that_is_pasted_is_kept_whole(home: Home) -> None:
    """A terminal's own line mode drops all beyond 4,095 bytes in silence."""
    pasted = "x" * 3000 + "y" * 3000
    with Terminal(home, "set", "u.token") as terminal:
        for prompt in (FIRST, AGAIN):
            terminal.expect(prompt)
            for start in range(0, len(pasted), 1000):
                terminal.type(pasted[start : start + 1000])
                time.sleep(0.02)
            terminal.type("\n")
        assert terminal.end()[0] == 0
    assert home.get("u.token") == pasted.encode()


def test_the_prompt_is_on_the_terminal_even_if_the_outputs_are_not(home: Home) -> None:
    with Terminal(home, "set", "u.token", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as terminal:
        terminal.answer(FIRST, SECRET + "\n")
        terminal.answer(AGAIN, SECRET + "\n")
        assert terminal.end()[0] == 0
        assert terminal.process.stdout.read() == b""
        assert b"(not shown)" not in terminal.process.stderr.read()
    assert home.get("u.token") == SECRET.encode()


def test_a_pipe_at_a_terminal_is_read_without_asking(home: Home) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"tok\n")
    os.close(writing)
    with Terminal(home, "set", "u.token", stdin=reading) as terminal:
        os.close(reading)
        code, shown = terminal.end()
    assert code == 0 and b"(not shown)" not in shown
    assert home.get("u.token") == b"tok"


def missing_key(home: Home) -> None:
    home.key.unlink()


def damaged_vault(home: Home) -> None:
    home.vault.write_bytes(b"x" * 65536)


@pytest.mark.in_a_file
@pytest.mark.parametrize(("break_it", "code"), [(missing_key, 5), (damaged_vault, 6)])
def test_nobody_types_a_secret_only_to_learn_that_the_vault_is_closed(
    home: Home, break_it: Callable[[Home], None], code: int
) -> None:
    home.set("u.token", b"tok")
    break_it(home)
    with Terminal(home, "set", "u.token") as terminal:
        ended, shown = terminal.end()
        assert ended == code and b"(not shown)" not in shown
        assert terminal.echoes


def test_a_value_as_an_argument_is_refused_before_anything_is_asked(home: Home) -> None:
    with Terminal(home, "set", "u.token", SECRET) as terminal:
        code, shown = terminal.end()
    assert code == 2 and SECRET.encode() not in shown and b"(not shown)" not in shown


@pytest.mark.parametrize("name", [f"u.token={SECRET}", f"={SECRET}", f"{SECRET}="])
def test_a_value_behind_an_equals_sign_is_no_name_at_the_prompt(home: Home, name: str) -> None:
    for options in ((), ("--json",)):
        with Terminal(home, "set", name, *options) as terminal:
            code, shown = terminal.end()
        assert code == 2 and SECRET.encode() not in shown and b"(not shown)" not in shown
        assert b"equals sign" in shown and b"| vault set" in shown and b"--file" in shown
    assert home.files() == []


def test_a_name_with_an_equals_sign_is_one_where_nothing_is_asked(home: Home) -> None:
    (home.folder / "value").write_bytes(b"tok")
    with Terminal(home, "set", "u=a", "--file", "value") as terminal:
        assert terminal.end()[0] == 0
    home.output("set", "u=b", stdin=b"tok")
    assert home.values() == {"u=a": b"tok", "u=b": b"tok"}


@pytest.mark.parametrize("file", ["-", "/dev/stdin", "/dev/tty"])
def test_a_terminal_is_no_file_to_read_a_value_from(home: Home, file: str) -> None:
    """Its own line mode would show what is typed."""
    with Terminal(home, "set", "u.token", "--file", file) as terminal:
        code, shown = terminal.end()
    assert code == 2 and b"Omit --file" in shown and not home.vault.exists()


def test_commands_that_change_things_ask_nothing_without_a_terminal(home: Home) -> None:
    """In a session of its own there is no /dev/tty either: it is refused, or done, but never waited for."""
    home.set("a", b"1")
    home.set("b", b"2")
    for words, code in ((("mv", "a", "b"), 4), (("cp", "a", "b"), 4), (("init",), 4), (("rm", "a"), 0)):
        assert home.run(*words, start_new_session=True).returncode == code


def test_long_lists_at_a_terminal_come_without_pager_or_columns(home: Home) -> None:
    for index in range(60):
        home.set(f"name-{index:02}", b"tok")
    with Terminal(home, "ls") as terminal:
        code, shown = terminal.end()
    assert code == 0 and shown.decode() == "".join(f"name-{index:02}\n" for index in range(60))


def test_the_modes_of_the_terminal_are_as_they_were_after_every_command(home: Home) -> None:
    home.set("u.token", b"tok")
    for words in (("get", "u.token"), ("ls",), ("verify",), ("info",), ("help",), ("get", "nothing")):
        with Terminal(home, *words) as terminal:
            terminal.end()
            assert terminal.modes == terminal.modes_before


def test_a_dumb_terminal_gets_no_escape_sequence(home: Home) -> None:
    """One that shows them as text, such as a shell in an editor: by no way that writes one elsewhere."""
    home.set("u.token", b"tok")
    for kind, is_obeyed in (("dumb", False), ("xterm", True)):
        at = home.with_variables(TERM=kind)
        shown = b""
        for words in (("key", "show"), ("copy", "u.token"), ("pick", "--print"), ("help",), ("info",), ("get", "u.token")):
            with Terminal(at, *words, columns=200) as terminal:
                if words[0] == "pick" and is_obeyed:
                    terminal.answer("Pick: ", "\x1b")
                terminal.end()
                shown += terminal.everything
        assert (b"\x1b" in shown) == is_obeyed
    assert "TERM is dumb" in home.with_variables(TERM="dumb").refusal(4, "pick")
    with Terminal(home.with_variables(TERM="dumb"), "set", "typed") as terminal:
        terminal.answer("Value of typed (not shown): ", "x\n")
        terminal.answer("Repeat the value: ", "x\n")
        assert terminal.end()[0] == 0 and b"\x1b" not in terminal.everything
