"""A vault that this machine remembers, and that is gone: from its disk, or from its database."""

import json
import re
import shutil
from pathlib import Path

import pytest

from homes import Home
from postgres import Cluster
from shared_homes import advised_clone
from terminals import Terminal

COMMANDS = [
    "get a", "ls", "exists a", "set a", "rm a", "history a", "verify", "info", "compact", "key ls", "member ls",
    "member add mia", "log --head", "log --changes", "backup copy.vault", "merge other.vault", "salvage out.vault",
]  # fmt: skip


@pytest.fixture
def gone(home: Home) -> Home:
    home.set("a", b"1")
    home.set("b", b"2")
    home.output("backup", "other.vault")
    home.vault.unlink()
    return home


@pytest.mark.both_paths
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_so(gone: Home, command: str) -> None:
    sentence = gone.refusal(4, *command.split(), stdin=b"x")
    assert "is gone" in sentence and re.search("Restore it|restore the vault", sentence) and "`vault init --force`" in sentence
    assert ("`vault clone --offline '" in sentence) == ("postgresql://" in str(gone.vault))
    error = json.loads(gone.run(*command.split(), "--json", stdin=b"x").stderr)["error"]
    assert (error["code"], error["exit"]) == ("gone", 4)
    assert not gone.vault.exists() and not (gone.folder / "out.vault").exists()


@pytest.mark.both_paths
def test_no_other_is_created_unasked(gone: Home) -> None:
    assert "is gone" in gone.refusal(4, "init")
    with Terminal(gone, "init") as terminal:
        terminal.answer("Create a new, empty one? [y/N] ", "no\n")
        assert terminal.end()[0] == 4
    assert not gone.vault.exists()
    with Terminal(gone, "init") as terminal:
        terminal.answer("Create a new, empty one? [y/N] ", "y\n")
        assert terminal.end()[0] == 0
    assert gone.names() == []
    gone.vault.unlink()
    gone.output("init", "--force")
    gone.set("c", b"3")
    assert gone.values() == {"c": b"3"}


@pytest.mark.both_paths
def test_the_doctor_does_not_advise_a_new_one(gone: Home) -> None:
    report = gone.run("doctor")
    assert report.returncode == 1 and b"is gone" in report.stdout and b"No vault exists yet" not in report.stdout


@pytest.mark.both_paths
def test_it_goes_on_once_it_is_restored(gone: Home) -> None:
    content = (gone.folder / "other.vault").read_bytes()
    if "postgresql://" in str(gone.vault):
        gone.output("clone", "other.vault", str(gone.vault))
    else:
        gone.vault.write_bytes(content)
    assert gone.values() == {"a": b"1", "b": b"2"}


# In a database


@pytest.fixture
def shared(home: Home, own_cluster: Cluster) -> Home:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    shared.set("b", b"x" * 300_000)
    shared.set("a", b"2")
    shared.output("verify")
    return shared


def machine(home: Home, folder: Path) -> Home:
    """Another machine with the same key file, that remembers nothing."""
    other = Home(home.binary, folder, home.variables)
    other.key.parent.mkdir(parents=True)
    shutil.copy(home.key, other.key)
    return other


LOSSES = [
    "DELETE FROM vault.head", "DELETE FROM vault.head; DELETE FROM vault.generation; DELETE FROM vault.extent",
    "TRUNCATE vault.head, vault.generation, vault.extent", "DROP TABLE vault.head",
    "DROP TABLE vault.head, vault.generation, vault.extent", "DROP SCHEMA vault CASCADE",
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_advised_puts_it_back(shared: Home, own_cluster: Cluster, loss: str, tmp_path: Path) -> None:
    fresh = machine(shared, tmp_path / "fresh")
    own_cluster.sql(loss)
    assert "no vault" in fresh.refusal(3, "get", "a"), "nothing is remembered there"
    assert "no vault" in fresh.refusal(3, "rm", "a")
    shared.refusal(4, "set", "c", stdin=b"x")
    sentence = shared.refusal(4, "get", "a")
    shared.output(*advised_clone(sentence))
    assert shared.get("a") == b"2"
    shared.set("c", b"3")
    assert fresh.values() == shared.values() == {"a": b"2", "b": b"x" * 300_000, "c": b"3"}
    assert b"intact" in shared.output("verify")


def test_a_machine_that_has_not_kept_all_says_so(shared: Home, own_cluster: Cluster, tmp_path: Path) -> None:
    # More than a `get` completes.
    shared.set("large", b"x" * (9 << 20))
    shared.output("compact")
    shared.output("verify")
    other = machine(shared, tmp_path / "other")
    assert other.get("a") == b"2"
    own_cluster.sql("DELETE FROM vault.head")
    sentence = other.refusal(4, "get", "b")
    assert "is incomplete" in other.refusal(8, *advised_clone(sentence))
    shared.output(*advised_clone(sentence))
    assert other.get("a") == b"2" and len(other.get("b")) == 300_000


def test_the_copy_does_not_stand_in_for_it(shared: Home, own_cluster: Cluster) -> None:
    config = shared.folder / ".config/vault/config"
    config.write_text(f"[team]\nvault = {own_cluster.url()}\nkey-file = {shared.key}\noffline = allow\n")
    config.chmod(0o600)
    assert shared.output("get", "a", "--vault", "team") == b"2"
    own_cluster.sql("DELETE FROM vault.head")
    shared.refusal(4, "get", "a", "--vault", "team")
    shared.refusal(4, "set", "a", "--vault", "team", stdin=b"3")
    assert shared.output("get", "a", "--offline", "--vault", "team") == b"2"


def test_what_was_changed_offline_comes_back_with_it(shared: Home, own_cluster: Cluster, tmp_path: Path) -> None:
    shared.output("set", "--offline", "a", stdin=b"offline")
    own_cluster.sql("DELETE FROM vault.head")
    sentence = shared.refusal(4, "get", "a")
    [pending] = shared.memory.glob("*-offline.vault")
    assert shared.output("get", "--offline", "a") == b"offline"
    shared.output(*advised_clone(sentence))
    assert shared.get("a") == b"offline" and not pending.exists()
    assert machine(shared, tmp_path / "other").get("a") == b"offline"
