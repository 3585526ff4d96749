"""The words that shells complete, in the shells themselves, and the manual page."""

import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pexpect
import pytest

from homes import COMMANDS, Home
from json_shapes import documented, fits
from key_slots import PROMPT, add_passphrase, lose_key_file
from terminals import Terminal

# Where each shell reads the script, what else it reads at its start, and what shows that it waits for a line.
SHELLS = {
    "bash": (".bashrc", "bind 'set enable-bracketed-paste off'\nset +H\nPS1='ready> '\n", "ready> "),
    "zsh": (".zshrc", "autoload -U compinit; compinit -u\nunsetopt banghist\nPS1='ready> '\n", "ready> "),
    "fish": (".config/fish/config.fish", "function fish_prompt; echo 'ready> '; end\n", "ready> "),
}
NAMES = {
    "my name": b"v-space",
    'it\'s "q" $HOME!': b"v-quotes",
    "a:b=c@d": b"v-breaks",
    "web/git hub": b"v-hub",
    "web/gitlab": b"v-lab",
    "ü(x)|y;`z`&": b"v-signs",
    "back\\slash*": b"v-backslash",
    "~tilde#": b"v-tilde",
    "one/two/three": b"v-deep",
}
# What is typed before the tab, and the value that the completed line then gets.
TYPED = {
    "my": "v-space", "my\\ ": "v-space", "'my ": "v-space", "it": "v-quotes", "'it": "v-quotes", '"it': "v-quotes",
    "a": "v-breaks", "a:": "v-breaks", "a\\:": "v-breaks", "a:b=": "v-breaks", "web/git\\ ": "v-hub",
    '"web/git ': "v-hub", "web/gitl": "v-lab", "ü": "v-signs", "ba": "v-backslash", "\\~": "v-tilde",
    "one/tw\tth": "v-deep",
}  # fmt: skip


@pytest.fixture
def named(home: Home) -> Home:
    """A home with names that shells have to quote, and with the command on the PATH."""
    for name, value in NAMES.items():
        home.set(name, value)
    (home.folder / "bin").mkdir()
    (home.folder / "bin/vault").symlink_to(home.binary)
    path = f"{home.folder}/bin:{os.environ['PATH']}"
    return home.with_variables(PATH=path, LANG="C.UTF-8", TERM="xterm", fish_greeting="")


def in_shell(home: Home, shell: str) -> pexpect.spawn:
    """The shell on a terminal of its own, with the script that the command prints."""
    path, settings, prompt = SHELLS[shell]
    (home.folder / path).parent.mkdir(parents=True, exist_ok=True)
    (home.folder / path).write_bytes(settings.encode() + home.output("completions", shell))
    screen = pexpect.spawn(
        shell, ["-i"], env=home.environment, cwd=home.folder, timeout=20, dimensions=(40, 200), logfile=io.BytesIO()
    )
    screen.expect(prompt)
    return screen


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=pytest.mark.needs(shell)) for shell in SHELLS])
def test_a_completed_name_is_the_name_whatever_it_consists_of(named: Home, shell: str) -> None:
    screen = in_shell(named, shell)
    for typed, value in TYPED.items():
        screen.send(f"vault get {typed}\t\r")
        screen.expect(value + "\r")
        screen.expect("ready> ")
    screen.close(force=True)


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=pytest.mark.needs(shell)) for shell in SHELLS])
def test_commands_options_choices_and_files_are_completed(named: Home, shell: str) -> None:
    screen = in_shell(named, shell)
    shutil.copy(named.key, named.folder / "other copy.key")
    for typed, shown in (
        ("vault versi\t", "vault 0"),
        ("vault key ch\t--he\t", "vault key check: "),
        ("vault help setup git-m\t", "vault setup git-merge: "),
        ("vault set x --type in\t< /dev/null", "nothing was stored"),
        ("vault get my\t --key-file oth\t", "v-space"),
        ("vault get my\t --key-file=oth\t", "v-space"),
    ):
        screen.send(typed + "\r")
        screen.expect(re.escape(shown))
        screen.expect("ready> ")
    screen.close(force=True)


# What may follow some words, without a shell


def offered(home: Home, *words: str) -> tuple[str, list[str]]:
    """The kind of what may follow, and the words."""
    given = "".join(word + "\0" for word in ("vault", *words)).encode()
    answer = json.loads(home.output("completions", "fish", "--words", "--json", stdin=given))
    shapes = documented(home)
    assert fits(answer, shapes["completions --words"][0], shapes)
    return answer["kind"], [candidate["word"] for candidate in answer["words"]]


def test_what_may_follow_is_what_the_table_says(home: Home) -> None:
    first = {command.split()[0] for command in COMMANDS}
    assert set(offered(home, "")[1]) == first
    assert offered(home, "key", "re") == ("words", ["replace"])
    assert set(offered(home, "help", "")[1]) > first and "locations" in offered(home, "help", "")[1]
    assert offered(home, "set", "x", "--ty") == ("words", ["--type"])
    assert offered(home, "set", "x", "--type", "d") == ("words", ["data", "date"])
    assert offered(home, "set", "x", "--type=d") == ("words", ["--type=data", "--type=date"])
    assert offered(home, "completions", "z") == ("words", ["zsh"])
    assert offered(home, "--vault", "") == offered(home, "get", "--vault=x") == ("files", [])
    # Once is enough, except for what may be repeated.
    assert "--json" not in offered(home, "ls", "--json", "-")[1]
    assert "--attribute" in offered(home, "set", "x", "-a", "k=v", "--")[1]
    # Nothing follows what is wrong, or complete, or what is no option.
    for words in (("sett", ""), ("get", "--nope", ""), ("get", "a", ""), ("get", "--", "--j"), ("version", "")):
        assert offered(home, *words) == ("words", [])


def test_names_are_offered_folder_by_folder_from_the_vault_that_the_line_names(named: Home) -> None:
    assert offered(named, "get", "")[1] == sorted({name.split("/")[0] + "/" * ("/" in name) for name in NAMES})
    assert offered(named, "get", "web/")[1] == ["web/git hub", "web/gitlab"]
    assert offered(named, "mv", "x", "one/")[1] == ["one/two/"]
    assert offered(named, "rm", "x", "y", "my")[1] == ["my name"]
    named.output("set", "elsewhere", "--vault", "other.vault", stdin=b"tok")
    assert offered(named, "--vault", "other.vault", "get", "")[1] == ["elsewhere"]
    assert offered(named, "get", "--vault=other.vault", "")[1] == ["elsewhere"]


def test_the_references_of_run_and_env_are_names(named: Home) -> None:
    assert offered(named, "run", "--env", "A=web/")[1] == ["A=web/git hub", "A=web/gitlab"]
    assert offered(named, "run", "--env=A=my")[1] == ["--env=A=my name"]
    assert offered(named, "run", "--stdin", "my")[1] == ["my name"]
    assert offered(named, "env", "A=my")[1] == ["A=my name"] and offered(named, "env", "A")[1] == []
    # What follows the program is the program's.
    assert offered(named, "run", "kubectl", "--f") == ("words", [])
    assert "--file" in offered(named, "run", "--f")[1]


def test_a_home_folder_that_no_shell_has_expanded_is_found(named: Home) -> None:
    named.output("set", "elsewhere", "--vault", "other.vault", stdin=b"tok")
    assert offered(named, "--vault", "~/other.vault", "get", "")[1] == ["elsewhere"]


def test_a_line_for_bash_may_be_anything(home: Home) -> None:
    for line in (b"", b" ", b"vault", b"vault '", b'vault "\\', b"vault \\", b"\xff", b"a|b;c&d", b"vault get $(x"):
        finished = home.run("completions", "bash", "--words", stdin=line + b"\0:=\0")
        assert finished.returncode in (0, 2) and len(finished.stderr.splitlines()) <= 1
    home.refusal(2, "completions", "bash", "--words", stdin=b"no end")
    assert "one of: bash, zsh, fish" in home.refusal(2, "completions", "tcsh")


def test_a_completion_asks_nothing_runs_nothing_and_creates_nothing(home: Home) -> None:
    given = home.folder / "given"
    given.write_bytes(b"vault\0get\0\0")

    def completed(*words: str) -> bytes:
        with Terminal(home, "completions", "fish", "--words", stdin=given.open(), stdout=subprocess.PIPE) as terminal:
            code, shown = terminal.end()
            assert (code, shown) == (0, b""), "nobody is asked"
            return terminal.process.stdout.read()

    assert completed() == b"words\n" and home.files() == ["given"], "there is no vault, and none is created"
    home.set("u.token", b"tok")
    assert completed() == b"words\nu.token\n"
    add_passphrase(home)
    lose_key_file(home)
    assert completed() == b"words\n", "the passphrase would be needed"
    given.write_bytes(f"vault\0--key-command\0cat {home.folder}/taken.key; touch ran\0get\0\0".encode())
    assert completed() == b"words\n" and not (home.folder / "ran").exists()
    with Terminal(home, "ls") as terminal:
        terminal.expect(PROMPT)


# The manual page


def test_the_manual_page_is_sound_and_tells_everything(home: Home, tmp_path: Path) -> None:
    page = tmp_path / "vault.1"
    page.write_bytes(home.output("man"))
    linted = subprocess.run(["mandoc", "-Tlint", "-Wwarning", page], capture_output=True, text=True)
    assert (linted.returncode, linted.stdout) == (0, ""), linted.stdout
    shown = subprocess.run(["mandoc", "-Tutf8", "-Owidth=500", page], capture_output=True, text=True, check=True).stdout
    # Bold letters are written twice, with a backspace between.
    shown = " ".join(re.sub(".\b", "", shown).split())
    described = json.loads(home.output("help", "--json"))
    assert [command["name"] for command in described["commands"]] == COMMANDS
    for command in described["commands"]:
        texts = [f"vault {command['name']} [OPTIONS]", *command["details"]]
        texts += [item["help"] for item in (*command["arguments"], *command["options"])]
        texts += [text for example in command["examples"] for text in (example["line"], example["meaning"])]
        for text in texts + [note["meaning"] for note in command["exit_codes"]]:
            assert " ".join(text.replace("`", "").split()) in shown, text
    for text in ("VAULT_FILE", "$XDG_STATE_HOME/vault", "--accept-exchanged", "key-file = /media/usb/work.key"):
        assert text in shown
