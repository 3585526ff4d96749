"""`vault run`: a program that gets secrets, in the place of vault."""

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from homes import Home
from terminals import Terminal

pytestmark = pytest.mark.both_paths_in_full

FAILED, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127
CANARY = b"canary-5e0c"
ENV = ("--env", "TOKEN=u.token")


@pytest.fixture
def vault(home: Home) -> Home:
    home.set("u.token", CANARY, "-a", "username=mia")
    home.set("a/key", b"-----BEGIN KEY-----\n" + b"x" * 60 + b"\n-----END KEY-----\n")
    home.set("binary", b"a\0b\xff")
    return home


def refused(home: Home, code: int, *words: str) -> str:
    return home.refusal(code, "run", *words)


# The environment


def test_the_program_gets_the_values_that_were_asked_for(vault: Home) -> None:
    words = ("run", *ENV, "--env", "USER_NAME=u.token.username", "--", "sh", "-c", 'echo "$TOKEN $USER_NAME"')
    assert vault.output(*words) == CANARY + b" mia\n"


@pytest.mark.in_a_file
def test_the_rest_of_the_environment_is_as_it_was(vault: Home) -> None:
    own = vault.with_variables(TOKEN="old", OTHER="x=y\n", SWIFT_BACKTRACE="color=yes")
    found = dict(item.split(b"=", 1) for item in own.output("run", *ENV, "env", "-0").split(b"\0") if item)
    expected = {name.encode(): value.encode() for name, value in own.environment.items()}
    assert found == expected | {b"TOKEN": CANARY}
    del own.variables["SWIFT_BACKTRACE"]
    unset = Home(own.binary, own.folder, own.variables, ("env", "-u", "SWIFT_BACKTRACE"))
    assert b"SWIFT_BACKTRACE" not in unset.output("run", *ENV, "env")


def test_files_win_over_the_environment_and_options_over_files(vault: Home) -> None:
    (vault.folder / ".env").write_text("A=file\nB=vault:u.token\nC='x\ny'\nA=again\nexport D=vault:u.token # d\n")
    (vault.folder / "more").write_text("C=more\n")
    script = 'echo "$A|$B|$C|$D|$E"'
    own = vault.with_variables(A="own", E="own")
    output = own.output("run", "--env-file", ".env", "--env-file=more", "--env=B=u.token.username", "sh", "-c", script)
    assert output == b"again|mia|more|" + CANARY + b"|own\n"


def test_a_file_without_references_needs_no_vault(home: Home) -> None:
    (home.folder / ".env").write_text("A=plain\n")
    assert home.output("run", "--env-file", ".env", "sh", "-c", "echo $A") == b"plain\n" and home.files() == [".env"]


def test_the_path_of_a_file_of_variables_finds_the_program(vault: Home) -> None:
    tools = vault.folder / "tools"
    tools.mkdir()
    (tools / "mine").write_text("#!/bin/sh\necho mine\n")
    (tools / "mine").chmod(0o755)
    (vault.folder / ".env").write_text(f"PATH={tools}:{os.environ['PATH']}\n")
    assert vault.output("run", "--env-file", ".env", "mine") == b"mine\n"


# The program's words


def test_its_words_are_its_own_byte_for_byte(vault: Home) -> None:
    script, words = "import os, sys; print(list(map(os.fsencode, sys.argv[1:])))", (b"--json", b"--", b"\xff", b"", b"-h")
    for separator in ((), ("--",)):
        assert eval(vault.output("run", *ENV, *separator, "python3", "-c", script, *words)) == list(words)


def test_a_script_without_an_interpreter_line_runs_as_env_runs_it(vault: Home) -> None:
    script = vault.folder / "script"
    script.write_text("echo $TOKEN\n")
    script.chmod(0o755)
    assert vault.output("run", *ENV, "./script") == CANARY + b"\n"


# The process


def test_it_is_the_same_process_with_its_exit_code(vault: Home) -> None:
    process = vault.start("run", *ENV, "sh", "-c", "echo $$; exit 42")
    output, errors = process.communicate()
    assert (int(output), process.returncode, errors) == (process.pid, 42, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ])
def test_a_signal_to_the_process_ends_the_program(vault: Home, number: int) -> None:
    process = vault.start("run", *ENV, "sh", "-c", "echo ready; read line")
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    assert process.wait(10) == -number
    process.communicate()


def test_standard_input_is_its_own(vault: Home) -> None:
    assert vault.output("run", *ENV, "cat", stdin=b"typed\n\xff") == b"typed\n\xff"


# Tells what a program has inherited.
STATE = """
import ctypes, json, os, resource
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
numbers = [int(name) for name in os.listdir("/proc/self/fd")]
print(json.dumps({
    # Two of them are glibc's own, which its posix_spawn leaves ignored.
    "signals": [int(status[key], 16) & ~(3 << 31) for key in ("SigIgn", "SigBlk")],
    "umask": status["Umask"],
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "dumpable": ctypes.CDLL(None).prctl(3),
    "open": [number for number in numbers if number > 2 and os.path.exists(f"/proc/self/fd/{number}")],
    "session": os.getsid(0),
    "group": os.getpgrp(),
}))
"""


@pytest.mark.parametrize("is_redacted", [False, True], ids=["in place", "redacted"])
def test_everything_that_vault_changes_for_itself_is_as_it_was(vault: Home, is_redacted: bool) -> None:
    def prepare() -> None:
        os.umask(0o027)
        resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 22))
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR1})

    plain = subprocess.run(
        ["/usr/bin/python3", "-c", STATE], env=vault.environment, capture_output=True, preexec_fn=prepare
    )
    words = ("run", *ENV, *(["--redact"] if is_redacted else []), "/usr/bin/python3", "-c", STATE)
    found = vault.run(*words, preexec_fn=prepare)
    assert found.stderr == b""
    assert json.loads(found.stdout) == json.loads(plain.stdout)


@pytest.mark.parametrize("options", ["", "--redact"], ids=["in place", "redacted"])
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_streams_that_were_closed_are_closed(vault: Home, closed: tuple[int, ...], options: str) -> None:
    script = 'for n in 0 1 2; do test -e /proc/$$/fd/$n && found="$found$n"; done; echo "$found" > found'
    closing = " ".join(f"{number}>&-" for number in closed)
    line = f'exec {vault.binary} run --env TOKEN=u.token {options} -- sh -c "$0" {closing}'
    subprocess.run(["sh", "-c", line, script], env=vault.environment, cwd=vault.folder, check=True)
    open_streams = (vault.folder / "found").read_text().strip()
    assert open_streams == "".join(str(number) for number in (0, 1, 2) if number not in closed)


def test_the_key_that_a_descriptor_gives_is_not_handed_on(vault: Home) -> None:
    (vault.folder / ".env").write_text("A=1\n")
    for options in (ENV, ("--env-file", ".env")):
        with open(vault.key) as key:
            words = ("--key-fd", str(key.fileno()), "run", *options, "ls", "-l", "/proc/self/fd")
            finished = vault.run(*words, pass_fds=(key.fileno(),))
            assert finished.returncode == 0 and b"default.key" not in finished.stdout


def test_an_ordinary_user_runs_it_too(ordinary: Home) -> None:
    ordinary.set("u.token", CANARY)
    words = ("run", *ENV, "--file", "KEY=u.token", "sh", "-c", 'cat "$KEY"; echo $TOKEN')
    assert ordinary.output(*words) == CANARY * 2 + b"\n"


def test_at_a_terminal_the_program_has_it(vault: Home) -> None:
    script = 'read -r line; echo "$TOKEN $line"; test -t 0 && test -t 1 && exit 9'
    with Terminal(vault, "run", *ENV, "sh", "-c", script) as terminal:
        terminal.type("typed\n")
        assert terminal.end()[0] == 9
        assert CANARY + b" typed" in terminal.everything and terminal.modes == terminal.modes_before


def test_ctrl_c_at_the_terminal_ends_the_program(vault: Home) -> None:
    with Terminal(vault, "run", *ENV, "sh", "-c", "echo ready; exec sleep 60") as terminal:
        terminal.answer("ready", "\x03")
        assert terminal.end()[0] == -signal.SIGINT


# Files and standard input


def test_a_value_as_a_file_is_exact_private_and_cannot_be_changed(vault: Home) -> None:
    script = """
import os, stat, sys
path = os.environ["KEY"]
assert open(path, "rb").read() == open(path, "rb").read()
status = os.stat(path)
assert stat.S_IMODE(status.st_mode) == 0o400 and status.st_nlink == 0, status
number = int(path.split("/")[-1])
for change in (
    lambda: os.truncate(path, 0),
    lambda: os.ftruncate(number, 0),
    lambda: os.write(number, b"x"),
    lambda: os.write(os.open(path, os.O_WRONLY), b"x"),
):
    try:
        change()
    except OSError:
        continue
    sys.exit("it could be changed")
sys.stdout.buffer.write(open(path, "rb").read())
"""
    assert vault.output("run", "--file", "KEY=a/key", "python3", "-c", script) == vault.get("a/key")
    assert vault.output("run", "--file=KEY=binary", "sh", "-c", 'cat "$KEY"') == b"a\0b\xff"


def test_another_program_of_the_user_can_read_such_a_file_and_not_change_it(vault: Home) -> None:
    """As it can read the environment of a program that runs; the help says so."""
    script = 'echo "$$ $KEY"; read line; cat "$KEY"'
    process = vault.start("run", "--file", "KEY=a/key", "--", "sh", "-c", script)
    number, path = process.stdout.readline().decode().split()
    there = path.replace("self", number)
    assert Path(there).read_bytes() == vault.get("a/key")
    for change in (lambda: os.truncate(there, 0), lambda: os.write(os.open(there, os.O_WRONLY), b"x")):
        with pytest.raises(OSError):
            change()
    assert process.communicate(b"\n")[0] == vault.get("a/key")
    said = " ".join(vault.output("help", "run").decode().split())
    assert "your other programs and root can open the file" in said


def test_children_that_inherit_the_file_read_it(vault: Home) -> None:
    assert vault.output("run", "--file", "KEY=a/key", "sh", "-c", 'sh -c "cat $KEY"; :') == vault.get("a/key")


def test_ssh_takes_a_key_from_such_a_file(home: Home, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    home.set("ssh/key", (tmp_path / "key").read_bytes())
    public = home.output("run", "--file", "KEY=ssh/key", "sh", "-c", 'ssh-keygen -y -f "$KEY"')
    assert public.split()[:2] == (tmp_path / "key.pub").read_bytes().split()[:2]


def test_a_value_as_standard_input(vault: Home) -> None:
    vault.set("large", CANARY * 20_000)
    assert vault.output("run", "--stdin", "large", "cat") == CANARY * 20_000
    assert vault.output("run", "--stdin", "binary", "cat", stdin=b"other") == b"a\0b\xff"


# Failures: nothing is started


def test_all_missing_names_are_told_and_nothing_is_started(vault: Home) -> None:
    words = ("--env", "A=u.tokn", "--file", "B=nothing", "--stdin", "none", *ENV, "touch", "started")
    sentence = refused(vault, FAILED, *words)
    assert all(f'"{name}"' in sentence for name in ("u.tokn", "nothing", "none")) and CANARY.decode() not in sentence
    assert not (vault.folder / "started").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--env", "TOKEN"), "NAME=REFERENCE"),
        (("--env", "=u.token"), "NAME=REFERENCE"),
        (("--env", "TOKEN="), "NAME=REFERENCE"),
        (("--env", "1A=u.token"), "NAME=REFERENCE"),
        (("--env", "A-B=u.token"), "NAME=REFERENCE"),
        ((*ENV, *ENV), "TOKEN"),
        ((*ENV, "--file", "TOKEN=u.token"), "TOKEN"),
        (("--env", "A=binary"), '"binary" contains a zero byte'),
        (("--nope",), "--nope"),
        (("--env-file", "missing"), "missing"),
        (("--env-file", "bad"), "bad, line 2: "),
        (("--env-file", "names"), "names, line 1: "),
    ],
    ids=str,
)
def test_what_is_wrong_with_the_line_is_exit_125(vault: Home, words: tuple[str, ...], told: str) -> None:
    (vault.folder / "bad").write_text("A=1\nB='x\n")
    (vault.folder / "names").write_text("A.B=1\n")
    assert told in refused(vault, FAILED, *words, "--", "touch", "started")
    assert not (vault.folder / "started").exists()


def test_each_failure_of_vault_is_125_and_its_code_is_in_the_json(vault: Home) -> None:
    def code(*words: str) -> str:
        finished = vault.run(*words)
        assert finished.returncode == FAILED and finished.stdout == b""
        error = json.loads(finished.stderr)["error"]
        assert error["exit"] == FAILED
        return error["code"]

    assert code("run", "--json", "--env", "A=nothing", "true") == "absent"
    assert code("run", "--json", "--env", "A", "true") == "usage"
    assert code("run", "--json") == "usage"
    assert code("run", "--json", "--vault", "nowhere", *ENV, "true") == "no-vault"
    vault.key.unlink()
    assert code("run", "--json", *ENV, "true") == "locked"


@pytest.mark.parametrize("options", [(), ("--redact",)], ids=["in place", "redacted"])
def test_a_program_that_cannot_be_started_is_126_or_127(vault: Home, options: tuple[str, ...]) -> None:
    (vault.folder / "plain").write_text("x")
    assert "nowhere" in refused(vault, NOT_FOUND, *options, *ENV, "nowhere")
    assert "nowhere" in refused(vault, NOT_FOUND, *options, *ENV, "./nowhere")
    assert "plain" in refused(vault, NOT_EXECUTABLE, *options, *ENV, "./plain")
    vault.set("large", b"x" * (1 << 20))
    assert "--file" in refused(vault, NOT_EXECUTABLE, *options, "--env", "A=large", "true")
    finished = vault.run("run", "--json", *options, *ENV, "nowhere", "--json")
    assert json.loads(finished.stderr)["error"]["exit"] == NOT_FOUND
    assert b"{" not in vault.run("run", *options, *ENV, "nowhere", "--json").stderr


def test_help_is_not_the_programs(vault: Home) -> None:
    assert b"--env-file" in vault.output("run", "--help")
    assert vault.output("run", *ENV, "printf", "%s", "--help") == b"--help"


def test_without_proc_a_file_is_refused(vault: Home) -> None:
    hidden = vault.started_through("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" "$@"')
    assert "/proc" in refused(hidden, FAILED, "--file", "KEY=a/key", "true")
    assert hidden.output("run", *ENV, "--stdin", "a/key", "cat") == vault.get("a/key")


# Who sees it


def test_the_value_is_in_no_other_programs_arguments_or_environment(vault: Home) -> None:
    process = vault.start("run", *ENV, "--file", "KEY=a/key", "--redact", "sh", "-c", "echo ready; read line")
    assert process.stdout.readline() == b"ready\n"
    having = {}
    for folder in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                having[folder.name, name] = CANARY in (folder / name).read_bytes()
            except OSError:
                continue
    child = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.communicate(b"\n")
    assert [where for where, has in having.items() if has] == [(pid, "environ") for pid in child] != []
