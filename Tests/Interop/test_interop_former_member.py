"""Somebody who had the data key, and plants what is to help once it was rotated; Format.md, "Rotation"."""

import live_vault
from interop_support import EXIT_CODES, Command

KNOWN, PLANTED = b"IBAN-OF-SUPPLIER", b"0123456789abcdef"
CHECKPOINT_START, TAG_SIZE = 8192, 16


def pairs_under_one_pad(image: bytes) -> int:
    """How many boxes in a file show by the two values alone that they were sealed with the same stream."""
    xor = int.from_bytes(KNOWN, "big") ^ int.from_bytes(PLANTED, "big")
    offsets = range(CHECKPOINT_START + TAG_SIZE, len(image) - 15, 16)
    blocks = {int.from_bytes(image[offset : offset + 16], "big") for offset in offsets}
    return sum(block ^ xor in blocks for block in blocks) // 2


def test_a_former_member_learns_no_pad_from_what_he_has_planted(command: Command) -> None:
    command.set("pay/iban", KNOWN)
    command.set("other", b"x")
    file, key = command.home / ".local/share/vault/default.vault", command.home / ".config/vault/default.key"
    with live_vault.opened(file, key.read_bytes()) as live:
        planted = live.entry("zz/note", PLANTED)
        planted.value.nonce = live.vault.current[b"pay/iban"].version.nonce
        live.write(live.builder().set(planted))
    assert command.run("get", "zz/note") == PLANTED
    assert pairs_under_one_pad(file.read_bytes()) == 1
    saying = 'who knows one of them can forge the others. They are the values of "pay/iban", "zz/note".'
    command.run("verify", expecting=EXIT_CODES["damaged"], saying=saying)
    command.run("key", "check", expecting=EXIT_CODES["damaged"], saying=saying)

    salvaged = command.home / "salvaged.vault"
    report = command.run("salvage", str(salvaged), expecting=EXIT_CODES["damaged"]).decode()
    assert "Entries with their last value: 1." in report and "  pay/iban\n  zz/note\n" in report
    assert pairs_under_one_pad(salvaged.read_bytes()) == 0

    command.run("key", "rotate", saying="Set them again:\n  pay/iban\n  zz/note\n")
    assert pairs_under_one_pad(file.read_bytes()) == 0
    command.run("verify")
    assert command.run("get", "pay/iban") == KNOWN


def test_a_rotation_goes_on_if_a_value_does_not_open(command: Command) -> None:
    command.set("intact", b"1")
    command.set("planted", b"2")
    file, key = command.home / ".local/share/vault/default.vault", command.home / ".config/vault/default.key"
    command.run("compact")
    with live_vault.opened(file, key.read_bytes()) as live:
        box = live.vault.current[b"planted"].version
    image = bytearray(file.read_bytes())
    image[box.offset] ^= 1
    file.write_bytes(image)
    command.run("key", "rotate", saying="A current or earlier value of these entries cannot be opened.")
    assert command.run("get", "intact") == b"1"
    command.run("get", "planted", expecting=EXIT_CODES["damaged"])
