"""The ways back from a server that was put back to an older state: they join what two machines have, and lose nothing."""

import re
import shlex
from pathlib import Path

import pytest

from homes import Home
from postgres import Cluster
from shared_homes import SharedVault
from test_shared_vault import other_machine

NOT_FOUND, REFUSED, DAMAGED, ALARM = 3, 4, 6, 9


@pytest.fixture
def mia(home: Home, cluster: Cluster, vault_name: str) -> Home:
    return home.with_variables(VAULT_FILE=cluster.url(vault_name))


@pytest.fixture
def server(cluster: Cluster, vault_name: str) -> SharedVault:
    return SharedVault(cluster, vault_name)


@pytest.fixture
def tom(mia: Home, server: SharedVault, tmp_path: Path) -> Home:
    """Another machine. The server is put back to what it had before mia's last change, which tom has not seen."""
    mia.set("base", b"1")
    tom = other_machine(mia, tmp_path / "tom")
    assert tom.get("base") == b"1"
    older = server.dump()
    mia.set("mia/after", b"of mia")
    server.put_back(older)
    return tom


def url(home: Home) -> str:
    return home.variables["VAULT_FILE"]


def advised(home: Home, text: str, command: str) -> bytes:
    """Runs a command that a message advises, letter by letter."""
    found = re.search(rf"`(vault [^`]*{command}[^`]*)`", text)
    assert found, text
    return home.output(*shlex.split(found[1])[1:])


def test_a_server_that_has_gone_on_is_not_replaced(mia: Home, tom: Home, tmp_path: Path) -> None:
    tom.set("tom/after", b"of tom")
    assert "a different history" in mia.refusal(ALARM, "ls")
    sentence = mia.refusal(REFUSED, "clone", "--offline", url(mia), url(mia), "--force")
    assert "left alone" in sentence and "backup FILE" in sentence and "merge FILE" in sentence
    assert tom.get("tom/after") == b"of tom"
    # Letter by letter.
    copied, merged = re.findall(r"`vault ([^`]*FILE)`", sentence)
    file = str(tmp_path / "kept.vault")
    mia.output(*shlex.split(copied.replace("FILE", file)))
    mia.output(*shlex.split(merged.replace("FILE", file)))
    for machine in (mia, tom):
        assert machine.values() == {"base": b"1", "mia/after": b"of mia", "tom/after": b"of tom"}
    mia.output("verify")


def test_a_server_that_was_only_put_back_is_replaced(mia: Home, tom: Home) -> None:
    assert "older copy" in mia.refusal(ALARM, "ls")
    mia.output("clone", "--offline", url(mia), url(mia), "--force")
    for machine in (mia, tom):
        assert machine.values() == {"base": b"1", "mia/after": b"of mia"}
    mia.set("base", b"2")
    assert tom.get("base") == b"2"


def test_a_change_that_comes_while_it_is_replaced_is_not_lost(mia: Home, tom: Home) -> None:
    mia.refusal(ALARM, "ls")
    mia.output("clone", "--offline", url(mia), url(mia), "--force")
    tom.set("tom/after", b"of tom")
    mia.refusal(REFUSED, "clone", "--offline", url(mia), url(mia), "--force")
    assert mia.get("tom/after") == b"of tom" and mia.get("mia/after") == b"of mia"


@pytest.mark.parametrize("changes", [0, 1, 2, 5])
def test_an_accepted_alarm_keeps_what_only_this_machine_has(mia: Home, tom: Home, changes: int) -> None:
    for number in range(changes):
        tom.set(f"tom/{number}", b"of tom")
    option = "--accept-diverged" if changes else "--accept-rolled-back"
    assert option in mia.refusal(ALARM, "ls")
    accepted = mia.run("ls", option)
    assert accepted.returncode == 0 and b"mia/after" not in accepted.stdout
    advised(mia, accepted.stderr.decode(), "merge")
    expected = {"base": b"1", "mia/after": b"of mia"} | {f"tom/{number}": b"of tom" for number in range(changes)}
    assert mia.values() == expected and tom.values() == expected
    mia.output("verify")
    assert mia.run("ls").stderr == b"", "it is told once"


def test_what_is_kept_lasts_and_is_named_in_a_report_too(mia: Home, tom: Home) -> None:
    tom.set("tom/after", b"of tom")
    accepted = mia.run("ls", "--accept-diverged", "--json")
    [path] = re.findall(r"vault merge '([^']+)'", accepted.stderr.decode())
    kept = Path(path)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert mia.output("--vault", path, "get", "mia/after", "--accept-diverged") == b"of mia"


def test_a_machine_that_has_lost_its_memory_keeps_its_copy_too(mia: Home, tom: Home) -> None:
    tom.set("tom/after", b"of tom")
    for path in (mia.folder / ".local/state/vault").iterdir():
        path.unlink()
    seen = mia.run("ls")
    if seen.returncode == ALARM:
        seen = mia.run("ls", "--accept-diverged")
    advised(mia, seen.stderr.decode(), "merge")
    assert mia.values() == {"base": b"1", "mia/after": b"of mia", "tom/after": b"of tom"}


def test_a_copy_that_is_not_complete_is_kept_as_it_is(mia: Home, server: SharedVault, tmp_path: Path) -> None:
    mia.set("large", b"x" * 2_000_000)
    mia.set("base", b"1")
    tom = other_machine(mia, tmp_path / "tom")
    assert tom.get("base") == b"1"
    older = server.dump()
    tom.set("tom/after", b"of tom")
    server.put_back(older)
    accepted = tom.run("ls", "--accept-rolled-back")
    text = accepted.stderr.decode()
    assert accepted.returncode == 0 and "incomplete" in text
    [command] = re.findall(r"`(vault [^`]* salvage) OUT`", text)
    out = tmp_path / "salvaged.vault"
    assert tom.run(*shlex.split(command)[1:], str(out)).returncode in (0, DAMAGED)
    assert tom.output("--vault", str(out), "get", "tom/after") == b"of tom"


def test_a_new_vault_for_one_that_is_gone_keeps_the_copy(mia: Home, server: SharedVault) -> None:
    mia.set("base", b"1")
    mia.output("verify")
    server.unlink()
    mia.refusal(REFUSED, "ls")
    created = mia.run("init", "--force")
    [path] = re.findall(r"vault merge '([^']+)'", created.stderr.decode())
    assert created.returncode == 0 and mia.output("ls") == b""
    assert mia.output("--vault", path, "get", "base") == b"1"


def test_another_vault_is_never_replaced(mia: Home, server: SharedVault, tmp_path: Path) -> None:
    mia.set("base", b"1")
    other = Home(mia.binary, tmp_path / "other", {})
    other.set("other", b"1")
    for words in (("clone", str(other.vault), url(mia)), ("--vault", str(other.vault), "backup", url(mia))):
        assert "left alone" in other.refusal(REFUSED, *words, "--force")
    assert mia.get("base") == b"1"


def test_a_clone_replaces_an_earlier_clone(mia: Home, tmp_path: Path) -> None:
    mia.set("base", b"1")
    file = str(tmp_path / "clone.vault")
    mia.output("clone", url(mia), file)
    mia.set("base", b"2")
    mia.output("clone", url(mia), file, "--force")
    assert mia.output("--vault", file, "get", "base") == b"2"
    # On another machine: this one would remember the change.
    other_machine(mia, tmp_path / "tom").output("--vault", file, "set", "here", stdin=b"1")
    sentence = mia.refusal(REFUSED, "clone", url(mia), file, "--force")
    advised(mia, sentence, "merge")
    mia.output("clone", url(mia), file, "--force")
    assert mia.get("here") == b"1"
