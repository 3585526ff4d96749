"""What the command has left in its own memory when it ends: no value anywhere, keys in guarded memory alone."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from homes import Home
from process_maps import mappings

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may read the memory of a process that hides it")

# Any eight bytes of a secret in a row count, at multiples of eight in it.
WINDOW = 8
VALUE = os.urandom(48)
TEXT = os.urandom(24).hex().encode()


@contextmanager
def at_its_end(home: Home, *arguments: str, stdin: bytes = b"") -> Iterator[int]:
    """The process id of a run that has done its work, and is held just before it ends."""
    log = home.folder.with_name(home.folder.name + ".strace")
    hold = ("-e", "trace=exit_group", "-e", "inject=exit_group:delay_enter=4000000")
    strace = home.started_through("strace", "-f", "-qq", "-o", str(log), *hold)
    process = strace.start(*arguments, stdout=subprocess.DEVNULL)
    try:
        process.stdin.write(stdin)
        process.stdin.close()
        yield held(process, home.binary)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def held(strace: subprocess.Popen, binary: str) -> int:
    """The traced process, once it has come to its last system call."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for child in Path(f"/proc/{strace.pid}/task/{strace.pid}/children").read_text().split():
            # exit_group on x86-64 and on arm64.
            if system_call(child, binary) in ("231", "94"):
                return int(child)
        assert strace.poll() is None, "the run ended before it could be looked at"
        time.sleep(0.005)
    raise AssertionError("the run does not end")


def system_call(process: str, binary: str) -> str:
    """The number of the call that a process is in; none if it runs another program, as those do by which strace tries itself."""
    try:
        if not Path(f"/proc/{process}/exe").samefile(binary):
            return ""
        return Path(f"/proc/{process}/syscall").read_text().split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def copies(process: int, secret: bytes, *, anywhere: bool) -> list[str]:
    windows = [secret[offset : offset + WINDOW] for offset in range(0, len(secret) - WINDOW + 1, WINDOW)]
    return [
        head
        for head, flags, content in mappings(process)
        # What core dumps leave out is guarded.
        if (anywhere or "dd" not in flags) and any(window in content for window in windows)
    ]


def key_of(home: Home) -> bytes:
    return bytes.fromhex(home.key.read_text().split("vault-key-1-")[1][:64])


@pytest.mark.parametrize(
    "words",
    [("get", "u.token"), ("get", "u.token", "--json"), ("get", "text", "--json"), ("get", "text", "--newline=yes"),
     ("verify",), ("ls",), ("ls", "--json"), ("info",), ("cp", "u.token", "copy"), ("compact",)],
    ids=" ".join,
)  # fmt: skip
def test_nothing_of_a_value_or_a_key(home: Home, words: tuple[str, ...]) -> None:
    home.set("u.token", VALUE)
    home.set("text", TEXT)
    with at_its_end(home, *words) as process:
        for value in (VALUE, TEXT):
            assert copies(process, value, anywhere=True) == []
        assert copies(process, key_of(home), anywhere=True) == []
        assert copies(process, key_of(home).hex().encode(), anywhere=True) == []


@pytest.mark.parametrize("give", [lambda home: (), lambda home: ("--file", home.folder / "value")], ids=["pipe", "file"])
def test_nothing_of_a_value_that_was_set(home: Home, give: Callable[[Home], tuple]) -> None:
    home.set("another", b"tok")
    (home.folder / "value").write_bytes(VALUE)
    with at_its_end(home, "set", "u.token", *give(home), stdin=VALUE) as process:
        assert copies(process, VALUE, anywhere=True) == []
        assert copies(process, key_of(home), anywhere=True) == []


def test_nothing_of_a_key_file_of_another_kind(home: Home) -> None:
    file = home.folder / "any.key"
    file.write_bytes(VALUE)
    file.chmod(0o600)
    home.output("init", "--key-file", str(file))
    with at_its_end(home, "ls", "--key-file", str(file)) as process:
        assert copies(process, VALUE, anywhere=True) == []


def test_the_scan_sees_a_name_which_lies_in_ordinary_memory(home: Home) -> None:
    name = os.urandom(24).hex()
    home.set(name, b"tok")
    with at_its_end(home, "ls") as process:
        assert copies(process, name.encode(), anywhere=False) != []
