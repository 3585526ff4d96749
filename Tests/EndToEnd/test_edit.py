"""`vault edit`: a value in a real editor, in memory only, and nothing of it afterwards."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from homes import AS_NOBODY, NOBODY, Home, mode
from terminals import Terminal
from json_shapes import is_documented

pytestmark = pytest.mark.both_paths_in_full


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory of the test's own, as a login session has one."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="vault-test-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def edited(home: Home, memory: Path) -> Home:
    home.set("u.token", b"old", "-a", "host=github.com")
    return home.with_variables(XDG_RUNTIME_DIR=str(memory))


def editing(home: Home, script: str) -> Home:
    """The home of a person whose editor is a script that gets the file as `$1`."""
    path = home.folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return home.with_variables(EDITOR=str(path))


def until(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_the_editor_saves_is_the_value_without_the_editors_newline(edited: Home, memory: Path) -> None:
    editing(edited, 'test "$(cat "$1")" = old && echo new > "$1"').output("edit", "u.token")
    assert edited.get("u.token") == b"new"
    (item,) = json.loads(edited.output("ls", "--json"))["items"]
    assert item["attributes"] == {"host": "github.com"}
    assert list(memory.iterdir()) == []


@pytest.mark.parametrize(
    ("former", "saved", "stored"),
    [
        (b"a\nb", b"a\nc\n", b"a\nc"),
        (b"a\nb\n", b"a\nc\n", b"a\nc\n"),
        (b"tok\n", b"new\n", b"new\n"),
        (b"tok", b"new\n\n", b"new\n"),
        (None, b"new\n", b"new"),
        (None, b"a\nb\n", b"a\nb\n"),
    ],
)
def test_only_the_newline_that_an_editor_adds_is_dropped(
    edited: Home, former: bytes | None, saved: bytes, stored: bytes
) -> None:
    if former:
        edited.set("x", former)
    (edited.folder / "saved").write_bytes(saved)
    editing(edited, 'cat "$HOME/saved" > "$1"').output("edit", "x")
    assert edited.get("x") == stored


@pytest.mark.parametrize("script", ["true", 'printf "old\\n" > "$1"'])
def test_an_unchanged_value_is_not_written(edited: Home, script: str) -> None:
    before = edited.vault.read_bytes()
    finished = editing(edited, script).run("edit", "u.token")
    assert finished.returncode == 0 and b"unchanged" in finished.stderr
    assert edited.vault.read_bytes() == before


def test_a_new_name_is_created_unless_it_is_left_empty(home: Home, memory: Path) -> None:
    home = home.with_variables(XDG_RUNTIME_DIR=str(memory))
    assert b"unchanged" in editing(home, "true").run("edit", "x").stderr
    assert not home.vault.exists()
    editing(home, 'test ! -s "$1" && echo new > "$1"').output("edit", "x")
    assert home.get("x") == b"new"
    assert "empty" in editing(home, ': > "$1"').refusal(4, "edit", "x")
    assert home.get("x") == b"new" and list(memory.iterdir()) == []


def test_a_failing_editor_stores_nothing(edited: Home, memory: Path) -> None:
    message = editing(edited, 'echo new > "$1"; exit 3').refusal(4, "edit", "u.token")
    assert "exit code 3" in message and edited.get("u.token") == b"old"
    finished = edited.with_variables(EDITOR="/nowhere/editor").run("edit", "u.token")
    assert finished.returncode == 4 and b"Set VISUAL or EDITOR" in finished.stderr
    assert list(memory.iterdir()) == []


def test_a_parent_that_ignores_its_children_changes_nothing(edited: Home) -> None:
    there = editing(edited, 'echo new > "$1"').started_through("timeout", "20", "env", "--ignore-signal=CHLD")
    there.output("edit", "u.token")
    assert edited.get("u.token") == b"new"


def test_an_editor_that_leaves_no_text_is_told_and_leaves_nothing(edited: Home, memory: Path) -> None:
    message = editing(edited, 'rm "$1"').refusal(8, "edit", "u.token")
    assert "in memory only" not in message and edited.get("u.token") == b"old"
    assert list(memory.iterdir()) == []
    assert "not UTF-8" in editing(edited, "printf '\\377' > \"$1\"").refusal(4, "edit", "u.token")
    assert edited.get("u.token") == b"old"


def test_without_a_terminal_vi_is_not_started(edited: Home) -> None:
    alone = edited.started_through("setsid", "--wait")
    assert "Set VISUAL or EDITOR" in alone.refusal(4, "edit", "u.token")


def test_visual_comes_before_editor_and_both_may_have_arguments(edited: Home) -> None:
    words = edited.with_variables(VISUAL="sed -i 's/old/new one/'", EDITOR="false")
    words.output("edit", "u.token")
    assert edited.get("u.token") == b"new one"


def test_the_file_is_private_and_overwritten_with_all_that_the_editor_left(edited: Home, memory: Path) -> None:
    """Links outside of the folder show what became of the files: of the first one, of the one in its place, of a copy."""
    script = f"""
        stat -c %a "$(dirname "$1")" "$1" > "$HOME/modes"
        mkdir "$(dirname "$1")/undo"; cp "$1" "$(dirname "$1")/undo/.value.swp"
        ln "$1" {memory}/first; ln "$(dirname "$1")/undo/.value.swp" {memory}/copy
        echo new > "$1~"; mv "$1~" "$1"; ln "$1" {memory}/second
        ln -s "$HOME/modes" "$(dirname "$1")/link"
    """
    editing(edited, script).output("edit", "u.token")
    assert edited.get("u.token") == b"new"
    assert (edited.folder / "modes").read_text().split() == ["700", "600"], "and no link was followed"
    links = {path.name: path.read_bytes().strip(b"\0") for path in memory.iterdir()}
    assert links == {"first": b"", "second": b"", "copy": b""}


def test_without_a_file_system_in_memory_it_refuses_with_8(home: Home) -> None:
    home.set("u.token", b"old")
    hidden = home.with_variables(EDITOR="touch ran; :", XDG_RUNTIME_DIR=str("/proc")).started_through(
        "unshare", "-m", "sh", "-c", 'mount -t proc proc /dev/shm && exec "$@"', "sh"
    )
    assert "in memory" in hidden.refusal(8, "edit", "u.token")
    assert not (home.folder / "ran").exists()


@pytest.mark.parametrize(
    ("type", "value", "edit", "shown"),
    [
        ("date", "2026-01-31", "s/2026/2027/", b"2027-01-31T00:00:00.000Z"),
        ("int", "41", "s/1/2/", b"42"),
        ("json", "[1.5,2.0,true]", "s/true/false/", b"[1.5,2,false]"),
        ("json", '{"a":"b"}', "s/b/c/", b'{"a":"c"}'),
    ],
)
def test_typed_values_keep_their_type(edited: Home, type: str, value: str, edit: str, shown: bytes) -> None:
    edited.output("set", "x", "--type", type, stdin=value.encode())
    kind = json.loads(edited.output("ls", "x", "--json"))["items"][0]["kind"]
    edited.with_variables(EDITOR=f"sed -i '{edit}'").output("edit", "x")
    assert edited.get("x") == shown
    assert json.loads(edited.output("ls", "x", "--json"))["items"][0]["kind"] == kind


def test_what_cannot_be_stored_is_kept_in_memory(edited: Home, memory: Path) -> None:
    edited.output("set", "x", "--type", "int", stdin=b"41")
    message = editing(edited, 'echo many > "$1"').refusal(2, "edit", "x")
    (kept,) = memory.iterdir()
    assert str(kept / "value") in message and (kept / "value").read_text() == "many"
    assert "vault set" not in message, "it cannot be stored as what it was"
    assert mode(kept) == 0o700 and edited.get("x") == b"41"


def test_another_processs_change_is_not_overwritten(edited: Home, memory: Path) -> None:
    other = f'echo mine > "$1"; echo theirs | {edited.binary} set u.token'
    message = editing(edited, other).refusal(4, "edit", "u.token")
    assert "changed in the meantime" in message and edited.get("u.token") == b"theirs"
    (kept,) = memory.iterdir()
    assert str(kept / "value") in message and (kept / "value").read_text() == "mine"


@pytest.mark.parametrize(
    ("value", "edited_to", "stored"),
    [(b"a\nb", "x\\ny\\n", b"x\ny"), (b"a\nb\n", "x\\ny\\n", b"x\ny\n")],
)
def test_the_advised_command_stores_just_what_was_typed(
    edited: Home, memory: Path, value: bytes, edited_to: str, stored: bytes
) -> None:
    edited.set("-n x", value)
    other = f"printf '{edited_to}' > \"$1\"; echo theirs | {edited.binary} set -- '-n x'"
    message = editing(edited, other).refusal(4, "edit", "--", "-n x")
    finished = edited.shell(re.search(r"To replace the entry with it: `(vault set .*?)`\.", message)[1])
    assert finished.returncode == 0 and edited.get("-n x") == stored
    edited.output("set", "day", "--type", "date", stdin=b"2026-01-31")
    other = f'sed -i s/31/30/ "$1"; {edited.binary} set day --type date < other'
    (edited.folder / "other").write_text("2026-01-01")
    message = editing(edited, other).refusal(4, "edit", "day")
    edited.shell(re.search(r"To replace the entry with it: `(vault set .*?)`\.", message)[1])
    assert edited.get("day") == b"2026-01-30T00:00:00.000Z"


@pytest.mark.parametrize(("former", "options"), [("2999-01-31", "--expires 2998-12-24"), ("2999-01-31", "")])
def test_the_advised_command_keeps_the_expiry(edited: Home, memory: Path, former: str, options: str) -> None:
    """The one that the entry has now; if it has none, the one that it had when it was opened."""
    edited.output("set", "x", "--expires", former, stdin=b"old")
    other = f"echo mine > \"$1\"; echo theirs | {edited.binary} set {options} x"
    message = editing(edited, other).refusal(4, "edit", "x")
    assert edited.shell(re.search(r"To replace the entry with it: `(vault set .*?)`\.", message)[1]).returncode == 0
    (item,) = json.loads(edited.output("ls", "x", "--json"))["items"]
    assert edited.get("x") == b"mine" and item["expires"][:10] == (options[-10:] or former)
    assert edited.shell(re.search(r"`(rm -r .*?)`", message)[1]).returncode == 0
    assert list(memory.iterdir()) == []


@pytest.mark.parametrize("more", [0, 1])
def test_a_text_that_is_too_large_is_kept_too(edited: Home, memory: Path, more: int) -> None:
    size = (16 << 20) + more
    script = f'head -c {size} /dev/zero | tr "\\0" x > "$1"'
    if more == 0:
        editing(edited, script).output("edit", "u.token")
        assert len(edited.get("u.token")) == size and list(memory.iterdir()) == []
        return
    message = editing(edited, script).refusal(2, "edit", "u.token")
    (kept,) = memory.iterdir()
    assert str(kept / "value") in message and (kept / "value").stat().st_size == size
    assert "vault set" not in message and edited.get("u.token") == b"old"
    assert edited.shell(re.search(r"`(rm -r .*?)`", message)[1]).returncode == 0
    assert list(memory.iterdir()) == []


# What SIGKILL leaves

# An editor that is open until the test removes the file.
OPEN = 'touch "$HOME/open"; while [ -e "$HOME/open" ]; do sleep 0.01; done'


def left_by_a_killed_one(edited: Home, memory: Path) -> Path:
    """Where a text is whose editor has ended after its `vault edit` was killed."""
    # The editor keeps the streams open.
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    process = editing(edited, f'echo typed > "$1"; {OPEN}').start("edit", "u.token", **streams)
    until((edited.folder / "open").exists)
    process.kill()
    process.wait()
    (folder,) = memory.iterdir()
    return folder


def remover(edited: Home, name: str) -> Home:
    return editing(edited, "true") if name == "edit" else edited


@pytest.mark.parametrize("words", [("edit", "u.token"), ("doctor",)], ids=" ".join)
def test_what_a_killed_one_leaves_is_wiped_and_removed(edited: Home, memory: Path, words: tuple[str, ...]) -> None:
    folder = left_by_a_killed_one(edited, memory)
    os.link(folder / "value", memory / "link")
    there = remover(edited, words[0])
    there.run(*words)
    assert (folder / "value").read_text() == "typed\n", "its editor is open"
    (edited.folder / "open").unlink()
    time.sleep(0.5)
    said = there.run(*words)
    assert b"killed `vault edit`" in said.stdout + said.stderr
    assert [path.name for path in memory.iterdir()] == ["link"]
    assert (memory / "link").read_bytes().strip(b"\0") == b""
    assert b"killed" not in there.run("edit", "u.token").stderr


@pytest.mark.parametrize("words", [("edit", "u.token"), ("doctor",)], ids=" ".join)
def test_nothing_else_is_removed(edited: Home, memory: Path, words: tuple[str, ...]) -> None:
    """What is open, what is kept for the person, what is another user's, and what only has such a name."""
    process = editing(edited, OPEN).start("edit", "u.token")
    until((edited.folder / "open").exists)
    (used,) = (path.name for path in memory.iterdir())
    (memory / "vault-kept-1").mkdir(mode=0o700)
    (memory / "vault-edit-others").mkdir(mode=0o700)
    os.chown(memory / "vault-edit-others", NOBODY, NOBODY)
    (memory / "vault-edit-open").mkdir(mode=0o755)
    (memory / "vault-edit-file").touch(0o700)
    (memory / "away").mkdir(mode=0o700)
    (memory / "vault-edit-link").symlink_to("away")
    before = sorted(path.name for path in memory.iterdir())
    said = remover(edited, words[0]).run(*words)
    assert b"killed" not in said.stdout + said.stderr
    assert words[0] == "edit" or b"Memory contains values" in said.stdout
    (memory / "vault-kept-1").rmdir()
    before.remove("vault-kept-1")
    assert b"edited values" in (shown := edited.run("doctor").stdout) and b"one value is being edited" in shown
    assert sorted(path.name for path in memory.iterdir()) == before and used in before
    (edited.folder / "open").unlink()
    assert process.wait(10) == 0
    process.communicate()


def test_doctor_names_the_texts_that_could_not_be_stored(edited: Home, memory: Path) -> None:
    editing(edited, f'echo mine > "$1"; echo theirs | {edited.binary} set u.token').refusal(4, "edit", "u.token")
    (kept,) = memory.iterdir()
    (line,) = (line for line in edited.run("doctor").stdout.decode().splitlines() if "edited values" in line)
    assert line.startswith("warning") and str(kept) in line
    edited.shell(line.rsplit("`", 2)[1])
    assert list(memory.iterdir()) == [] and b"none left in memory" in edited.run("doctor").stdout


@pytest.mark.parametrize("change", ["set x", "rm u.token"])
def test_a_name_that_appears_or_disappears_meanwhile_is_a_change(edited: Home, change: str) -> None:
    name = "x" if "x" in change else "u.token"
    editing(edited, f'echo mine > "$1"; echo a | {edited.binary} {change}').refusal(4, "edit", name)
    assert edited.run("get", name).stdout == (b"a" if name == "x" else b"")


def test_what_is_no_text_is_not_edited(edited: Home) -> None:
    edited.set("x", b"\xff\x00")
    for name, word in (("x", "not text"), ("u.token.host", "attribute")):
        assert word in edited.with_variables(EDITOR="touch ran; :").refusal(4, "edit", name)
    assert not (edited.folder / "ran").exists()


def test_the_outcome_is_told_as_json(edited: Home) -> None:
    report = editing(edited, 'echo noise; echo new > "$1"').run("edit", "--json", "u.token")
    assert json.loads(report.stdout) == {"name": "u.token", "size": 3, "outcome": "replaced"}
    assert is_documented(json.loads(report.stdout), "edit", edited)
    report = editing(edited, "true").output("edit", "--json", "u.token")
    assert json.loads(report) == {"name": "u.token", "size": 3, "outcome": "unchanged"}
    report = editing(edited, 'echo new > "$1"').output("edit", "--json", "x")
    assert json.loads(report) == {"name": "x", "size": 3, "outcome": "stored"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_editor_and_leaves_nothing(edited: Home, memory: Path, number: signal.Signals) -> None:
    process = editing(edited, f'echo new > "$1"; ln "$1" {memory}/link; exec sleep 60').start("edit", "u.token")
    until((memory / "link").exists)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == -number
    assert [path.name for path in memory.iterdir()] == ["link"]
    assert (memory / "link").read_bytes().strip(b"\0") == b""
    assert edited.get("u.token") == b"old"


def test_ctrl_c_is_the_editors(edited: Home, memory: Path) -> None:
    home = editing(edited, 'trap "echo new > \'$1\'; exit 0" INT; echo ready; while :; do sleep 0.05; done')
    with Terminal(home, "edit", "u.token") as terminal:
        terminal.expect("ready")
        terminal.type("\x03")
        assert terminal.end()[0] == 0
    assert edited.get("u.token") == b"new" and list(memory.iterdir()) == []


def test_the_editor_has_the_terminal_though_the_standard_streams_are_pipes(edited: Home) -> None:
    home = editing(edited, 'test -t 0 && test -t 1 && echo new > "$1"')
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Terminal(home, "edit", "--json", "u.token", **pipes) as terminal:
        terminal.process.wait(20)
        assert json.loads(terminal.process.stdout.read())["outcome"] == "replaced"


@pytest.mark.parametrize(
    ("editor", "ready", "keys"),
    [
        pytest.param("vi -c 'set backup'", "old", ":s/old/new/\r:wq\r", marks=pytest.mark.needs("vi")),
        pytest.param("nano --backup", "old", "\x0bnew\x0f\r\x18", marks=pytest.mark.needs("nano")),
        pytest.param("ed", "4", "s/old/new/\nw\nq\n", marks=pytest.mark.needs("ed")),
    ],
)
def test_real_editors_edit_it(edited: Home, memory: Path, editor: str, ready: str, keys: str) -> None:
    home = edited.with_variables(EDITOR=editor, TERM="xterm")
    with Terminal(home, "edit", "u.token", columns=80) as terminal:
        terminal.answer(ready, keys)
        assert terminal.end()[0] == 0, terminal.everything
    assert edited.get("u.token") == b"new" and list(memory.iterdir()) == []


def test_another_user_cannot_look(edited: Home) -> None:
    """The folder's mode, seen from outside while the editor runs."""
    looking = " ".join(AS_NOBODY) + ' ls "$(dirname "$1")" > "$HOME/seen" 2>&1; true'
    os.chmod(edited.variables["XDG_RUNTIME_DIR"], 0o755)
    editing(edited, looking).output("edit", "u.token")
    assert "Permission denied" in (edited.folder / "seen").read_text() and NOBODY != os.getuid()
