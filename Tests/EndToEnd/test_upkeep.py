"""What an upkeep step meets on the way of a change is told, remembered, and not tried again at once."""

import json
import os
from pathlib import Path

from homes import Home
from layout import records
from tracing import trace

VALUE = b"v" * 50_000


def with_damage(home: Home) -> int:
    """A vault that is about to be compacted, with one bit changed in the payload of an old record; tells where the record lies."""
    home.keep_no_history()
    home.set("old", b"o" * 1000)
    for _ in range(5):
        home.set("u.token", VALUE)
    record = records(home.vault)[0]
    with home.vault.open("r+b") as file:
        file.seek(record.end - 20)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
    return record.offset


def warnings(home: Home, *words: str, stdin: bytes = VALUE) -> list[str]:
    finished = home.run(*words, stdin=stdin)
    assert finished.returncode == 0, finished
    return finished.stderr.decode().splitlines()


def test_damage_that_keeps_a_vault_from_being_compacted_is_told_at_each_change(home: Home) -> None:
    offset = with_damage(home)
    told = []
    for _ in range(5):
        told.append(warnings(home, "set", "u.token"))
        assert bool(told[-1]) == any(home.memory.glob("*.upkeep")), "the first failure is told too"
    assert any(told), "a compaction was due"
    first = next(index for index, lines in enumerate(told) if lines)
    for lines in told[first:]:
        (line,) = lines
        assert line.startswith("vault: warning: ") and "damaged" in line and f"byte {offset}" in line
        assert "Outdated values" in line
    assert home.get("u.token") == VALUE


def test_it_is_shown_by_info_until_the_damage_is_gone(home: Home) -> None:
    with_damage(home)
    damaged = home.vault.read_bytes()
    for _ in range(5):
        warnings(home, "set", "u.token")
    assert "damaged" in home.output("info").decode()
    (problem,) = json.loads(home.output("info", "--json"))["problems"]
    assert "cannot be compacted" in problem
    repaired = bytearray(home.vault.read_bytes())
    record = records(home.vault)[0]
    repaired[record.end - 20] ^= 1
    assert len(damaged) <= len(repaired)
    home.vault.write_bytes(repaired)
    home.output("verify")
    assert json.loads(home.output("info", "--json"))["problems"] == []
    assert warnings(home, "set", "u.token") == []
    assert home.vault.stat().st_size < 200_000, "compacted again"


def test_what_verify_and_compact_find_is_remembered_too(home: Home) -> None:
    for words in (("verify",), ("compact",)):
        other = Home(home.binary, home.folder / words[0])
        with_damage(other)
        assert json.loads(other.output("info", "--json"))["problems"] == []
        other.refusal(6, *words)
        (problem,) = json.loads(other.output("info", "--json"))["problems"]
        assert "damaged" in problem


def test_what_a_compaction_finds_that_raises_the_cost_is_remembered_too(home: Home) -> None:
    home.key.parent.mkdir(parents=True)
    home.key.write_bytes(b"a passphrase of people\n")
    home.key.chmod(0o600)
    home.output("init", "--argon2id", "1,8")
    with_damage(home)
    home.refusal(6, "compact", "--argon2id", "2,8")
    (problem,) = json.loads(home.output("info", "--json"))["problems"]
    assert "damaged" in problem


def compactions(home: Home, count: int) -> int:
    """How many of so many sets try to compact the vault."""
    tried = 0
    for _ in range(count):
        calls = trace(home, "set", "u.token", stdin=VALUE, names=("openat", "flock"))
        tried += any(".vault-new" in call.line and "O_CREAT" in call.line for call in calls)
    return tried


def test_other_processes_do_not_try_again_at_once(home: Home) -> None:
    with_damage(home)
    assert compactions(home, 10) == 1


def test_a_disk_without_room_for_the_new_file_is_told_and_not_tried_again_at_once(home: Home, tmp_path: Path) -> None:
    home.keep_no_history()
    for _ in range(5):
        home.set("u.token", VALUE)
    # A folder in the way of the new file stands for any system that refuses.
    (home.vault.parent / f".{home.vault.name}.vault-new").mkdir()
    told = [warnings(home, "set", "u.token") for _ in range(6)]
    lines = [line for lines in told for line in lines]
    assert lines and all("could not be compacted" in line and "until a compaction succeeds" in line for line in lines)
    assert compactions(home, 3) == 0
    assert home.get("u.token") == VALUE


def test_a_compaction_that_finds_the_manifest_damaged_writes_nothing(home: Home) -> None:
    home.set("u.token", b"tok")
    content = bytearray(home.vault.read_bytes())
    content[int.from_bytes(content[80:88], "little") + 20] ^= 1
    home.vault.write_bytes(content)
    assert "Nothing was repaired." in home.refusal(6, "compact")
    assert home.vault.read_bytes() == content
