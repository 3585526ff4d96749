"""`vault salvage`: a damaged vault's way back into service."""

import json
import re
import shutil
import time
from pathlib import Path

import pytest

from homes import Home
from key_slots import fingerprint, new_identity
from layout import number, records

VALUES = {f"name {number}": f"value {number}".encode() for number in range(6)}
HEADER = 4_096


@pytest.fixture
def filled(home: Home) -> Home:
    for name, value in VALUES.items():
        home.set(name, value)
    return home


def flip(home: Home, *paths: int) -> bytes:
    content = bytearray(home.vault.read_bytes())
    for offset in paths:
        content[offset] ^= 1
    home.vault.write_bytes(content)
    return bytes(content)


def test_one_bit_that_locks_a_vault_out_costs_nothing(filled: Home) -> None:
    damaged = flip(filled, 130, HEADER + 130)
    sentence = filled.refusal(6, "get", "name 1")
    assert "vault salvage" in sentence
    told = filled.output("salvage", "out.vault").decode()
    assert told.startswith("Copied to out.vault. Entries with their last value: 6.\n")
    assert told.endswith("No entry is missing.\n")
    assert filled.vault.read_bytes() == damaged, "the damaged file was written to"
    # As the help says.
    filled.vault.rename(filled.folder / "damaged.vault")
    (filled.folder / "out.vault").rename(filled.vault)
    filled.refusal(9, "ls")
    filled.output("ls", "--accept-exchanged")
    assert filled.values() == VALUES
    filled.set("name 7", b"new")
    filled.output("verify")


def test_what_is_lost_is_said_and_ends_with_6(filled: Home) -> None:
    found = records(filled.vault)
    filled = filled.without_memory()
    # Within the index of the third record.
    flip(filled, found[2].offset + 70)
    finished = filled.run("salvage", "out.vault")
    assert finished.returncode == 6 and finished.stderr == b""
    told = finished.stdout.decode()
    assert "the last change may be lost:\n" in told and "Lost entries whose names are unknown: 1.\n" in told
    assert f"before byte {found[3].offset}" in told
    report = json.loads(filled.run("salvage", "again.vault", "--json").stdout)
    assert report["unnamed"] == 1 and not report["is_complete"] and report["certain"] + len(report["doubtful"]) == 5
    out = str(filled.folder / "again.vault")
    assert len(filled.output("ls", "--vault", out).decode().splitlines()) == 5
    for name in filled.output("ls", "--vault", out).decode().splitlines():
        assert filled.output("get", name, "--vault", out) == VALUES[name]


def test_an_earlier_value_that_is_lost_is_said_and_ends_with_6(home: Home) -> None:
    for value in (b"first", b"second", b"third"):
        home.set("kept", value)
        home.set("removed", value)
    home.output("rm", "removed")
    home.output("compact")
    versions = {name: json.loads(home.output("history", name, "--json"))["versions"] for name in ("kept", "removed")}
    # In the order of their values: the present one of "kept", then all that the names had before.
    boxes = [HEADER * 2 + 32 * number for number in range(6)]
    lost, sound = set(), home.vault.read_bytes()
    for number, box in enumerate(boxes):
        home.vault.write_bytes(sound)
        flip(home, box)
        home.refusal(6, "verify")
        out = f"out {number}"
        finished = home.run("salvage", out)
        assert finished.returncode == 6 and finished.stderr == b""
        told = finished.stdout.decode()
        assert "No entry is missing." not in told
        report = json.loads(home.run("salvage", out + " again", "--json").stdout)
        assert not report["is_complete"] and report["damage"] == [] and report["lost"] == []
        if report["older"]:
            assert report["older"] == ["kept"] and report["lost_versions"] == []
            continue
        (version,) = report["lost_versions"]
        former = versions[version["name"]]
        assert former[version["version"] - 1]["modified"] == version["modified"]
        assert told == (
            f"Copied to {out}. Entries with their last value: 1.\nLost earlier values:\n"
            f"  {version['name']}: version {version['version']}, from {version['modified']}\n"
        )
        lost.add((version["name"], version["version"]))
        salvaged = home.with_variables(VAULT_FILE=str(home.folder / out))
        left = json.loads(salvaged.output("history", version["name"], "--json"))["versions"]
        assert [one["modified"] for one in left] == [
            one["modified"] for one in former if one["version"] != version["version"]
        ]
    assert lost == {("kept", 1), ("kept", 2), ("removed", 1), ("removed", 2), ("removed", 3)}


def test_settings_that_are_lost_are_said_and_end_with_6(filled: Home) -> None:
    content = filled.vault.read_bytes()
    flip(filled, number(content, 80, 8))
    finished = filled.run("salvage", "out.vault")
    told = finished.stdout.decode()
    assert finished.returncode == 6 and told.startswith("Copied to out.vault. Entries with their last value: 6.\n")
    assert told.endswith("settings, the key's label and the creation time are lost.\nNo entry is missing.\n")


def test_a_lost_sector_of_the_header_costs_nothing(filled: Home) -> None:
    for number, start in enumerate([0, 3_584, HEADER, HEADER + 3_584]):
        sound = filled.vault.read_bytes()
        filled.vault.write_bytes(sound[:start] + bytes(512) + sound[start + 512 :])
        told = filled.output("salvage", f"out {number}").decode()
        assert "No entry is missing." in told and "Damaged or missing:\n  the header" in told
        filled.vault.write_bytes(sound)


MEMBERS = "  The members and the authors of changes. Add the members again: `vault --vault 'out' member add`.\n"
READS = "  The recorded reads. The new vault starts a new access log.\n"


@pytest.mark.parametrize("lost", [(), (0,), (HEADER,), (0, HEADER + 3_584), (3_584, HEADER)], ids=str)
@pytest.mark.parametrize(
    ("switched", "left"),
    [([], {}), (["log --on"], {"accesses": READS}), (["member add mia"], {"members": MEMBERS}),
     (["log --on", "member add mia"], {"members": MEMBERS, "accesses": READS})],
    ids=["plain", "log", "members", "both"],
)  # fmt: skip
def test_a_flag_of_the_header_costs_nothing_and_what_is_not_copied_is_said(
    filled: Home, switched: list[str], left: dict[str, str], lost: tuple[int, ...]
) -> None:
    for words in switched:
        filled.output(*words.split())
    filled.set("name 2", b"later")
    content = bytearray(filled.vault.read_bytes())
    for start in lost:
        content[start : start + 512] = bytes(512)
    filled.vault.write_bytes(content)
    told = filled.output("salvage", "out").decode()
    assert told.startswith("Copied to out. Entries with their last value: 6.\n") and told.count(" at byte ") == len(lost)
    listed = "Not copied:\n" + "".join(left.values()) if left else ""
    assert told.endswith(listed + "No entry is missing.\n")
    report = json.loads(filled.output("salvage", "again", "--json"))
    assert report["is_complete"] and report["left_behind"] == list(left) and report["certain"] == 6
    copied = filled.with_variables(VAULT_FILE=str(filled.folder / "out"))
    assert json.loads(copied.output("log", "--json"))["is_on"] == ("accesses" in left)
    assert copied.values() == VALUES | {"name 2": b"later"}
    # Whoever opens it can change it, as it was said.
    filled.copy(filled.folder / "another").with_variables(VAULT_FILE=str(filled.folder / "out")).set("one more", b"x")


def test_the_copy_is_trusted_by_the_identity_that_opened_the_damaged_vault(filled: Home) -> None:
    filled.output("key", "add", "--recipient", new_identity(filled.folder / "identity"))
    assert "All keys except the one that was used." in filled.output("salvage", "of-the-key-file").decode()
    filled.output("key", "rm", "1")
    filled.key.unlink()
    identity = filled.folder / "identity"
    known = fingerprint(filled, "--identity", "identity")
    for number, pin in enumerate((b"", f"# vault: {known}\n".encode())):
        identity.write_bytes(pin + identity.read_bytes())
        # The stanza of the recipient is in the copy of the header alone.
        content = filled.vault.read_bytes()
        filled.vault.write_bytes(bytes(512) + content[512:])
        assert b"No entry is missing." in filled.output("salvage", f"out{number}", "--identity", "identity")
        read = filled.output("get", "name 1", "--vault", f"out{number}", "--identity", "identity")
        assert read == VALUES["name 1"]
        filled.vault.write_bytes(content)


def test_what_cannot_be_salvaged_is_refused_and_leaves_nothing(filled: Home) -> None:
    (filled.folder / "there").write_bytes(b"mine")
    filled.refusal(4, "salvage", "there")
    filled.refusal(4, "salvage", str(filled.vault))
    assert (filled.folder / "there").read_bytes() == b"mine"
    other = filled.folder / "other.key"
    other.write_bytes(b"another key file, long enough")
    other.chmod(0o600)
    filled.refusal(5, "salvage", "out", "--key-file", str(other))
    filled.refusal(3, "salvage", "out", "--vault", "nowhere.vault")
    filled.refusal(2, "salvage")
    assert "did not expand" in filled.refusal(2, "salvage", "~/out")
    filled.refusal(2, "salvage", "folder/")
    filled.refusal(2, "salvage", ".default.vault.vault-new")
    assert "too long" in filled.refusal(8, "salvage", "x" * 256)
    filled.vault.write_bytes(b"something else" * 1_000)
    filled.refusal(6, "salvage", "out")
    filled.vault.rename(filled.folder / "away")
    filled.refusal(4, "salvage", "out")
    assert not (filled.folder / "out").exists()


def test_a_vault_that_was_compacted_meanwhile_is_read_anew(filled: Home) -> None:
    hold = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=rename", "-e", "inject=rename:delay_enter=3000000")
    filled.set("name 1", b"replaced")
    compacting = filled.started_through(*hold).start("compact")
    time.sleep(0.6)
    finished = filled.run("salvage", "out.vault")
    assert compacting.wait() == 0
    compacting.communicate()
    assert finished.returncode == 0 and b"last value: 6." in finished.stdout
    assert b"Waiting for another process" in finished.stderr


def test_another_vault_at_the_path_is_doubtful(filled: Home) -> None:
    other = filled.with_variables(VAULT_FILE=str(filled.folder / "other.vault"))
    other.set("name 1", b"of another vault")
    filled.vault.write_bytes((filled.folder / "other.vault").read_bytes())
    told = filled.run("salvage", "out").stdout.decode()
    assert "last value: 0." in told and "another vault" in told


def test_another_history_is_doubtful_though_it_was_compacted_since(filled: Home) -> None:
    common = filled.vault.read_bytes()
    filled.set("name 1", b"of this machine")
    filled.vault.write_bytes(common)
    elsewhere = filled.without_memory()
    elsewhere.set("name 2", b"of another machine")
    elsewhere.output("compact")
    elsewhere.set("name 3", b"of another machine")
    filled.refusal(9, "ls")
    finished = filled.run("salvage", "out")
    assert finished.returncode == 6 and b"last value: 0." in finished.stdout
    # Without the manifest nobody can tell.
    (filled.folder / "out").unlink()
    content = filled.vault.read_bytes()
    offset = int.from_bytes(content[80:88], "little")
    flip(filled, offset + 20)
    finished = filled.run("salvage", "out")
    assert finished.returncode == 6 and b"last value: 0." in finished.stdout


def test_a_file_from_before_a_rotation_is_doubtful(filled: Home) -> None:
    older = filled.vault.read_bytes()
    filled.output("key", "rotate")
    rotated = filled.vault.read_bytes()
    filled.vault.write_bytes(older)
    filled.refusal(9, "ls")
    finished = filled.run("salvage", "out")
    assert finished.returncode == 6 and b"last value: 0." in finished.stdout
    assert b"this machine has seen this vault under another data key, after a rotation" in finished.stdout
    (filled.folder / "out").unlink()
    filled.vault.write_bytes(rotated)
    assert b"last value: 6." in filled.output("salvage", "out")


def test_a_bit_in_the_same_sector_of_header_and_copy_costs_nothing(filled: Home) -> None:
    sound = filled.vault.read_bytes()
    for number, (first, second) in enumerate([(12, 40), (0, 1), (40, 120), (13, 130), (20, 270)]):
        filled.vault.write_bytes(sound)
        flip(filled, first, HEADER + second)
        assert b"No entry is missing." in filled.output("salvage", f"out {number}")


def test_a_vault_that_has_used_up_its_sequence_numbers_names_the_way_on(home: Home) -> None:
    """Letter by letter, as it is told."""
    vectors = Path(__file__).parents[1] / "Interop/Vectors"
    home.set("a", b"1")
    for file, ending in ((home.vault, "vault"), (home.key, "key")):
        shutil.copyfile(vectors / f"sequence-near-its-limit.{ending}", file)
    assert home.output("ls", "--accept-exchanged") == b"b\nc\ntoken\n"
    home.set("still", b"2")
    for words in (("compact",), ("key", "rotate"), ("history", "--keep", "1,1")):
        sentence = home.refusal(2, *words)
        assert "used up its sequence numbers" in sentence
    command = re.search(r"`(vault salvage NEW)`", sentence)[1]
    assert home.shell(command.replace("NEW", "new.vault")).returncode == 0
    (command,) = re.findall(r"`(vault help salvage)`", sentence)
    assert home.shell(command).returncode == 0
    home.vault.rename(home.folder / "old.vault")
    (home.folder / "new.vault").rename(home.vault)
    assert home.output("ls", "--accept-exchanged") == b"b\nc\nstill\ntoken\n"
    home.output("compact")
    home.output("key", "rotate")
    assert home.get("still") == b"2"
