"""A vault in a repository whose branches have changes of their own: `kept-in = git` in the configuration."""

from pathlib import Path

import pytest

from homes import Home
from layout import HEADER_SIZE, records
from test_git_merge import Clone, machine

DAMAGED, ALARM = 6, 9


@pytest.fixture
def clone(binary: str, tmp_path: Path) -> Clone:
    """Two branches that have a change each, after one that both have."""
    home = machine(binary, tmp_path / "home")
    clone = Clone(home, home.folder / "here")
    clone.folder.mkdir()
    clone.git("init", "--quiet", "--initial-branch=main")
    config = home.folder / ".config/vault/config"
    config.parent.mkdir(parents=True)
    config.write_text(f"[project]\nvault = {clone.vault}\nkey-file = {home.key}\nkept-in = git\n")
    commit(clone, "one")
    clone.git("checkout", "--quiet", "-b", "feature")
    commit(clone, "two")
    clone.git("checkout", "--quiet", "main")
    commit(clone, "three")
    return clone


def vault(clone: Clone, *words: str, stdin: bytes = b"", section: str = "project") -> bytes:
    return clone.home.output("--vault", section, *words, stdin=stdin)


def commit(clone: Clone, name: str) -> None:
    vault(clone, "set", name, stdin=name.encode())
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--message", f"set {name}")


def names(clone: Clone, section: str = "project") -> list[str]:
    vault(clone, "verify", section=section)
    return vault(clone, "ls", section=section).decode().split()


def test_a_checkout_of_another_branch_is_no_alarm(clone: Clone) -> None:
    for branch, expected in (("feature", ["one", "two"]), ("main", ["one", "three"]), ("main~1", ["one"])) * 2:
        clone.git("checkout", "--quiet", branch)
        assert names(clone) == expected
    clone.git("checkout", "--quiet", "feature")
    commit(clone, "four")
    assert names(clone) == ["four", "one", "two"]


@pytest.mark.parametrize("section", ["project", "path"])
def test_a_salvage_of_an_older_file_is_certain_of_nothing(clone: Clone, section: str) -> None:
    """The newest two records are cut off, and a checkout that looks just so was believed."""
    for name in ("four", "five"):
        commit(clone, name)
    found, content = records(clone.vault), bytearray(clone.vault.read_bytes())
    content[found[-2].offset :] = bytes(len(content) - found[-2].offset)
    content[HEADER_SIZE + 4] ^= 1
    clone.vault.write_bytes(content)
    assert "the header's copy" in clone.home.refusal(DAMAGED, "--vault", "project", "verify")
    opened = "project" if section == "project" else str(clone.vault)
    finished = clone.home.run("--vault", opened, "--key-file", str(clone.home.key), "salvage", "out")
    told = finished.stdout.decode()
    assert finished.returncode == DAMAGED and "last value: 0." in told
    assert "Copied, but the last change may be lost:\n  one\n  three\n" in told
    assert "this machine has seen change" in told and "No entry is missing." not in told


def test_without_the_setting_it_is_an_alarm(clone: Clone) -> None:
    clone.git("checkout", "--quiet", "main~1")
    told = clone.home.refusal(ALARM, "--vault", str(clone.vault), "get", "one")
    assert "git repository" in told and "`kept-in = git`" in told and "--accept-rolled-back" in told
    assert vault(clone, "get", "one") == b"one"


def test_the_advice_leads_there(clone: Clone) -> None:
    """A vault that was in git before the configuration said so."""
    config = clone.home.folder / ".config/vault/config"
    text = config.read_text()
    config.write_text(text.replace("kept-in = git\n", ""))
    (heads,) = clone.home.memory.glob("*.heads")
    heads.unlink()
    commit(clone, "four")
    clone.git("checkout", "--quiet", "feature")
    assert "`kept-in = git`" in clone.home.refusal(ALARM, "--vault", "project", "ls")
    config.write_text(text)
    told = clone.home.refusal(ALARM, "--vault", "project", "ls")
    assert "--accept-" in told and "kept-in" not in told
    vault(clone, "ls", "--accept-diverged", "--accept-rolled-back")
    for branch in ("main", "feature", "main"):
        clone.git("checkout", "--quiet", branch)
        assert names(clone) == (["one", "two"] if branch == "feature" else ["four", "one", "three"])


def test_a_rebase_merges_and_is_no_alarm(clone: Clone) -> None:
    clone.set_up()
    clone.git("checkout", "--quiet", "feature")
    clone.git("rebase", "--quiet", "main")
    assert names(clone) == ["one", "three", "two"]
    clone.git("checkout", "--quiet", "main")
    assert names(clone) == ["one", "three"]


def test_a_bisection_is_no_alarm(clone: Clone) -> None:
    for number in range(5):
        commit(clone, f"n{number}")
    clone.git("bisect", "start", "HEAD", "main~6")
    # The first commit with "n2" is looked for.
    command = "vault --vault project ls | grep -q n2 && exit 1; test ${PIPESTATUS[0]} = 0 || exit 128"
    clone.git("bisect", "run", "bash", "-c", command)
    assert "set n2" in clone.git("log", "-1", "--format=%s", "refs/bisect/bad")
    clone.git("bisect", "reset")
    assert "n4" in names(clone)


def test_two_worktrees_take_turns(clone: Clone, tmp_path: Path) -> None:
    other = clone.home.folder / "there"
    clone.git("worktree", "add", "--quiet", str(other), "feature")
    config = clone.home.folder / ".config/vault/config"
    text = config.read_text()
    config.write_text(text + text.replace("[project]", "[other]").replace(str(clone.vault), str(other / "team.vault")))
    for number in range(3):
        assert names(clone) == ["one", *(f"p{n}" for n in range(number)), "three"]
        vault(clone, "set", f"p{number}", stdin=b"1")
        assert names(clone, "other") == ["one", *(f"q{n}" for n in range(number)), "two"]
        vault(clone, "set", f"q{number}", stdin=b"2", section="other")


def test_what_comes_from_others_is_no_alarm_and_a_foreign_history_is(clone: Clone, tmp_path: Path) -> None:
    mia = machine(clone.home.binary, tmp_path / "mia")
    copy = mia.folder / "copy.vault"
    first = clone.content("main~1:team.vault")
    copy.write_bytes(first)
    options = ("--vault", str(copy), "--key-file", str(clone.home.key))
    mia.output(*options, "set", "mia", stdin=b"mia")
    # It goes on from what this machine has seen.
    clone.vault.write_bytes(copy.read_bytes())
    assert names(clone) == ["mia", "one"]
    # Another vault under the same path has never been seen.
    mia.output("--vault", str(mia.folder / "another.vault"), "--key-file", str(clone.home.key), "set", "x", stdin=b"x")
    clone.vault.write_bytes((mia.folder / "another.vault").read_bytes())
    clone.home.refusal(ALARM, "--vault", "project", "ls")
    # A machine that knows only the first state, without its history, has seen nothing of the later ones' beginning.
    tom = machine(clone.home.binary, tmp_path / "tom")
    config = tom.folder / ".config/vault/config"
    config.parent.mkdir(parents=True)
    config.write_text(f"[project]\nvault = {tom.folder}/v.vault\nkey-file = {clone.home.key}\nkept-in = git\n")
    (tom.folder / "v.vault").write_bytes(copy.read_bytes())
    assert tom.output("--vault", "project", "get", "mia") == b"mia"
    (tom.folder / "v.vault").write_bytes(clone.content("main:team.vault"))
    tom.refusal(ALARM, "--vault", "project", "ls")


def test_another_word_is_refused(home: Home) -> None:
    config = home.folder / ".config/vault/config"
    config.parent.mkdir(parents=True)
    config.write_text(f"[a]\nvault = {home.vault}\nkept-in = mercurial\n")
    assert "Write kept-in = git" in home.refusal(2, "--vault", "a", "ls")
