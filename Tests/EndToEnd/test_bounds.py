"""Whoever can write the vault file cannot make the command work without bounds: it tells damage by what a writer may leave."""

import os
import re
import struct
from collections.abc import Callable

import nacl.bindings
import pytest

from histories import History
from homes import Home
from layout import FRAME_SIZE, HEADER_SIZE, KEY_SLOTS, log_end, records
from tracing import trace

DAMAGED = 6
MIB = 1 << 20


def vault_id(home: Home) -> bytes:
    return home.vault.read_bytes()[16:32]


def frame(home: Home, index_length: int, payload_length: int) -> bytes:
    """A frame that holds: its checksum is no secret."""
    head = b"vrec" + struct.pack("<IQ", index_length, payload_length)
    return head + nacl.bindings.crypto_shorthash_siphash24(head, vault_id(home))


def write(home: Home, offset: int, data: bytes) -> None:
    with home.vault.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def forged_frames(home: Home) -> None:
    """A mebibyte of frames that each claim an index of a mebibyte."""
    forged = frame(home, MIB, 0).ljust(32, b"\0")
    write(home, log_end(home.vault) + 64, forged * (MIB // 32) + bytes(2 * MIB))


def magics_alone(home: Home) -> None:
    write(home, log_end(home.vault) + 64, b"vrec-no-checksum" * (MIB // 16))


def long_hole(home: Home) -> None:
    os.truncate(home.vault, 16 << 30)


def long_garbage(home: Home) -> None:
    """A byte so far behind the end that no record reaches it."""
    write(home, 1 << 30, b"x")


def record_of_eight_gibibytes(home: Home) -> None:
    write(home, log_end(home.vault), frame(home, 160, 8 << 30) + os.urandom(200))
    os.truncate(home.vault, 9 << 30)


def last_record_with_a_longer_frame(home: Home) -> None:
    """The index is sound, and the frame around it, which is not sealed, claims more."""
    last = records(home.vault)[-1]
    with home.vault.open("rb") as file:
        file.seek(last.offset + 4)
        (index_length,) = struct.unpack("<I", file.read(4))
    write(home, last.offset, frame(home, index_length, 500 << 20))
    os.truncate(home.vault, last.end + (500 << 20))


HOSTILE = [forged_frames, magics_alone, long_hole, long_garbage, record_of_eight_gibibytes, last_record_with_a_longer_frame]
each_hostile = pytest.mark.parametrize("attack", HOSTILE, ids=lambda attack: attack.__name__)


def work(home: Home, *words: str, stdin: bytes = b"") -> int:
    """How many bytes of the vault a run reads and writes that has to end as damaged."""
    log = home.folder.with_name("calls")
    options = ("-fyqq", f"-o{log}", "-e", "trace=pread64,pwrite64", "-e", "signal=none")
    home.started_through("strace", *options).refusal(DAMAGED, *words, stdin=stdin)
    lines = [line for line in log.read_text(errors="replace").splitlines() if "default.vault>" in line]
    return sum(int(re.search(r"= (\d+)$", line)[1]) for line in lines)


@each_hostile
@pytest.mark.parametrize("memory", [True, False], ids=["with memory", "without memory"])
def test_what_no_writer_leaves_is_damage_and_little_of_it_is_read(
    twenty: History, attack: Callable[[Home], None], memory: bool
) -> None:
    home = twenty.home if memory else twenty.home.without_memory()
    attack(home)
    size = home.vault.stat().st_size
    for words in (("get", "entry-05"), ("set", "entry-05"), ("ls",), ("verify",), ("compact",)):
        assert work(home, *words, stdin=b"new") < 4 * MIB, words
    assert home.vault.stat().st_size == size


@each_hostile
def test_a_salvage_of_it_finds_everything_and_reads_little(twenty: History, attack: Callable[[Home], None]) -> None:
    home = twenty.home
    attack(home)
    log = home.folder.with_name("calls")
    finished = home.started_through("strace", "-fyqq", f"-o{log}", "-e", "trace=pread64").run("salvage", "out")
    # Another machine may have written behind the last change that this one has seen.
    is_whole = attack is last_record_with_a_longer_frame
    assert finished.returncode == (0 if is_whole else 6), finished
    assert f"Entries with their last value: {20 if is_whole else 0}.\n".encode() in finished.stdout
    assert (b"Damaged or missing:" in finished.stdout) != is_whole
    found = home.with_variables(VAULT_FILE=str(home.folder / "out"))
    assert found.values() == twenty.values
    lines = [line for line in log.read_text(errors="replace").splitlines() if "default.vault>" in line]
    assert sum(int(re.search(r"= (\d+)$", line)[1]) for line in lines) < 600 * MIB


def test_a_hole_within_the_bounds_is_not_read_and_not_written(twenty: History) -> None:
    home = twenty.home
    write(home, log_end(home.vault) + (400 << 20), b"x")
    calls = trace(home, "set", "entry-05", stdin=b"new", names=("pread64", "pwrite64"))
    sizes = [int(re.search(r"= (\d+)$", call.line)[1]) for call in calls if "default.vault>" in call.line]
    assert sum(sizes) < 4 * MIB
    assert home.values() == twenty.values | {"entry-05": b"new"}
    home.output("verify")
    behind = home.vault.read_bytes()[log_end(home.vault) :]
    assert behind.count(0) == len(behind), "the next writer has cleared it"


def test_a_torn_record_of_many_mebibytes_is_dropped(twenty: History) -> None:
    """As a writer leaves it that was killed while it wrote a large transaction."""
    home = twenty.home
    write(home, log_end(home.vault), frame(home, 160, 200 << 20) + os.urandom(20 * MIB))
    assert home.values() == twenty.values
    home.set("entry-05", b"new")
    assert home.values() == twenty.values | {"entry-05": b"new"}
    home.output("verify")


def with_a_passphrase(home: Home) -> Home:
    """A vault with one value whose key file was not generated."""
    key = home.folder / "any.key"
    key.write_bytes(b"a passphrase in a file")
    key.chmod(0o600)
    named = home.with_variables(VAULT_KEY_FILE=str(key))
    named.set("u.token", b"tok")
    return named


def test_key_slots_that_ask_for_minutes_are_damage_and_none_is_tried(home: Home) -> None:
    """Sixteen slots, each at the most that Argon2id may be asked for: in the header alone, in its copy alone, in both."""
    named = with_a_passphrase(home)
    image = bytearray(named.vault.read_bytes())
    slot = bytes(image[KEY_SLOTS.start : KEY_SLOTS.start + 112])
    hostile = slot[:24] + struct.pack("<QQ", 10, 64 << 20) + slot[40:]
    slots = b"".join(bytes([number]).join((hostile[:8], hostile[9:])) for number in range(16))
    for starts in ((0,), (0, HEADER_SIZE)):
        changed = bytearray(image)
        for start in starts:
            changed[start + 12] = 16
            changed[start + KEY_SLOTS.start : start + KEY_SLOTS.stop] = slots
        named.vault.write_bytes(changed)
        for words in (("get", "u.token"), ("set", "u.token"), ("ls",), ("verify",)):
            calls = trace_of_refusal(named, *words)
            # Where the copy is whole it may be asked: once, for what it cost to make.
            assert len(calls) <= (1 if starts == (0,) else 0), calls


def test_header_and_copy_together_may_ask_for_no_more_than_one_of_them(home: Home) -> None:
    """Each of the two asks for as much as it may, for another secret than the key's."""
    named = with_a_passphrase(home)
    image = bytearray(named.vault.read_bytes())
    for start in (0, HEADER_SIZE):
        offset = start + KEY_SLOTS.start
        image[offset + 8 : offset + 24] = os.urandom(16)
        image[offset + 24 : offset + 40] = struct.pack("<QQ", 1, 768 << 20)
    named.vault.write_bytes(image)
    log = home.folder.with_name("mappings")
    finished = named.started_through("strace", "-fqq", f"-o{log}", "-e", "trace=mmap").run("get", "u.token")
    assert finished.returncode in (5, DAMAGED)
    assert len(re.findall(rf"mmap\(NULL, {768 << 20}", log.read_text())) == 1


def trace_of_refusal(home: Home, *words: str) -> list[str]:
    """The mappings of 32 MiB and more that a run makes which has to end as damaged: Argon2id's memory."""
    log = home.folder.with_name("mappings")
    options = ("-fqq", f"-o{log}", "-e", "trace=mmap", "-e", "signal=none")
    home.started_through("strace", *options).refusal(DAMAGED, *words, stdin=b"new")
    sizes = [re.search(r"mmap\(NULL, (\d+),", line) for line in log.read_text().splitlines()]
    return [size[0] for size in sizes if size and int(size[1]) >= 32 * MIB]


def test_the_frame_that_is_forged_here_would_hold(twenty: History) -> None:
    """Otherwise these tests would show nothing."""
    home = twenty.home
    record = records(home.vault)[0]
    data = home.vault.read_bytes()
    index_length, payload_length = struct.unpack("<IQ", data[record.offset + 4 : record.offset + 16])
    assert data[record.offset : record.offset + FRAME_SIZE] == frame(home, index_length, payload_length)
