"""Members and signatures that fail, each for one reason."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..builder import VaultBuilder
from ..changes import CheckpointChanges
from ..entries import MADE, SIGNED, Entry, Value, put, remove
from ..members import Change, Device, Signature
from ..primitives import varint
from ..vector import Catalogue
from .damaged_entries import flagged
from .sound_members import ANN, BOB, CAROL, after_some_history, joining, leaving, with_members

catalogue = Catalogue()
MEMBERS_FLAG, FLAGS_OFFSET = 2, 136


def signing(name: str, note: str, change: Callable[[Entry], Entry], author: Device = ANN) -> None:
    """A vector with a state that was changed after it was signed, between sound ones."""

    def build(vault: VaultBuilder) -> None:
        with_members(vault, joining(ANN, BOB, 1)).begin([put(" before")])
        state = vault.signed(put("m", attributes=[("a", "1")]), author)
        sound = vault.signed(put("one"), ANN), vault.signed(put("~ behind"), BOB)
        vault.set(sound[0], change(state), sound[1])

    build.__name__ = name
    catalogue.damaged(note)(build)


def valued(entry: Entry, content: bytes, kind: int = 1) -> Entry:
    return replace(entry, value=Value(content, kind))


def by_another(entry: Entry) -> Entry:
    """Names Bob as the author of what Ann has signed."""
    other = BOB.public_key[:8] + entry.signature.encoded[8:]
    return replace(entry, signature=Signature(other, {}))


def flipped(offset: int) -> Callable[[Entry], Entry]:
    def change(entry: Entry) -> Entry:
        encoded = bytearray(entry.signature.encoded)
        encoded[offset] ^= 1
        return replace(entry, signature=Signature(bytes(encoded), {}))

    return change


signing("signature_of_another_value", "another value than was signed", lambda entry: valued(entry, b"another"))
signing("signature_of_another_kind", "another kind than was signed", lambda entry: valued(entry, b"a value", 2))
signing("signature_of_another_name", "another name than was signed", lambda entry: replace(entry, name="n"))
signing("signature_of_another_time", "another time than was signed", lambda entry: replace(entry, modified=MADE + 1))
signing("signature_of_another_expiry", "an expiry that was not signed", lambda entry: replace(entry, expiry=1 << 42))
signing(
    "signature_of_other_attributes", "attributes that were not signed",
    lambda entry: replace(entry, attributes=[("a", "2")]),
)  # fmt: skip
signing(
    "signature_of_no_removal", "a removal that was not signed",
    lambda entry: replace(entry, value=None, attributes=[]),
)  # fmt: skip
signing("signature_of_another_member", "a state that names another member as its author", by_another)
signing("signature_of_another_position", "a log position that was not signed", flipped(10))
signing("signature_flipped", "one bit of a signature is flipped", flipped(-1))
signing("signature_of_a_stranger", "a state signed by a device that no change names", lambda entry: entry, CAROL)


@catalogue.damaged("a state that a member has signed for another vault")
def signature_of_another_vault(vault: VaultBuilder) -> None:
    entry = vault.twin()
    entry.vault_id = bytes(16)
    with_members(entry)
    state = entry.signed(put("a"), ANN)
    with_members(vault).begin([state])


@catalogue.damaged("one bit of the signature of an earlier version is flipped; that of the present state holds")
def signature_of_an_earlier_version(vault: VaultBuilder) -> None:
    with_members(vault)
    version = vault.signed_version("a", Value(b"old", 1, MADE - 1), ANN)
    version.signature = Signature(version.signature.encoded[:-1] + b"\xff", {})
    vault.begin([vault.signed(Entry("a", Value(b"new"), earlier=[version]), ANN)])


@catalogue.damaged("an earlier version that names an author that no change names")
def signature_of_an_earlier_version_by_a_stranger(vault: VaultBuilder) -> None:
    with_members(vault)
    version = vault.signed_version("a", Value(b"old", 1, MADE - 1), CAROL)
    vault.begin([vault.signed(Entry("a", Value(b"new"), earlier=[version]), ANN)])


@catalogue.damaged("a removal whose signature is that of the value before it")
def signature_of_a_removed_name(vault: VaultBuilder) -> None:
    with_members(vault).begin()
    removed = remove("a", MADE)
    removed.signature = vault.signed(put("a"), ANN).signature
    vault.set(removed)


@catalogue.damaged("a signature that does not hold, of a state that a later record has replaced")
def signature_of_a_replaced_state(vault: VaultBuilder) -> None:
    with_members(vault).begin()
    vault.set(flipped(-1)(vault.signed(put("a"), ANN)))
    vault.set(vault.signed(put("a", modified=MADE + 1), ANN))


@catalogue.damaged("a signature that does not hold, in a tree")
def signature_in_a_tree(vault: VaultBuilder) -> None:
    with_members(vault).begin()
    vault.minor_checkpoint(flipped(-1)(vault.signed(put("a"), ANN)))


@catalogue.damaged("a state that was signed, in a vault that never had members")
def signature_without_members(vault: VaultBuilder) -> None:
    after_some_history(vault)
    vault.begin([put("a")]).set(vault.signed(put("b"), ANN))


@catalogue.damaged("the last entry of a record has the flag of a signature, and none follows")
def signature_missing(vault: VaultBuilder) -> None:
    with_members(vault).begin().set(put("a", edit=flagged(SIGNED)))


# Changes of the members


def changing(name: str, note: str, changes: Callable[[], Iterable[Change]]) -> None:
    """A vector with these changes of the members behind the first one, by which Ann adds herself."""

    def build(vault: VaultBuilder) -> None:
        with_members(vault, *changes()).begin([put("a")])

    build.__name__ = name
    catalogue.damaged(note)(build)


def other_statement(statement: bytes) -> bytes:
    return statement[:-1] + b"\x01"


changing(
    "member_signature", "a change of the members that is not the one that was signed",
    lambda: [joining(ANN, BOB, 1, edit=other_statement)],
)  # fmt: skip
changing(
    "member_signature_without_effect", "a change without effect that is not the one that was signed",
    lambda: [joining(ANN, BOB, 1), leaving(ANN, BOB, 2), joining(BOB, CAROL, 3, edit=other_statement)],
)  # fmt: skip
changing(
    "member_signature_flipped", "one bit of the signature of a change of the members is flipped",
    lambda: [joining(ANN, BOB, 1, edit_signature=lambda signature: signature[:-1] + bytes([signature[-1] ^ 1]))],
)  # fmt: skip
changing("member_added_by_a_stranger", "a member added by a device that is not named", lambda: [joining(BOB, CAROL, 1)])
changing(
    "member_removed_by_a_stranger", "a member removed by a device that is not named",
    lambda: [Change(BOB, ANN, 1, joining(ANN, ANN).time + 1)],
)  # fmt: skip
changing("member_flag_2", "a change of the members with the unknown flag 2", lambda: [joining(ANN, BOB, 1, flags=2)])
changing("member_of_257_bytes", "a member's name of 257 bytes", lambda: [joining(ANN, BOB, 1, name="b" * 257)])
changing(
    "member_with_a_recipient_of_4097_bytes", "a member's recipient of 4,097 bytes",
    lambda: [joining(ANN, BOB, 1, recipient="r" * 4097)],
)  # fmt: skip


@catalogue.damaged("the first member does not add itself, and nobody is named before")
def first_member_added_by_another(vault: VaultBuilder) -> None:
    after_some_history(vault)
    vault.change_members(joining(BOB, ANN)).begin([put("a")])


@catalogue.damaged("the first member removes itself", inferred=True)
def first_member_removed(vault: VaultBuilder) -> None:
    after_some_history(vault)
    vault.change_members(leaving(ANN, ANN, 0)).begin([put("a")])


changing(
    "member_change_that_follows_nothing", "a second change of the members that follows none",
    lambda: [joining(ANN, BOB, 1, known=())],
)  # fmt: skip
changing(
    "member_change_that_follows_another_vaults", "a change of the members that follows one that is not there",
    lambda: [joining(ANN, BOB, 1, known=(joining(ANN, CAROL),))],
)  # fmt: skip
changing("member_added_by_an_old_change", "the change that added a member, repeated behind its removal", lambda: repeated())


def repeated() -> list[Change]:
    first = joining(ANN, ANN)
    bob = joining(ANN, BOB, 1, known=(first,))
    return [bob, leaving(ANN, BOB, 2, known=(bob,)), bob]


@catalogue.damaged("a change of the members before the one that it follows")
def members_out_of_order(vault: VaultBuilder) -> None:
    with_members(vault, joining(ANN, BOB, 1), joining(ANN, CAROL, 2))
    vault.members.encoded[1:] = reversed(vault.members.encoded[1:])
    vault.begin([put("a")])


@catalogue.damaged("the first change of the members follows another one")
def first_member_that_follows(vault: VaultBuilder) -> None:
    after_some_history(vault)
    vault.change_members(joining(ANN, ANN, known=(joining(ANN, BOB),))).begin([put("a")])


@catalogue.damaged("the header says that there are members, and there are 0")
def members_flag_without_members(vault: VaultBuilder) -> None:
    def edit_header(header: bytearray) -> None:
        header[FLAGS_OFFSET] = MEMBERS_FLAG

    changes = CheckpointChanges(edit_header=edit_header, edit_manifest=lambda content: content + varint(0))
    vault.begin([put("a")], changes=changes)


@catalogue.damaged("there are members, and the header says that there are none")
def members_without_their_flag(vault: VaultBuilder) -> None:
    def edit_header(header: bytearray) -> None:
        header[FLAGS_OFFSET] = 0

    with_members(vault).begin([put("a")], changes=CheckpointChanges(edit_header=edit_header))


@catalogue.damaged("the data key's maker knew a change of the members that is not there")
def members_known_to_the_key_and_gone(vault: VaultBuilder) -> None:
    with_members(vault, joining(ANN, BOB, 1))
    vault.members.known_to_key = [*vault.members.heads, vault.random.take(16)]
    vault.begin([put("a")])


@catalogue.damaged("the data key's maker knew 1,025 changes of the members")
def members_known_to_the_key_1025(vault: VaultBuilder) -> None:
    with_members(vault, joining(ANN, BOB, 1))
    vault.members.known_to_key = vault.members.heads * 1025
    vault.begin([put("a")])
