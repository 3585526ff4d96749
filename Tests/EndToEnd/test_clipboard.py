"""`vault copy`: into the clipboards of real display servers and terminals, and out of them again."""

import base64
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from homes import AS_NOBODY, NOBODY, Home
from terminals import Terminal
from json_shapes import is_documented
from test_json import read_json

VALUE = b"a-secret-for-the-clipboard"


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def x11() -> Iterator[dict[str, str]]:
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "16x16x24", "-nolisten", "tcp"],
        pass_fds=[writing], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading) as stream:
        display = stream.readline().strip()
    yield {"DISPLAY": f":{display}"}
    server.terminate()
    server.wait()


@pytest.fixture(scope="module")
def wayland() -> Iterator[dict[str, str]]:
    """A compositor without a screen. It does not run as root."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="vault-test-"))
    (folder / "config").write_text("xwayland disable\n")
    os.chown(folder, NOBODY, NOBODY)
    server = subprocess.Popen(
        [*AS_NOBODY, "sway", "-c", str(folder / "config")],
        env=os.environ | {
            "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder), "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman",
        },
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    sockets = lambda: [path for path in folder.glob("wayland-*") if stat.S_ISSOCK(path.stat().st_mode)]  # noqa: E731
    until(sockets)
    yield {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": sockets()[0].name}
    server.terminate()
    server.wait()
    shutil.rmtree(folder)


PASTE = {
    "wl-copy": ("wl-paste", "--no-newline"),
    "xclip": ("xclip", "-selection", "clipboard", "-out"),
    "xsel": ("xsel", "--clipboard", "--output"),
}


@pytest.fixture(
    params=[
        pytest.param("wl-copy", marks=pytest.mark.needs("wl-copy", "sway")),
        pytest.param("xclip", marks=pytest.mark.needs("xclip")),
        pytest.param("xsel", marks=pytest.mark.needs("xsel")),
    ]
)
def desktop(request: pytest.FixtureRequest, home: Home) -> tuple[Home, str]:
    tool = request.param
    home.set("u.token", VALUE, "-a", "username=mia")
    return home.with_variables(**request.getfixturevalue("wayland" if tool == "wl-copy" else "x11")), tool


def pasted(home: Home, tool: str) -> bytes:
    """What the clipboard has. xsel puts itself into the background before it takes the clipboard: what it was given may
    be there only some time after it has ended."""
    return subprocess.run(PASTE[tool], env=home.environment, capture_output=True, timeout=20).stdout


def test_a_value_is_copied_and_cleared_after_its_time(desktop: tuple[Home, str]) -> None:
    home, tool = desktop
    assert copied_and_cleared(home, tool) == b"vault: Copied; the clipboard will be cleared in 3 s.\n"


def copied_and_cleared(home: Home, tool: str) -> bytes:
    """What the copy that is cleared prints. Whether a value is there is asked of one that stays: a busy machine may take
    longer to paste than the seconds that the other has."""
    home.output("copy", "u.token", "--with", tool)
    until(lambda: pasted(home, tool) == VALUE)
    for process in clearers(home):
        os.kill(int(process.name), 9)
    finished = home.run("copy", "u.token", "--with", tool, "--clear-after", "3s")
    assert (finished.returncode, finished.stdout) == (0, b"")
    until(lambda: pasted(home, tool) == b"")
    return finished.stderr


def test_what_was_copied_since_stays(desktop: tuple[Home, str]) -> None:
    home, tool = desktop
    home.output("copy", "u.token", "--with", tool, "--clear-after", "4s")
    until(lambda: pasted(home, tool) == VALUE)
    home.output("copy", "u.token.username", "--with", tool, "--clear-after", "0")
    until(lambda: pasted(home, tool) == b"mia")
    until(lambda: not clearers(home))
    assert pasted(home, tool) == b"mia"


def clearers(home: Home) -> list[Path]:
    """The processes of this home that wait to clear a clipboard."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            is_ours = f"HOME={home.folder}".encode() in (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if words.startswith(b"vault-clear-clipboard\0") and is_ours:
            found.append(process)
    return found


@pytest.mark.needs("xclip")
def test_a_display_is_found_by_the_environment(home: Home, x11: dict[str, str]) -> None:
    home.set("u.token", VALUE)
    home = home.with_variables(**x11)
    report = read_json(home.output("copy", "u.token", "--json", "--clear-after", "0"))
    assert report == {"name": "u.token", "tool": "xclip", "clear_after": None}
    assert is_documented(report, "copy", home) and pasted(home, "xclip") == VALUE
    # A display that is gone is no reason to fail while there is another.
    found = home.with_variables(WAYLAND_DISPLAY="wayland-nowhere").output("copy", "u.token", "--json")
    assert read_json(found) == {"name": "u.token", "tool": "xclip", "clear_after": 45}
    (process,) = clearers(home)
    os.kill(int(process.name), 9)


@pytest.mark.needs("xclip")
def test_the_process_that_waits_has_nothing_of_the_vault_or_the_terminal(home: Home, x11: dict[str, str]) -> None:
    home.set("u.token", VALUE)
    home = home.with_variables(**x11)
    reading, writing = os.pipe()
    # The pipes of the run end with it, though the tool and the process that waits go on.
    home.run("copy", "u.token", "--with", "xclip", pass_fds=[writing])
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)
    until(lambda: clearers(home))
    (process,) = clearers(home)
    try:
        files = {os.readlink(path) for path in (process / "fd").iterdir()}
        assert not any(str(home.folder) in file or "/dev/pts" in file for file in files) and len(files) <= 2
        fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        assert fields[3] == process.name and fields[4] == "0", "a session of its own without a terminal"
        until(lambda: os.readlink(process / "cwd") == "/")
        maps = [line.split("-")[0:2] for line in (process / "maps").read_text().splitlines() if " rw" in line]
        with open(process / "mem", "rb", buffering=0) as memory:
            for start, rest in maps:
                memory.seek(int(start, 16))
                try:
                    held = memory.read(int(rest.split()[0], 16) - int(start, 16))
                except OSError:
                    continue
                assert VALUE not in held
    finally:
        os.kill(int(process.name), 9)


def test_the_value_reaches_the_tool_by_its_standard_input_alone(home: Home) -> None:
    """A stand-in for wl-copy 2.3 records what it is given."""
    home.set("u.token", VALUE)
    folder = home.folder / "bin"
    folder.mkdir()
    tool = folder / "wl-copy"
    tool.write_text('#!/bin/sh\necho "$@" > "$HOME/words"; env > "$HOME/variables"; cat > "$HOME/input"\n')
    tool.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    runtime = home.folder / "runtime"
    runtime.mkdir(mode=0o700)
    home = home.with_variables(PATH=path, WAYLAND_DISPLAY="wayland-0", XDG_RUNTIME_DIR=str(runtime))
    home.output("copy", "u.token", "--clear-after", "0")
    assert (home.folder / "input").read_bytes() == VALUE
    assert (home.folder / "words").read_text() == "--type text/plain --sensitive\n"
    variables = (home.folder / "variables").read_bytes()
    assert VALUE not in variables and f"TMPDIR={runtime}\n".encode() in variables


@pytest.mark.needs("xclip")
def test_a_parent_that_ignores_its_children_changes_nothing(home: Home, x11: dict[str, str]) -> None:
    home.set("u.token", VALUE)
    there = home.with_variables(**x11).started_through("env", "--ignore-signal=CHLD")
    copied_and_cleared(there, "xclip")


@pytest.mark.needs("xclip")
def test_an_interruption_while_the_tool_copies_leaves_the_clearing_behind(home: Home, x11: dict[str, str]) -> None:
    """The stand-in hands the value on, and stays."""
    home.set("u.token", VALUE)
    folder = home.folder / "bin"
    folder.mkdir()
    tool = folder / "xclip"
    tool.write_text(
        f'#!/bin/sh\ncase "$*" in *-out*) exec {shutil.which("xclip")} "$@";; esac\n'
        f'{shutil.which("xclip")} "$@" && : > "$HOME/copied"; test -e "$HOME/ended" || sleep 60\n'
    )
    tool.chmod(0o755)
    there = home.with_variables(**x11, PATH=f"{folder}:{os.environ['PATH']}")
    process = there.start("copy", "u.token", "--with", "xclip", "--clear-after", "2s")
    until(lambda: (home.folder / "copied").exists())
    (home.folder / "ended").touch()
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == -signal.SIGINT
    until(lambda: pasted(there, "xclip") == b"")


def test_a_tool_that_fails_leaves_no_process_behind(home: Home, x11: dict[str, str]) -> None:
    home.set("u.token", VALUE)
    there = home.with_variables(DISPLAY=":nowhere")
    there.refusal(8, "copy", "u.token")
    assert clearers(home) == []


def osc52(text: bytes) -> bytes:
    return b"\x1b]52;c;" + base64.b64encode(text) + b"\a"


def test_a_terminal_copies_by_itself_and_clears_what_it_has(home: Home) -> None:
    home.set("u.token", VALUE)
    with Terminal(home, "copy", "u.token", "--clear-after", "1s") as terminal:
        code, shown = terminal.end()
        assert code == 0 and osc52(VALUE) in shown and b"cleared in 1 s, whatever it contains" in shown
        terminal.screen.expect_exact(osc52(b" ") + osc52(b""))


def test_tmux_has_what_was_copied(home: Home) -> None:
    home.set("u.token", VALUE)
    tmux = ["tmux", "-S", str(home.folder / "tmux"), "-f", "/dev/null"]
    run = lambda *words: subprocess.run([*tmux, *words], env=home.environment, capture_output=True, timeout=20)  # noqa: E731
    command = f"{home.binary} copy u.token --clear-after 0; sleep 60"
    run("new-session", "-d", command, ";", "set", "-s", "set-clipboard", "on")
    try:
        run("respawn-pane", "-k", command)
        until(lambda: run("show-buffer").stdout == VALUE)
    finally:
        run("kill-server")


def test_what_no_clipboard_takes_is_refused_with_4(home: Home, x11: dict[str, str]) -> None:
    home.set("bytes", b"\xff")
    home.set("nul", b"a\0b")
    home.set("long", b"x" * 74_995)
    for name in ("bytes", "nul"):
        assert "not text" in home.with_variables(**x11).refusal(4, "copy", name)
    with Terminal(home, "copy", "long") as terminal:
        code, shown = terminal.end()
    assert code == 4 and b"74,994" in shown and b"\x1b]52" not in shown


def test_without_a_clipboard_it_says_what_to_install(home: Home) -> None:
    home.set("u.token", VALUE)
    assert "Install wl-clipboard" in home.refusal(8, "copy", "u.token")
    assert "No terminal found" in home.refusal(8, "copy", "u.token", "--with", "osc52")
    assert "xsel is not installed, or cannot connect" in home.refusal(8, "copy", "u.token", "--with", "xsel")
    assert "u.token" in home.refusal(3, "copy", "u.tokem")
    assert "--clear-after" in home.refusal(2, "copy", "u.token", "--clear-after", "soon")
