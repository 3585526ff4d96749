"""A canary secret goes in and out by every route, and is found nowhere else: files, arguments, errors, cores."""

import base64
import fcntl
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from homes import AS_NOBODY, Home
from layout import records
from process_maps import mappings
from terminals import Terminal
from tracing import trace

CANARY = b"canary-5e1f0a9b77c3d2e4"
FORMS = [CANARY, CANARY[::-1], base64.b64encode(CANARY), CANARY.hex().encode(), CANARY.decode().encode("utf-16-le")]
WRITING = ("write", "pwrite64", "writev", "pwritev", "sendto", "sendmsg", "openat", "mkdir", "rename", "renameat2",
           "execve", "read", "pread64", "prctl", "symlink", "link", "setxattr", "fsetxattr")  # fmt: skip


def holds_canary(content: bytes) -> bool:
    return any(form in content for form in FORMS)


@contextmanager
def holding_the_secret(home: Home, **options) -> Iterator[subprocess.Popen]:
    """A `vault set` that has read the canary and waits for more."""
    process = home.start("set", "u.token", **options)
    try:
        process.stdin.write(CANARY)
        process.stdin.flush()
        deadline = time.monotonic() + 20
        while waiting_bytes(process.stdin) or state(process) != "S":
            assert time.monotonic() < deadline and process.poll() is None, "the command does not read its input"
            time.sleep(0.005)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def waiting_bytes(pipe) -> int:
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def state(process: subprocess.Popen) -> str:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2][0]


def status(process: subprocess.Popen, field: str) -> str:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith(field + ":"))


# Where it is while the command runs


def test_it_is_in_no_argument_and_no_environment(home: Home) -> None:
    with holding_the_secret(home) as process:
        # Only root may look at the environment of a process that may not be dumped.
        for file in ("cmdline", "comm") + (("environ",) if os.geteuid() == 0 else ()):
            content = Path(f"/proc/{process.pid}/{file}").read_bytes()
            assert content and not holds_canary(content)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may read the memory of a process that hides it")
def test_it_lies_in_memory_that_is_locked_against_swapping(home: Home) -> None:
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    assert limit == resource.RLIM_INFINITY or limit >= 64 << 10, "the tests need a few pages that can be locked"
    with holding_the_secret(home) as process:
        assert int(status(process, "VmLck").split()[0]) > 0
        flags = [flags for _, flags, content in mappings(process.pid) if CANARY in content]
        assert flags and all({"lo", "dd"} <= flags for flags in flags)


def test_no_core_is_dumped_even_where_cores_are_on(home: Home) -> None:
    def cores_on() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT, signal.SIGILL):
        pid, ended = None, None
        with holding_the_secret(home, preexec_fn=cores_on) as process:
            limits = Path(f"/proc/{process.pid}/limits").read_text()
            assert [line.split()[4] for line in limits.splitlines() if line.startswith("Max core file")] == ["0"]
            pid = process.pid
            os.kill(pid, number)
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert ended.si_code == os.CLD_KILLED, "CLD_DUMPED would be a core"
        assert ended.si_status == number
    assert home.files() == []


def test_a_crash_says_nothing_of_the_memory(home: Home) -> None:
    """Whatever the environment asks of the runtime's crash reporter."""
    reporter = home.folder.with_name("reporter")
    reporter.write_text(f"#!/bin/sh\ntouch {reporter}.ran\n")
    reporter.chmod(0o755)
    asking = f"enable=yes,interactive=no,color=no,output-to=stderr,swift-backtrace={reporter}"
    telling = home.with_variables(SWIFT_BACKTRACE=asking)
    for number in (signal.SIGSEGV, signal.SIGQUIT, signal.SIGABRT):
        with holding_the_secret(telling) as process:
            os.kill(process.pid, number)
            process.stdin.close()
            process.wait(20)
            assert not holds_canary(process.stdout.read() + process.stderr.read())
            process.stdin = None
    assert not reporter.with_name("reporter.ran").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_other_programs_of_the_same_user_cannot_read_its_memory(ordinary: Home) -> None:
    with holding_the_secret(ordinary) as process:
        # The process has no child: setpriv becomes the command.
        assert Path(f"/proc/{process.pid}/mem").stat().st_uid == 0, "a process that may be dumped has its user's files"
        peek = subprocess.run([*AS_NOBODY, "cat", f"/proc/{process.pid}/environ"], capture_output=True)
        assert peek.returncode != 0 and b"Permission denied" in peek.stderr


def refuses_to_hide(home: Home) -> Home:
    """In a sandbox whose filter refuses prctl(PR_SET_DUMPABLE), by seccomp(2)."""
    filter_it = (
        "import ctypes, os, struct, sys\n"
        "def step(code, yes, no, k): return struct.pack('HBBI', code, yes, no, k)\n"
        "prctl = 167 if os.uname().machine == 'aarch64' else 157\n"
        "steps = [step(0x20, 0, 0, 0), step(0x15, 0, 3, prctl), step(0x20, 0, 0, 16), step(0x15, 0, 1, 4),\n"
        "         step(0x06, 0, 0, 0x00050001), step(0x06, 0, 0, 0x7fff0000)]\n"
        "program = ctypes.create_string_buffer(b''.join(steps))\n"
        "whole = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(steps), ctypes.addressof(program)))\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, whole, 0, 0) == 0, ctypes.get_errno()\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    return home.started_through(sys.executable, "-c", filter_it)


def test_where_the_system_does_not_let_its_memory_be_hidden_that_is_said(home: Home) -> None:
    home.set("u.token", CANARY)
    open_to_others = refuses_to_hide(home)
    told = b"Core dumps and reads of this process's memory could not be disabled"
    for words in (("get", "u.token"), ("ls",), ("set", "other")):
        finished = open_to_others.run(*words, stdin=b"x")
        assert finished.returncode == 0 and finished.stderr.count(told) == 1, finished
        assert told not in home.run(*words, stdin=b"x").stderr
    warning = json.loads(open_to_others.run("get", "u.token", "--json").stderr)["warning"]
    assert told.decode() in warning["message"]
    checks = {check["name"]: check["state"] for check in json.loads(open_to_others.output("doctor", "--json"))["checks"]}
    assert checks["core dumps"] == "warning"
    assert open_to_others.run("version").stderr == b"", "it holds no secret"


# Where it goes


def test_set_reads_it_from_standard_input_and_writes_it_nowhere(home: Home) -> None:
    for words in (("init",), ("set", "u.token"), ("set", "u.token", "--json")):
        calls = trace(home, *words, stdin=CANARY, names=WRITING, strings=1 << 20)
        lines = [call.line for call in calls if holds_canary(call.line.encode(errors="surrogateescape"))]
        assert [line for line in lines if " read(0<" not in line] == []
        assert bool(lines) == (words[0] == "set"), "it is read, and this test sees it"


def test_a_file_is_read_and_its_content_written_nowhere(home: Home) -> None:
    (home.folder / "value").write_bytes(CANARY)
    calls = trace(home, "set", "u.token", "--file", "value", names=WRITING, strings=1 << 20)
    lines = [call.line for call in calls if holds_canary(call.line.encode(errors="surrogateescape"))]
    assert lines and all(" read(" in line and "/value>" in line for line in lines)


def test_get_writes_it_to_standard_output_and_nowhere_else(home: Home) -> None:
    home.set("u.token", CANARY)
    for words in (("get", "u.token"), ("get", "u.token", "--json"), ("get", "u.token", "--newline=yes")):
        calls = trace(home, *words, names=WRITING, strings=1 << 20)
        lines = [call.line for call in calls if holds_canary(call.line.encode(errors="surrogateescape"))]
        assert len(lines) == 1 and " write(1<" in lines[0]


@pytest.mark.parametrize(
    "words",
    [("ls",), ("ls", "--long"), ("ls", "--json"), ("find", "u"), ("exists", "u.token"), ("info",), ("verify",),
     ("compact",), ("cp", "u.token", "copy"), ("mv", "u.token", "moved"), ("rm", "u.token")],
    ids=" ".join,
)  # fmt: skip
def test_no_other_command_writes_it_anywhere(home: Home, words: tuple[str, ...]) -> None:
    home.set("u.token", CANARY)
    calls = trace(home, *words, names=WRITING, strings=1 << 20)
    assert not [call.line for call in calls if holds_canary(call.line.encode(errors="surrogateescape"))]


def test_it_is_in_no_file_after_every_route(home: Home) -> None:
    home.set("by.pipe", CANARY)
    home.set("by.file", CANARY)
    with Terminal(home, "set", "by.terminal") as terminal:
        for prompt in ("(not shown): ", "Repeat the value: "):
            terminal.answer(prompt, CANARY.decode() + "\n")
        assert terminal.end()[0] == 0
        assert not holds_canary(terminal.everything)
    home.output("cp", "by.pipe", "copied")
    home.output("mv", "by.file", "moved")
    home.output("compact")
    home.set("by.pipe", CANARY)
    home.output("rm", "copied")
    assert {home.get(name) for name in home.names()} == {CANARY}
    for path in home.folder.rglob("*"):
        assert not holds_canary(str(path).encode())
        assert not path.is_file() or not holds_canary(path.read_bytes()), path


def test_it_is_in_no_error(home: Home) -> None:
    home.set("u.token", CANARY)
    word = CANARY.decode()
    mistakes = [
        ("set", "u.token", word),
        ("set", "u.token", f"--{word}"),
        ("set", "u.token", "-a", word),
        ("set", "u.token", f"--value={word}"),
        ("set", "u.token", "--allow-empty=" + word),
        ("set", "--file", "/nowhere", "u.token", word),
        ("set", "u.token", "--newline", word),
    ]
    for words in mistakes:
        for options in ((), ("--json",)):
            finished = home.run(*options, *words, stdin=CANARY)
            assert finished.returncode != 0 and finished.stderr
            assert not holds_canary(finished.stdout + finished.stderr), words


def test_it_is_in_no_error_when_the_vault_fails(home: Home) -> None:
    home.set("u.token", CANARY)
    data, offset = home.vault.read_bytes(), records(home.vault)[0].offset + 60
    for break_it in (
        lambda: home.key.chmod(0o644),
        lambda: home.vault.write_bytes(bytes(data[:offset]) + bytes([data[offset] ^ 1]) + bytes(data[offset + 1 :])),
        lambda: home.vault.write_bytes(b""),
    ):
        break_it()
        for words in (("get", "u.token"), ("set", "u.token"), ("verify",), ("verify", "--json")):
            finished = home.run(*words, stdin=CANARY)
            assert finished.returncode != 0 and not holds_canary(finished.stdout + finished.stderr)
        home.key.chmod(0o600)


def test_what_was_replaced_has_left_the_file_after_a_compaction(home: Home) -> None:
    """Even for somebody with the key: the old boxes are gone, if no history is kept."""
    home.keep_no_history()
    home.set("u.token", CANARY)
    (record,) = records(home.vault)
    old = home.vault.read_bytes()
    pieces = [old[offset : offset + 16] for offset in range(record.offset, record.end, 16)]
    home.set("u.token", b"new")
    assert all(piece in home.vault.read_bytes() for piece in pieces)
    home.output("compact")
    assert not any(piece in home.vault.read_bytes() for piece in pieces)


def test_the_key_is_in_no_output_and_in_no_other_file(home: Home) -> None:
    home.set("u.token", b"tok")
    digits = home.key.read_text().split("vault-key-1-")[1][:64].encode()
    for words in (("info",), ("info", "--json"), ("verify",), ("ls", "--json"), ("help", "locations")):
        finished = home.run(*words)
        assert digits not in (finished.stdout + finished.stderr).lower()
    for path in home.folder.rglob("*"):
        if path.is_file() and path != home.key:
            content = path.read_bytes()
            assert digits not in content and bytes.fromhex(digits.decode()) not in content
