"""The exit codes, which are stable."""

import fcntl
import subprocess

import pytest

from canaries import CANARY
from homes import Home


def test_success_is_0(stored: Home) -> None:
    for words in (("get", "u.token"), ("ls",), ("exists", "u.token"), ("verify",), ("compact",), ("info",), ("help",)):
        assert stored.run(*words).returncode == 0, words


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nonsense",),
        ("get",),
        ("show", "a", "b"),
        ("get", "--nonsense", "a"),
        ("--force", "rm", "a"),
        ("mv", "a"),
        ("rm",),
        ("find",),
        ("get", "--vault"),
        ("get", "--json=yes", "a"),
        ("ls", "--timeout", "soon"),
        ("ls", "--timeout", "-1"),
        ("help", "nonsense"),
    ],
)
def test_wrong_usage_is_2(stored: Home, words: tuple[str, ...]) -> None:
    finished = stored.run(*words)
    assert finished.returncode == 2 and finished.stdout == b"" and finished.stderr != b""


def test_an_absent_name_is_3(stored: Home) -> None:
    for words in (("get", "other"), ("rm", "other"), ("mv", "other", "new"), ("cp", "other", "new")):
        assert "other" in stored.refusal(3, *words)
    finished = stored.run("exists", "other")
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, b"", b"")


def test_mv_and_cp_over_a_name_are_refused_with_4_unless_forced(stored: Home) -> None:
    stored.set("other", b"kept")
    for command in ("mv", "cp"):
        sentence = stored.refusal(4, command, "u.token", "other")
        assert "other" in sentence and "--force" in sentence
    assert stored.values() == {"other": b"kept", "u.token": CANARY}
    stored.output("cp", "--force", "u.token", "other")
    assert stored.values() == {"other": CANARY, "u.token": CANARY}
    stored.output("mv", "-f", "u.token", "other")
    assert stored.values() == {"other": CANARY}


def test_mv_to_itself_keeps_the_value(stored: Home) -> None:
    assert stored.run("mv", "u.token", "u.token").returncode in (0, 4)
    assert stored.get("u.token") == CANARY


def test_rm_of_several_names_removes_all_or_none(stored: Home) -> None:
    stored.set("other", b"kept")
    assert "missing" in stored.refusal(3, "rm", "u.token", "missing", "other")
    assert stored.names() == ["other", "u.token"]
    stored.output("rm", "--force", "u.token", "missing")
    assert stored.names() == ["other"]
    stored.set("u.token", b"tok")
    stored.output("rm", "u.token", "other", "other")
    assert stored.names() == []


def test_a_busy_vault_is_7_for_a_writer_and_nothing_to_a_reader(stored: Home) -> None:
    with stored.vault.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for words in (("set", "u.token"), ("rm", "u.token"), ("compact",), ("mv", "u.token", "x")):
            assert "--timeout" in stored.refusal(7, "--timeout", "0.2", *words, stdin=b"new")
        assert stored.get("u.token") == CANARY and stored.names() == ["u.token"]
    stored.output("set", "u.token", "--timeout", "0", stdin=b"new")
    assert stored.get("u.token") == b"new"


def test_a_writer_waits_for_the_one_before(stored: Home) -> None:
    with stored.vault.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = stored.start("set", "u.token")
        process.stdin.write(b"new")
        process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
    assert process.wait(10) == 0
    process.stdin = None
    process.communicate()
    assert stored.get("u.token") == b"new"
