"""`vault pick`: choosing an entry at a terminal, or by another program."""

import signal
import subprocess
import time

import pytest

from homes import Home
from json_shapes import is_documented
from terminals import END, Terminal
from test_clipboard import osc52
from test_json import read_json

pytestmark = pytest.mark.both_paths_in_full

UP, DOWN, ESCAPE, CTRL_C, CTRL_D = "\x1b[A", "\x1b[B", "\x1b", "\x03", "\x04"


@pytest.fixture
def filled(home: Home) -> Home:
    for name, words in (
        ("mail/work", ["-a", "username=mia"]),
        ("web/github.com", ["-a", "username=octocat"]),
        ("web/gitlab.com", []),
    ):
        home.set(name, f"value of {name}".encode(), *words)
    return home


def picked(home: Home, keys: str, *words: str) -> tuple[int, bytes]:
    """The exit code and the standard output of a choice."""
    with Terminal(home, "pick", *words, columns=80, stdout=subprocess.PIPE) as terminal:
        terminal.answer("Pick: ", keys)
        code, _ = terminal.end()
        assert terminal.modes == terminal.modes_before
        assert terminal.everything.removesuffix(END).endswith(b"\r\x1b[J") or code != 0, "the list is erased"
        return code, terminal.process.stdout.read()


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ("\r", "mail/work"),
        (DOWN + "\r", "web/github.com"),
        (DOWN * 9 + UP + "\r", "web/github.com"),
        ("\x0e\x0e\x10\r", "web/github.com"),
        ("wgl\r", "web/gitlab.com"),
        ("LAB\r", "web/gitlab.com"),
        ("octo\r", "web/github.com"),
        ("web lab\r", "web/gitlab.com"),
        ("nonsense\x15mail\r", "mail/work"),
        ("mail lab\x17\x08\x7f\x7f\x7f\x7fweb" + DOWN + "\r", "web/gitlab.com"),
        ("nothing\r\x15lab\r", "web/gitlab.com"),
        ("\x1b[5~\x1bx\x1b[1;5Dlab\r", "web/gitlab.com"),
    ],
)
def test_keys_choose_a_name(filled: Home, keys: str, name: str) -> None:
    assert picked(filled, keys, "--name") == (0, name.encode() + b"\n")


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C, CTRL_D])
def test_a_person_may_leave_without_a_choice(filled: Home, key: str) -> None:
    assert picked(filled, "web" + key) == (4, b"")


def test_the_value_goes_to_a_pipe_and_the_rest_only_if_asked_for(filled: Home) -> None:
    assert picked(filled, "lab\r") == (0, b"value of web/gitlab.com")
    assert picked(filled, "lab\r", "--print") == (0, b"value of web/gitlab.com")
    code, shown = picked(filled, "hub\r", "--show")
    assert code == 0 and b"octocat" in shown and b"web/github.com" in shown and b"value of" not in shown
    assert read_json(picked(filled, "lab\r", "--json")[1]) == {
        "name": "web/gitlab.com",
        "value": "value of web/gitlab.com",
    }
    shown = read_json(picked(filled, "hub\r", "--json", "--show")[1])
    assert is_documented(shown, "show", filled)
    assert shown["attributes"] == {"username": "octocat"}
    name = read_json(picked(filled, "lab\r", "--json", "--name")[1])
    assert name == {"name": "web/gitlab.com"} and is_documented(name, "pick", filled)


def test_at_a_terminal_it_copies(filled: Home) -> None:
    with Terminal(filled, "pick", "--clear-after", "0", columns=80) as terminal:
        terminal.answer("Pick: ", "lab\r")
        code, shown = terminal.end()
    assert code == 0 and osc52(b"value of web/gitlab.com") in shown
    assert b"value of" not in terminal.everything


def screen(home: Home, width: int, height: int, *keys: str) -> list[str]:
    """What tmux, a terminal emulator, shows in a window of that size after the keys."""
    tmux = ["tmux", "-S", str(home.folder / f"tmux-{time.monotonic_ns()}"), "-f", "/dev/null"]

    def run(*words: str) -> str:
        finished = subprocess.run([*tmux, *words], env=home.environment | {"LC_ALL": "C.UTF-8"}, capture_output=True)
        return finished.stdout.decode()

    run("-u", "new-session", "-d", "-x", "80", "-y", str(height), f"printf '$ vault pick\\n'; {home.binary} pick; cat")
    try:
        wait_for(lambda: "Pick:" in run("capture-pane", "-p"))
        if width != 80:
            run("resize-window", "-x", str(width), "-y", str(height))
        for key in keys:
            run("send-keys", "-l", key)
        before = ""
        while (shown := run("capture-pane", "-p")) != before:
            before = shown
            time.sleep(0.2)
        return [line.rstrip() for line in shown.splitlines()]
    finally:
        run("kill-server")


def wait_for(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_list_is_below_the_prompt(filled: Home) -> None:
    shown = screen(filled, 80, 24, "web")
    assert shown[:5] == ["$ vault pick", "Pick: web", "> web/github.com  (octocat)", "  web/gitlab.com", ""]
    assert screen(filled, 80, 24, "web", ESCAPE)[:2] == ["$ vault pick", "vault: Nothing was chosen."]


def test_a_narrow_window_that_changes_its_size_shows_whole_lines(home: Home) -> None:
    home.set("web/" + "日本語" * 5, b"x")
    home.set("web/" + "a" * 40, b"x", "-a", "note=two\nlines\x1b[31m")
    # What was above it, tmux may have scrolled away.
    shown = screen(home, 20, 12)
    assert [line for line in shown if line][-3:] == ["Pick:", "> web/aaaaaaaaaaaa…", "  web/日本語日本語…"]


def test_names_are_escaped(home: Home) -> None:
    home.set("web/\u202eevil", b"x", "-a", "note=\x1b[31mred\ttab")
    with Terminal(home, "pick", columns=80) as terminal:
        terminal.expect("> web/\\u{202e}evil  (\\x1b[31mred tab)")
        terminal.type(ESCAPE)
        assert terminal.end()[0] == 4


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_the_terminal(filled: Home, number: signal.Signals) -> None:
    with Terminal(filled, "pick", columns=80) as terminal:
        terminal.expect("gitlab")
        assert not terminal.echoes
        terminal.process.send_signal(number)
        terminal.process.wait(20)
        assert terminal.modes == terminal.modes_before
        assert terminal.process.returncode == -number


def test_without_a_terminal_it_refuses(filled: Home) -> None:
    message = filled.started_through("setsid", "-w").refusal(4, "pick")
    assert "--with" in message
    assert "one of" in filled.refusal(2, "pick", "--copy", "--print").lower()


def test_an_empty_vault_has_nothing_to_pick(home: Home) -> None:
    home.output("init")
    assert "no entries" in home.refusal(3, "pick", "--with", "cat")


@pytest.mark.needs("fzf")
def test_fzf_chooses(filled: Home) -> None:
    assert filled.output("pick", "--with", "fzf --filter=wgl", "--print") == b"value of web/gitlab.com"
    home = filled.with_variables(TERM="xterm")
    with Terminal(home, "pick", "--with", "fzf", "--name", columns=80, stdout=subprocess.PIPE) as terminal:
        terminal.answer("web/gitlab.com", "lab")
        terminal.answer("1/3", "\r")
        assert terminal.end()[0] == 0
        assert terminal.process.stdout.read() == b"web/gitlab.com\n"


def test_a_program_gets_names_alone(filled: Home) -> None:
    script = filled.folder / "chooser"
    script.write_text('#!/bin/sh\ntee "$HOME/input" | head -n 1\n')
    script.chmod(0o755)
    assert filled.output("pick", "--with", str(script), "--name") == b"mail/work\n"
    assert (filled.folder / "input").read_bytes() == b"mail/work\nweb/github.com\nweb/gitlab.com\n"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("false", "Nothing was chosen"),
        ("cat > /dev/null", "Nothing was chosen"),
        ("cat", "did not print a name"),
        ("echo other", "did not print a name"),
    ],
)
def test_a_program_that_chooses_no_name_is_refused(filled: Home, program: str, message: str) -> None:
    assert message in filled.refusal(4, "pick", "--with", program)


def test_a_program_that_is_missing_is_named(filled: Home) -> None:
    finished = filled.run("pick", "--with", "/nowhere/rofi")
    assert finished.returncode == 4 and b"Program not found: `/nowhere/rofi`." in finished.stderr


def test_rofi_is_started_in_the_mode_that_reads_names(filled: Home) -> None:
    """By a stand-in: rofi itself needs a display and a person."""
    folder = filled.folder / "bin"
    folder.mkdir()
    (folder / "rofi").write_text('#!/bin/sh\necho "$@" > "$HOME/words"; tail -n 1\n')
    (folder / "rofi").chmod(0o755)
    home = filled.with_variables(PATH=f"{folder}:/usr/bin:/bin")
    assert home.output("pick", "--with", "rofi", "--name") == b"web/gitlab.com\n"
    assert (filled.folder / "words").read_text().startswith("-dmenu")
