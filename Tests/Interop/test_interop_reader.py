"""The Python reader, on files that were changed and cut, and on the hint: it has to be right to judge the command."""

import json

import pytest

from interop_support import VECTORS, outcome
from reading.age import read_identity
from reading.errors import Locked
from reading.vault import open_image
from vault_reader import open_vault

HINT = range(4064, 4096)
SMALL_VECTORS = (
    "minor-checkpoint", "tree-of-two-levels", "garbage-behind-zeros", "tail-without-a-middle-sector",
    "tombstones-with-earlier-versions", "slots-with-parameters",
)  # fmt: skip


@pytest.mark.parametrize("name", SMALL_VECTORS)
def test_every_changed_byte_is_an_error_or_changes_nothing(name: str) -> None:
    image, key = (VECTORS / f"{name}.vault").read_bytes(), (VECTORS / f"{name}.key").read_bytes()
    whole = open_image(image, key)
    entries = outcome(lambda: whole)
    for offset in range(len(image)):
        changed = bytearray(image)
        changed[offset] ^= 1 + offset % 255
        found = outcome(lambda: open_image(bytes(changed), key))  # noqa: B023
        is_free = offset in HINT or offset >= whole.log.end
        allowed = ["damaged"] + [entries] * is_free
        assert found in allowed, offset


def test_every_truncation_is_an_error_or_an_earlier_state() -> None:
    image, key = (VECTORS / "minor-checkpoint.vault").read_bytes(), (VECTORS / "minor-checkpoint.key").read_bytes()
    whole = open_image(image, key)
    ends = [whole.header.checkpoint_end, *(record.frame.end for record in whole.log.records)]
    states = {end: outcome(lambda: open_image(image[:end], key)) for end in ends}  # noqa: B023
    assert all(isinstance(state, dict) for state in states.values())
    for size in range(len(image)):
        found = outcome(lambda: open_image(image[:size], key))  # noqa: B023
        before = [end for end in ends if end <= size]
        assert found == (states[before[-1]] if before else "damaged"), size


def test_the_hint_leads_to_the_minor_checkpoint_it_names() -> None:
    def hinted_sequence(name: str) -> int | None:
        hinted = open_vault(VECTORS / f"{name}.vault", (VECTORS / f"{name}.key").read_bytes()).hinted_record
        return hinted.sequence if hinted else None

    assert hinted_sequence("minor-checkpoint") == 5
    assert hinted_sequence("hint-to-the-older-minor-checkpoint") == 5
    assert hinted_sequence("minor-checkpoint-twice") == 8
    assert hinted_sequence("hint-to-a-record-without-a-tree") is None


def test_an_identity_of_age_has_a_checksum_and_one_case() -> None:
    text = json.loads((VECTORS / "slot-recipient-of-age.json").read_text())["identity"]
    assert read_identity(text) == read_identity(text.lower()) == bytes([0x42]) * 32
    changed = [text[:offset] + ("Q" if text[offset] != "Q" else "P") + text[offset + 1 :] for offset in range(len(text))]
    for other in (*changed, text[:-1].lower() + text[-1:], text[:-1], f"{text}Q", ""):
        with pytest.raises(Locked):
            read_identity(other)
