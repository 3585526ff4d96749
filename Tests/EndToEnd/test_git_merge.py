"""`vault setup git-merge`: git merges and compares vaults by their names, in real clones on two machines."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from copies import all_values, dropping, leaving_out
from homes import NO_MEMORY, Home, mode
from json_shapes import is_documented

OTHER = 1
LINE = "*.vault -text merge=vault diff=vault\n"
PERSON = {f"GIT_{role}_{what}": "mia@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
CANARY = b"canary-9b1e"


@dataclass(frozen=True)
class Clone:
    """A repository with a vault, on a machine of its own."""

    home: Home
    folder: Path

    @property
    def vault(self) -> Path:
        return self.folder / "team.vault"

    @property
    def attributes(self) -> Path:
        return self.folder / ".gitattributes"

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = self.home.environment | variables
        return subprocess.run(words, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=60)

    def git(self, *words: str, **variables: str) -> str:
        finished = self.run("git", *words, **variables)
        assert finished.returncode == 0, finished
        return finished.stdout

    def content(self, revision: str) -> bytes:
        words = ("git", "show", "--no-textconv", revision)
        return subprocess.run(
            words, env=self.home.environment, cwd=self.folder, capture_output=True, check=True
        ).stdout

    def set_up(self, *options: str) -> str:
        finished = self.run("vault", "setup", "git-merge", *options)
        assert finished.returncode == 0, finished
        return finished.stdout

    def set(self, name: str, value: bytes) -> None:
        """Sets it in the vault of the repository, and commits that."""
        self.home.output("set", name, "--vault", str(self.vault), stdin=value)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", f"set {name}")

    @property
    def values(self) -> dict[str, list[bytes | None]]:
        self.home.output("verify", "--vault", str(self.vault))
        return all_values(self.home, self.vault)


def machine(binary: str, folder: Path) -> Home:
    """A home where `vault` is on the path, and git knows its user and nothing else of the machine."""
    home = Home(binary, folder)
    (home.folder / "bin").mkdir()
    (home.folder / "bin/vault").symlink_to(binary)
    path = f"{home.folder}/bin:{os.environ['PATH']}"
    # The folder of the tests may be in a repository, which is not theirs.
    own = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    return home.with_variables(PATH=path, **own, **PERSON)


@pytest.fixture
def repository(binary: str, tmp_path: Path) -> Clone:
    """Without a commit, and not set up."""
    home = machine(binary, tmp_path / "home")
    clone = Clone(home, home.folder / "here")
    clone.folder.mkdir()
    clone.git("init", "--quiet", "--initial-branch=main")
    return clone


@pytest.fixture
def clones(binary: str, tmp_path: Path) -> tuple[Clone, Clone]:
    """Two clones that have the same; both have the key file."""
    origin = Clone(machine(binary, tmp_path / "server"), tmp_path / "server")
    origin.git("init", "--quiet", "--bare", "--initial-branch=main", "team")
    one = cloned(origin, machine(binary, tmp_path / "one"))
    one.set("base", CANARY)
    one.git("push", "--quiet", "origin", "HEAD")
    two = cloned(origin, machine(binary, tmp_path / "two"))
    two.home.key.parent.mkdir(parents=True)
    shutil.copy(one.home.key, two.home.key)
    two.home.output("verify", "--vault", str(two.vault))
    return one, two


def cloned(origin: Clone, home: Home) -> Clone:
    Clone(home, home.folder).git("clone", "--quiet", str(origin.folder / "team"))
    made = Clone(home, home.folder / "team")
    made.set_up()
    return made


def pull(clone: Clone, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return clone.run("git", "pull", "--no-edit", *(options or ("--no-rebase",)), **variables)


# Merging


@pytest.mark.parametrize("option", ["--no-rebase", "--rebase"])
def test_changes_of_different_names_are_merged_without_a_conflict(clones: tuple[Clone, Clone], option: str) -> None:
    one, two = clones
    one.set("of-one", CANARY + b"1")
    one.git("push", "--quiet")
    two.set("of-two", CANARY + b"2")
    two.set("of-two-too", CANARY + b"3")
    finished = pull(two, option)
    assert finished.returncode == 0 and CANARY.decode() not in finished.stdout + finished.stderr, finished
    merged = {"base": [CANARY], "of-one": [CANARY + b"1"], "of-two": [CANARY + b"2"], "of-two-too": [CANARY + b"3"]}
    assert two.values == merged and two.git("status", "--porcelain") == ""
    two.git("push", "--quiet")
    assert pull(one).returncode == 0 and one.values == merged
    one.set("afterwards", CANARY)


def test_of_one_name_the_later_value_counts_and_the_conflict_is_told(clones: tuple[Clone, Clone]) -> None:
    one, two = clones
    two.set("base", b"earlier")
    one.set("base", b"later")
    one.git("push", "--quiet")
    finished = pull(two)
    assert finished.returncode == 0 and finished.stdout.count("Changed in both copies") == 1
    assert "  base\n" in finished.stdout and CANARY.decode() not in finished.stdout + finished.stderr
    assert two.values == {"base": [b"later", b"earlier", CANARY]}
    two.home.output("restore", "base", "--vault", str(two.vault))
    assert two.values["base"][0] == b"earlier"


def test_branches_of_one_machine_are_merged(clones: tuple[Clone, Clone]) -> None:
    """After a switch of the branch the file is another one than this machine remembers; what git runs does not mind."""
    one, _ = clones
    away = Clone(one.home.with_variables(**NO_MEMORY), one.folder)
    away.git("switch", "--quiet", "--create", "branch")
    away.set("of-branch", b"1")
    away.git("switch", "--quiet", "main")
    away.set("of-main", b"2")
    one.git("merge", "--quiet", "--no-edit", "branch")
    assert all_values(one.home, one.vault) == {"base": [CANARY], "of-branch": [b"1"], "of-main": [b"2"]}


@pytest.fixture
def apart(clones: tuple[Clone, Clone]) -> tuple[Clone, Clone]:
    """Two has yet to take over what one has pushed."""
    one, two = clones
    one.set("of-one", b"1")
    one.git("push", "--quiet")
    two.set("of-two", b"2")
    return one, two


def unmerged(two: Clone) -> bool:
    """Whether git has left both files for a person to choose from, and ours in its place."""
    assert two.git("status", "--porcelain") == "UU team.vault\n"
    ours, theirs = two.content(":2:team.vault"), two.content(":3:team.vault")
    is_ours_there = ours == two.content("HEAD:team.vault") == two.vault.read_bytes()
    return is_ours_there and theirs == two.content("FETCH_HEAD:team.vault")


def test_without_the_key_both_files_stay_and_are_merged_once_it_is_there(apart: tuple[Clone, Clone]) -> None:
    _, two = apart
    finished = pull(two, VAULT_KEY_FILE="/nowhere/team.key")
    assert finished.returncode == 1 and "CONFLICT" in finished.stdout and "/nowhere/team.key" in finished.stderr
    assert unmerged(two)
    (two.folder.parent / "theirs.vault").write_bytes(two.content(":3:team.vault"))
    two.home.output("merge", "--vault", str(two.vault), str(two.folder.parent / "theirs.vault"))
    two.git("commit", "--quiet", "--all", "--no-edit")
    assert two.values == {"base": [CANARY], "of-one": [b"1"], "of-two": [b"2"]}


def test_without_the_command_both_files_stay(apart: tuple[Clone, Clone]) -> None:
    _, two = apart
    finished = pull(two, PATH=os.environ["PATH"])
    assert finished.returncode == 1 and "CONFLICT" in finished.stdout
    assert unmerged(two)


def test_a_damaged_file_is_a_conflict_and_both_files_stay(apart: tuple[Clone, Clone]) -> None:
    one, two = apart
    content = bytearray(one.vault.read_bytes())
    content[8_300] ^= 1
    one.vault.write_bytes(content)
    one.git("commit", "--quiet", "--all", "--message", "damaged")
    one.git("push", "--quiet")
    finished = pull(two)
    assert finished.returncode == 1 and "CONFLICT" in finished.stdout and "damaged" in finished.stderr
    assert unmerged(two)


def test_a_copy_under_a_former_data_key_is_a_conflict(apart: tuple[Clone, Clone]) -> None:
    """Whoever was shut out by the rotation may have pushed it."""
    one, two = apart
    one.git("push", "--quiet")
    two.home.output("key", "rotate", "--vault", str(two.vault))
    two.git("commit", "--quiet", "--all", "--message", "rotate")
    before = two.values
    finished = pull(two)
    assert finished.returncode == 1 and "CONFLICT" in finished.stdout
    assert "predates the rotation of the data key here" in finished.stderr
    assert two.values == before


# What the driver's messages advise, letter by letter


def advised(finished: subprocess.CompletedProcess[str], label: str) -> str:
    (command,) = re.findall(rf"{label}: (.*?)(?:, and mark the vault as resolved: .*)?$", finished.stderr, re.MULTILINE)
    return command


def told(clone: Clone, finished: subprocess.CompletedProcess[str]) -> tuple[str, str, str]:
    """The commands that write the other version to a file, merge that, and tell git; git's own files are not named.

    The first stands before all others, and the last behind them. A merge that was refused would be so again."""
    assert finished.returncode == 1 and "CONFLICT" in finished.stdout and str(clone.vault) in finished.stderr, finished
    assert ".merge_file_" not in finished.stdout + finished.stderr
    first = advised(finished, "write the other version to a file")
    [(merge, add)] = re.findall(r"^(?:Fix that, merge the file: (.*), and|Then) mark the vault as resolved: (.*)$", finished.stderr, re.MULTILINE)
    assert finished.stderr.index(f"{clone.vault}.other") == finished.stderr.index(first) + first.index(f"{clone.vault}.other")
    assert "vault --vault" not in finished.stderr[finished.stderr.index(add):]
    return first, merge, add


def by_shell(clone: Clone, line: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", line], env=clone.home.environment, cwd=folder or clone.home.folder, capture_output=True, text=True)


def test_without_the_key_the_advice_merges_once_it_is_there(apart: tuple[Clone, Clone]) -> None:
    _, two = apart
    first, merge, add = told(two, pull(two, VAULT_KEY_FILE="/nowhere/team.key"))
    for line in (first, merge, add):
        finished = by_shell(two, line)
        assert finished.returncode == 0, (line, finished)
    assert two.git("status", "--porcelain", "--untracked-files=no") == "M  team.vault\n"
    two.git("commit", "--quiet", "--no-edit")
    assert two.values == {"base": [CANARY], "of-one": [b"1"], "of-two": [b"2"]}


@pytest.mark.parametrize("option", ["--no-rebase", "--rebase"])
def test_a_damaged_other_side_is_named_as_the_file_that_the_advice_writes(
    apart: tuple[Clone, Clone], option: str
) -> None:
    one, two = apart
    content = bytearray(one.vault.read_bytes())
    content[8_300] ^= 1
    one.vault.write_bytes(content)
    one.git("commit", "--quiet", "--all", "--message", "damaged")
    one.git("push", "--quiet")
    finished = pull(two, option)
    first, merge, _ = told(two, finished)
    assert by_shell(two, first).returncode == 0
    other = Path(f"{two.vault}.other")
    if option == "--no-rebase":
        assert other.read_bytes() == bytes(content)
        assert f"The vault {other} is damaged" in finished.stderr
        assert by_shell(two, merge).returncode == 6
    salvage = re.search(r"`(vault .*? salvage OUT)`", finished.stderr)[1]
    assert by_shell(two, salvage).returncode in (0, 6)


def test_a_copy_under_a_former_data_key_is_taken_by_name_as_the_message_says(apart: tuple[Clone, Clone]) -> None:
    _, two = apart
    two.home.output("key", "rotate", "--vault", str(two.vault))
    two.git("commit", "--quiet", "--all", "--message", "rotate")
    finished = pull(two)
    first, _, add = told(two, finished)
    assert f"The other version of {two.vault} predates the rotation" in finished.stderr and "\n  of-one\n" in finished.stderr
    take = advised(finished, "accept it").replace("NAME", "of-one")
    for line in (first, take, add):
        ended = by_shell(two, line)
        assert ended.returncode == 0, (line, ended)
    two.git("commit", "--quiet", "--no-edit")
    assert two.values == {"base": [CANARY], "of-one": [b"1"], "of-two": [b"2"]}


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_a_rotation_on_the_other_side_shuts_out_is_kept_or_left_out_as_the_message_says(
    apart: tuple[Clone, Clone], is_kept: bool
) -> None:
    one, two = apart
    one.home.output("key", "rotate", "--vault", str(one.vault))
    one.git("commit", "--quiet", "--all", "--message", "rotate")
    one.git("push", "--quiet")
    finished = pull(two)
    first, _, add = told(two, finished)
    assert f"The other version of {two.vault} records that someone lost access" in finished.stderr
    lines = {advised(finished, "keep them"): 0} if is_kept else dict(zip(leaving_out(finished.stderr), (0, 9, 9)))
    assert by_shell(two, first).returncode == 0
    for line, code in lines.items():
        ended = by_shell(two, line)
        assert ended.returncode == code, (line, ended)
    if not is_kept:
        (option,) = re.findall("--accept-[a-z-]+", ended.stderr)
        assert by_shell(two, f"{line} {option}").returncode == 0
    assert by_shell(two, add).returncode == 0
    two.git("commit", "--quiet", "--no-edit")
    both = {"base": [CANARY], "of-one": [b"1"]}
    assert two.values == (both | {"of-two": [b"2"]} if is_kept else both)
    two.home.output("set", "afterwards", "--vault", str(two.vault), stdin=b"3")


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_key_that_the_other_side_has_not_is_kept_or_left_out_as_the_message_says(
    apart: tuple[Clone, Clone], tmp_path: Path, is_kept: bool
) -> None:
    """Both were rotated. Whichever way is gone, what is committed has been merged."""
    one, two = apart
    bob = str(tmp_path / "bob.key")
    two.home.output("key", "add", "--file", bob, "--label", "bob", "--vault", str(two.vault))
    for clone, options in ((one, ()), (two, ("--file", f"2={bob}"))):
        clone.home.output("key", "rotate", *options, "--vault", str(clone.vault))
        clone.git("commit", "--quiet", "--all", "--message", "rotate")
    one.git("push", "--quiet")
    finished = pull(two)
    first, _, add = told(two, finished)
    assert by_shell(two, first).returncode == 0
    if is_kept:
        ended = by_shell(two, advised(finished, "keep them"))
        assert ended.returncode == 9 and "\n  of-one\n" in ended.stderr
    else:
        for line, code in zip(dropping(finished.stderr), (0, 9)):
            ended = by_shell(two, line)
            assert ended.returncode == code, (line, ended)
    ended = by_shell(two, advised(ended, "accept it").replace("NAME", "of-one"))
    assert ended.returncode == 0, ended
    assert by_shell(two, add).returncode == 0
    two.git("commit", "--quiet", "--no-edit")
    assert two.values == {"base": [CANARY], "of-one": [b"1"], "of-two": [b"2"]}
    bobs = two.home.run("--vault", str(two.vault), "--key-file", bob, "get", "of-one")
    assert bobs.returncode == (0 if is_kept else 5)


def test_another_vault_on_the_other_side_is_told(apart: tuple[Clone, Clone]) -> None:
    one, two = apart
    one.vault.unlink()
    one.home.output("init", "--vault", str(one.vault), "--force")
    one.git("commit", "--quiet", "--all", "--message", "another")
    one.git("push", "--quiet")
    finished = pull(two)
    first, merge, _ = told(two, finished)
    assert f"{two.vault}.other is another vault, not a copy" in finished.stderr
    assert by_shell(two, first).returncode == 0
    assert "is another vault, not a copy" in by_shell(two, merge).stderr


def test_the_advice_names_the_key_that_the_driver_was_given_and_any_path(apart: tuple[Clone, Clone]) -> None:
    """The vault is in a folder, and both have names that a shell would take for its own."""
    one, two = apart
    key = two.home.key.rename(two.home.folder / "it's 100%A $HOME.key")
    two.set_up("--key-file", str(key))
    folder = "it's $HOME"
    for clone, name in ((one, "one"), (two, "two")):
        (clone.folder / folder).mkdir(exist_ok=True)
    assert pull(two).returncode == 0
    two.git("mv", "team.vault", f"{folder}/a vault.vault")
    two.git("commit", "--quiet", "--message", "moved")
    two.git("push", "--quiet", "origin", "HEAD")
    one.git("pull", "--quiet")
    for clone in (one, two):
        vault = clone.folder / folder / "a vault.vault"
        options = ["--key-file", str(key)] if clone is two else []
        clone.home.output("set", clone.folder.parent.name, "--vault", str(vault), *options, stdin=b"5")
        clone.git("commit", "--quiet", "--all", "--message", "changed")
    one.git("push", "--quiet")
    hidden = key.rename(key.with_name("hidden"))
    finished = pull(two)
    hidden.rename(key)
    (first,) = re.findall(r"write the other version to a file: (.*)$", finished.stderr, re.MULTILINE)
    (merge, add) = re.findall(r"Fix that, merge the file: (.*), and mark the vault as resolved: (.*)$", finished.stderr, re.MULTILINE)[0]
    for line in (first, merge, add):
        ended = by_shell(two, line)
        assert ended.returncode == 0, (line, ended)
    two.git("commit", "--quiet", "--no-edit")
    listed = two.home.output("ls", "--vault", str(two.folder / folder / "a vault.vault"), "--key-file", str(key))
    assert listed == b"base\nof-one\nof-two\none\ntwo\n"


def test_a_file_that_one_side_has_removed_is_a_conflict_and_stays(apart: tuple[Clone, Clone]) -> None:
    one, two = apart
    one.git("rm", "--quiet", "team.vault")
    one.git("commit", "--quiet", "--message", "removed")
    one.git("push", "--quiet")
    finished = pull(two)
    assert finished.returncode == 1 and "CONFLICT (modify/delete)" in finished.stdout
    assert two.values == {"base": [CANARY], "of-two": [b"2"]}


# Comparing


def test_git_shows_names_sizes_and_times_and_never_values(apart: tuple[Clone, Clone]) -> None:
    one, _ = apart
    one.set("base", CANARY + b"new")
    shown = one.git("log", "--patch") + one.git("diff", "HEAD~2") + one.git("show")
    assert shown.count("+ 1  unspecified") == 2, "of-one in the log and the diff"
    added = [line.split() for line in one.git("show").splitlines() if line.startswith("+") and "unspecified" in line]
    (item,) = json.loads(one.home.output("ls", "base", "--vault", str(one.vault), "--json"))["items"]
    assert added == [["+14", "unspecified", item["modified"], "base"]]
    assert CANARY.decode() not in shown


def test_comparing_with_an_older_file_is_no_alarm_for_the_vault(apart: tuple[Clone, Clone]) -> None:
    one, _ = apart
    before = sorted(path.read_bytes() for path in one.home.memory.iterdir())
    one.git("diff", "HEAD~1")
    assert sorted(path.read_bytes() for path in one.home.memory.iterdir()) == before
    one.set("afterwards", b"1")


# Setting up


def test_what_it_writes_is_said_before_and_written_once(repository: Clone) -> None:
    configuration = repository.folder / ".git/config"
    before = configuration.read_bytes()
    told = repository.set_up("--dry-run")
    assert configuration.read_bytes() == before and not repository.attributes.exists()
    assert repository.set_up() == told and LINE in told
    written = configuration.read_bytes()
    assert mode(repository.attributes) == 0o644
    repository.set_up()
    assert (configuration.read_bytes(), repository.attributes.read_text()) == (written, LINE)
    for key in ("merge.vault.driver", "diff.vault.textconv"):
        (value,) = repository.git("config", "--get-all", key).splitlines()
        assert value.startswith("vault ") and f"git config {key} '{value}'" in told


@pytest.mark.parametrize("is_configured", [False, True])
def test_a_key_that_is_elsewhere_is_named_by_the_setup(apart: tuple[Clone, Clone], is_configured: bool) -> None:
    """Its name has all that a shell and git would take for theirs."""
    _, two = apart
    key = two.home.key.rename(two.home.folder / "it's 100%A $HOME.key")
    assert pull(two).returncode == 1
    two.git("merge", "--abort")
    if is_configured:
        two.home.key.with_name("config").write_text(f"[team]\nvault = {two.vault}\nkey-file = \"{key}\"\n")
        two.set_up("--vault", "team")
    else:
        two.set_up("--key-file", f"../{key.name}")
    two.git("merge", "--no-edit", "FETCH_HEAD")
    assert "of-one" in two.git("show", "--format=", "--first-parent", "-m", "HEAD")
    key.rename(two.home.key)
    assert two.values == {"base": [CANARY], "of-one": [b"1"], "of-two": [b"2"]}


def test_a_key_that_git_cannot_hand_on_is_refused(repository: Clone) -> None:
    finished = repository.run("vault", "setup", "git-merge", "--key-fd", "0")
    assert finished.returncode == 2 and "--key-file or --key-command" in finished.stderr, finished
    assert not (repository.folder / ".gitattributes").exists()


def test_in_a_folder_of_a_repository_it_is_set_up_for_all_of_it(repository: Clone) -> None:
    below = Clone(repository.home, repository.folder / "below")
    below.folder.mkdir()
    report = json.loads(below.set_up("--json"))
    assert is_documented(report, "setup git-merge", below.home)
    assert report == {"attributes": str(repository.attributes), "written": True}
    assert repository.attributes.read_text() == LINE and not below.attributes.exists()


@pytest.mark.parametrize("former", ["*.png binary\n", "*.png binary", "# *.vault -text merge=vault diff=vault\n"])
def test_other_lines_of_the_attributes_stay(repository: Clone, former: str) -> None:
    repository.attributes.write_text(former)
    repository.set_up()
    assert repository.attributes.read_text() == former.rstrip("\n") + "\n" + LINE
    assert "merge: vault" in repository.git("check-attr", "merge", "team.vault")


def test_without_a_repository_or_git_it_is_exit_1(repository: Clone) -> None:
    elsewhere = repository.home
    before = elsewhere.files()
    finished = elsewhere.run("setup", "git-merge")
    assert finished.returncode == OTHER and finished.stdout == b"" and b"not a git repository" in finished.stderr
    sentence = elsewhere.with_variables(PATH="/nowhere").refusal(OTHER, "setup", "git-merge")
    assert "git cannot be started" in sentence
    assert elsewhere.files() == before
