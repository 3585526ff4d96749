"""The vault's row in a database, from which alone the next append goes on: what it says is compared with the log."""

import re
import time
from pathlib import Path

import pytest

from homes import Home
from postgres import Cluster
from shared_homes import advised_clone
from test_shared_vault import other_machine

DAMAGED, ALARM = 6, 9
READING = ["get a", "ls", "verify", "log --head", "backup copy.vault"]
WRITING = ["set a", "rm a", "compact", "member add mia"]


@pytest.fixture
def mia(home: Home, own_cluster: Cluster) -> Home:
    home = home.with_variables(VAULT_FILE=own_cluster.url())
    home.set("a", b"0")
    home.output("compact")
    for number in range(1, 4):
        home.set("a", b"%d" % number)
    home.output("verify")
    return home


WRONG = {
    "sequence": "sequence = 1",
    "authenticator": "authenticator = set_byte(authenticator, 0, get_byte(authenticator, 0) # 1)",
    "size": "size = size - 16",
    "generation": "generation = 7",
    "sequence and size": "sequence = sequence - 1, size = size - 160",
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_one_that_does_not_fit_is_damage_and_is_put_back(
    mia: Home, own_cluster: Cluster, change: str, tmp_path: Path
) -> None:
    own_cluster.sql(f"UPDATE vault.head SET {change}")
    tom = other_machine(mia, tmp_path / "tom")
    for machine in (mia, tom):
        for command in READING + WRITING:
            start = time.monotonic()
            sentence = machine.refusal(DAMAGED, *command.split(), stdin=b"x")
            assert "damaged" in sentence and "Another process" not in sentence
            assert time.monotonic() < start + 5
        assert not (machine.folder / "copy.vault").exists()
    command = advised_clone(sentence)
    assert re.search("copy of .* is incomplete|has no copy", tom.refusal(8, *command))
    mia.output(*advised_clone(sentence))
    for machine in (mia, tom):
        assert machine.get("a") == b"3"
        machine.set("a", b"3")
        assert b"intact" in machine.output("verify")


def test_one_that_names_more_than_there_is_is_put_back_only_if_that_is_accepted(
    mia: Home, own_cluster: Cluster, tmp_path: Path
) -> None:
    own_cluster.sql("UPDATE vault.head SET sequence = sequence + 5")
    sentence = mia.refusal(DAMAGED, "set", "a", stdin=b"4")
    alarm = mia.refusal(ALARM, *advised_clone(sentence))
    assert "may have had later ones" in alarm and "--accept-rolled-back" in alarm
    mia.refusal(DAMAGED, "verify")
    mia.output(*advised_clone(sentence), "--accept-rolled-back")
    assert other_machine(mia, tmp_path / "tom").get("a") == b"3"
    mia.set("a", b"4")


def test_changes_that_are_lost_still_alarm_who_has_seen_them(mia: Home, own_cluster: Cluster, tmp_path: Path) -> None:
    """The extents are from an older dump than the row."""
    tom = other_machine(mia, tmp_path / "tom")
    tom.output("verify")
    mia.set("a", b"4")
    own_cluster.sql("DELETE FROM vault.extent WHERE first_byte = (SELECT max(first_byte) FROM vault.extent)")
    sentence = tom.refusal(DAMAGED, "verify")
    assert "may have had later ones" in tom.refusal(ALARM, *advised_clone(sentence))
    tom.output(*advised_clone(sentence), "--accept-rolled-back")
    assert "older copy" in mia.refusal(ALARM, "get", "a")
    # It has all of what is there, and more.
    mia.output(*advised_clone(sentence))
    assert mia.get("a") == tom.get("a") == b"4"


def test_bytes_behind_the_end_are_damage(mia: Home, own_cluster: Cluster, tmp_path: Path) -> None:
    """A machine that goes on from what it has authenticated finds them when it verifies or writes."""
    own_cluster.sql("INSERT INTO vault.extent SELECT generation, size, '\\x00'::bytea FROM vault.head")
    tom = other_machine(mia, tmp_path / "tom")
    assert mia.get("a") == b"3"
    for machine, command in ((tom, "get"), (tom, "verify"), (mia, "verify"), (mia, "set"), (tom, "set")):
        sentence = machine.refusal(DAMAGED, command, *["a"] * (command != "verify"), stdin=b"x")
        assert "after the log's end" in sentence


def test_a_missing_row_of_a_generation_keeps_nobody_from_anything(mia: Home, own_cluster: Cluster) -> None:
    own_cluster.sql("DELETE FROM vault.generation")
    for command in READING + ["set a", "compact", "set a", "verify"]:
        mia.output(*command.split(), stdin=b"x")


def test_a_salvage_reads_what_the_row_hides(mia: Home, own_cluster: Cluster) -> None:
    own_cluster.sql("UPDATE vault.head SET sequence = sequence - 1, size = base")
    mia.run("salvage", "out.vault")
    assert mia.output("--vault", str(mia.folder / "out.vault"), "get", "a") == b"3"
