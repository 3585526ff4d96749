"""`vault setup direnv`: a real direnv takes variables from the vault."""

from pathlib import Path

import pytest

from clients import installed as installed_home
from homes import Home, mode
from ssh_agents import tool

REFUSED = 4


@pytest.fixture
def installed(home: Home) -> Home:
    home = installed_home(home)
    (home.folder / "project").mkdir()
    return home


def configuration(home: Home) -> Path:
    return home.folder / ".config/direnv/direnvrc"


def in_project(home: Home, line: str, *words: str) -> tuple[int, bytes, bytes]:
    (home.folder / "project/.envrc").write_text(line + "\n")
    assert tool(home, "direnv", "allow", "project/.envrc").returncode == 0
    finished = tool(home, "direnv", "exec", "project", *words)
    return finished.returncode, finished.stdout, finished.stderr


def test_a_folder_has_its_variables_from_the_vault(installed: Home) -> None:
    value = b"it's \"$(touch x)\" \\ \ttwo\nlines"
    installed.set("gh/token", value)
    installed.output("setup", "direnv")
    code, found, _ = in_project(installed, "use vault GH_TOKEN=gh/token", "sh", "-c", 'printf %s "$GH_TOKEN"')
    assert (code, found) == (0, value) and not list(installed.folder.rglob("x"))


@pytest.mark.parametrize("is_strict", [False, True], ids=["plain", "strict"])
def test_a_missing_value_is_reported_and_a_failure_of_a_strict_envrc(installed: Home, is_strict: bool) -> None:
    installed.set("gh/token", b"tok")
    installed.output("setup", "direnv")
    lines = "strict_env\n" * is_strict + "use vault A=gh/token GH_TOKEN=gh/tokn\nexport AFTER=1"
    code, found, said = in_project(installed, lines, "sh", "-c", "echo ${A-none} ${GH_TOKEN-none} $AFTER")
    assert (code == 0, found) == ((False, b"") if is_strict else (True, b"none none 1\n")) and b"gh/tokn" in said


def test_another_vault_is_named_in_the_function(installed: Home) -> None:
    installed.output("init", "--vault", "team vault", "--key-file", "team.key")
    options = ("--vault", "team vault", "--key-file", "team.key")
    installed.output("set", "a", *options, stdin=b"tok")
    installed.output("setup", "direnv", *options)
    code, found, said = in_project(installed, "use vault A=a", "sh", "-c", 'printf %s "$A"')
    assert (code, found) == (0, b"tok"), said
    installed.output("setup", "direnv", *options, "--undo")
    assert configuration(installed).read_bytes() == b""


@pytest.mark.parametrize("former", [b"", b"# \xff mine\nexport A=1\n", b"no newline"])
def test_the_other_lines_stay_and_it_can_be_undone(installed: Home, former: bytes) -> None:
    path = configuration(installed)
    path.parent.mkdir(parents=True)
    path.write_bytes(former)
    path.chmod(0o644)
    shown = installed.output("setup", "direnv", "--dry-run")
    assert b"use_vault() {" in shown and path.read_bytes() == former
    for _ in range(2):
        installed.output("setup", "direnv")
    written = path.read_bytes()
    ended = former + b"\n" * bool(former and not former.endswith(b"\n"))
    assert written.startswith(ended) and written.count(b"use_vault()") == 1 and mode(path) == 0o644
    for _ in range(2):
        installed.output("setup", "direnv", "--undo")
    assert path.read_bytes() == ended


def test_another_function_of_the_name_is_left_alone(installed: Home) -> None:
    path = configuration(installed)
    path.parent.mkdir(parents=True)
    path.write_text("use_vault() { :; }\n")
    assert str(path) in installed.refusal(REFUSED, "setup", "direnv")
    installed.output("setup", "direnv", "--undo")
    assert path.read_text() == "use_vault() { :; }\n"
