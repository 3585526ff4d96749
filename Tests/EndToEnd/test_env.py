"""`vault env`: variables for a shell, for direnv and for mise."""

import json
import os
import subprocess

import pytest

from homes import Home
from terminals import on_terminal

pytestmark = pytest.mark.both_paths_in_full

USAGE, NOT_FOUND, IO = 2, 3, 8
CANARY = b"canary-c41f"
VALUES = {
    "plain": CANARY,
    "quotes": b"it's \"$HOME\" `id` \\ \\n !x '' \\'",
    "lines": b"\n one\n\ttwo\n\n",
    "controls": bytes(range(1, 32)) + b"\x7f",
    "bytes": b"\xff\xfe\xc3",
    "unicode": "ü🔑\u202e".encode(),
    "empty": b"",
    "option": b"-n",
}


@pytest.fixture(scope="module")
def vault(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(binary, tmp_path_factory.mktemp("env") / "home")
    for name, value in VALUES.items():
        home.output("set", "--exact", "--allow-empty", name, stdin=value)
    home.set("zero", b"a\0b")
    return home


def pairs() -> list[str]:
    return [f"V_{name}={name}" for name in VALUES]


def variables(printed: bytes) -> dict[bytes, bytes]:
    return dict(item.split(b"=", 1) for item in printed.split(b"\0") if item.startswith(b"V_"))


EXPECTED = {f"V_{name}".encode(): value for name, value in VALUES.items()}


@pytest.mark.parametrize("shell", ["dash", "bash", "zsh"])
def test_a_shell_takes_every_value_as_it_is(vault: Home, shell: str) -> None:
    script = 'variables=$("$0" env "$@") && eval "$variables" && exec env -0'
    finished = subprocess.run(
        [shell, "-c", script, vault.binary, *pairs()], env=vault.environment, capture_output=True, check=True
    )
    assert variables(finished.stdout) == EXPECTED


def test_fish_takes_every_text_as_it_is(vault: Home) -> None:
    script = f"{vault.binary} env --format fish $argv | source; exec env -0"
    finished = subprocess.run(
        ["fish", "--no-config", "-c", script, *pairs()], env=vault.environment, capture_output=True, check=True
    )
    assert variables(finished.stdout) == EXPECTED


def test_one_line_for_each_variable(vault: Home) -> None:
    assert vault.output("env", "B=empty", "A=option") == b"export B=''\nexport A='-n'\n"


def test_files_and_arguments_go_together_and_arguments_win(vault: Home) -> None:
    (vault.folder / "a.env").write_text("A=vault:plain\nB=it's\n")
    assert vault.output("env", "--env-file", "a.env") == b"export A='" + CANARY + b"'\nexport B='it'\\''s'\n"
    assert vault.output("env", "--env-file", "a.env", "A=option").startswith(b"export A='-n'\n")


def test_what_it_writes_as_json_carries_any_bytes(vault: Home) -> None:
    written = json.loads(vault.output("env", "--json", "A=plain", "B=bytes"))
    assert written == {
        "variables": [{"name": "A", "value": CANARY.decode()}, {"name": "B", "value_base64": "//7D"}]
    }


def test_a_terminal_is_not_commanded(vault: Home) -> None:
    shown = on_terminal(vault, "env", "A=controls")
    assert b"\x1b" not in shown and b"\\x1b" in shown


def test_all_missing_names_are_told_and_nothing_is_written(vault: Home) -> None:
    sentence = vault.refusal(NOT_FOUND, "env", "A=plain", "B=nothing", "C=plaim")
    assert all(name in sentence for name in ('"nothing"', '"plaim"', '"plain"?')) and CANARY.decode() not in sentence


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), USAGE, "NAME=REFERENCE"),
        (("A",), USAGE, "NAME=REFERENCE"),
        (("A=plain", "B C=plain"), USAGE, "NAME=REFERENCE"),
        (("A;id=plain",), USAGE, "NAME=REFERENCE"),
        (("A=plain", "B=plain", "A=plain"), USAGE, "A is set twice"),
        (("A=plain", "B=zero"), USAGE, '"zero" contains a zero byte'),
        (("--format", "csh", "A=plain"), USAGE, "sh, fish"),
        (("--env-file", "nowhere"), IO, "nowhere"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_and_nothing_is_written(vault: Home, words: tuple, code: int, told: str) -> None:
    assert told in vault.refusal(code, "env", *words)


@pytest.mark.parametrize("line", ["A B=1", "A='x", "A-B=1", "A=vault:"])
def test_a_malformed_file_is_named_by_its_line(vault: Home, line: str) -> None:
    (vault.folder / "bad.env").write_text(f"# ok\nOK=1\n{line}\n")
    assert "bad.env, line 3: " in vault.refusal(USAGE, "env", "--env-file", "bad.env")


# direnv and mise


def direnv(home: Home, script: str) -> subprocess.CompletedProcess:
    project = home.folder / "project"
    project.mkdir(exist_ok=True)
    (project / ".envrc").write_text(script)
    tools = home.folder / "bin"
    tools.mkdir(exist_ok=True)
    if not (tools / "vault").exists():
        (tools / "vault").symlink_to(home.binary)
    own = home.with_variables(PATH=f"{tools}:{os.environ['PATH']}")
    subprocess.run(["direnv", "allow", project], env=own.environment, capture_output=True, check=True)
    return subprocess.run(["direnv", "exec", project, "env", "-0"], env=own.environment, capture_output=True)


def test_direnv_exports_the_variables_of_an_envrc(vault: Home) -> None:
    words = " ".join(pairs())
    finished = direnv(vault, f'variables=$(vault env {words}) || exit\neval "$variables"\n')
    # What is not UTF-8 does not pass through direnv's JSON.
    expected = {name: value for name, value in EXPECTED.items() if name != b"V_bytes"}
    assert finished.returncode == 0 and variables(finished.stdout).items() >= expected.items()


def test_direnv_fails_where_vault_does(vault: Home) -> None:
    finished = direnv(vault, 'variables=$(vault env V_A=nothing) || exit\neval "$variables"\nexport V_B=reached\n')
    assert finished.returncode != 0 and b"V_B" not in finished.stdout and b'"nothing"' in finished.stderr
