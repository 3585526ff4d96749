"""Vaults with members, and who has signed what in them."""

from dataclasses import replace

from ..builder import VaultBuilder
from ..entries import MADE, Entry, Value, put, remove
from ..members import REMOVAL, Change, Device
from ..vector import Catalogue
from .sound_checkpoints import FAR

catalogue = Catalogue()
ANN, BOB, CAROL = Device("Ann"), Device("Bob"), Device("Carol")
JOINED = MADE - 1000  # before the states that the members have signed


def joining(author: Device, device: Device, time: int = 0, **fields) -> Change:
    return Change(author, device, time=JOINED + time, **fields)


def leaving(author: Device, device: Device, time: int, **fields) -> Change:
    return Change(author, device, REMOVAL, JOINED + time, **fields)


def after_some_history(vault: VaultBuilder) -> None:
    """The members have seen the end of the chain."""
    vault.sequence, vault.chain = 5, [vault.random.take(16) for _ in range(4)]


def with_members(vault: VaultBuilder, *changes: Change, by: Device = ANN) -> VaultBuilder:
    """Begins a vault with Ann and these changes. The device `by` is to go on in it."""
    after_some_history(vault)
    vault.device_key = by.key
    return vault.change_members(joining(ANN, ANN), *changes)


def state_members(vault: VaultBuilder, *devices: Device) -> None:
    vault.stated["members"] = [[device.member, device.text] for device in devices]


@catalogue.ok("two members have signed states in the checkpoint, in records and in a tree; others are from before")
def members(vault: VaultBuilder) -> None:
    with_members(vault, joining(ANN, BOB, 1, recipient="age1bob"))
    user = [("host", "example.org"), ("user", "ann")]
    vault.begin([
        put("from before"), vault.signed(put("a"), ANN), vault.signed(put("b", b"", 0), BOB),
        vault.signed(put("expires", expiry=FAR, attributes=user), BOB), vault.signed(put("past", expiry=1), BOB),
    ])  # fmt: skip
    vault.set(vault.signed(put("a", "another", 2, modified=MADE + 1), BOB), vault.signed(put("c" * 200), ANN))
    vault.minor_checkpoint(vault.signed(put("in a tree", attributes=user), BOB))
    vault.set(vault.signed(put("last", "x" * 1000), ANN)).hint(record=1)
    state_members(vault, ANN, BOB)


@catalogue.ok("all flags of the header: there are members, and reads are to be recorded")
def members_access_logged(vault: VaultBuilder) -> None:
    vault.is_access_logged = True
    vault.stated["is_access_logged"] = True
    with_members(vault, joining(ANN, BOB, 1)).begin([vault.signed(put("a"), ANN)])
    vault.set(vault.signed(put("b"), BOB), put("not signed"))
    state_members(vault, ANN, BOB)


@catalogue.ok("removed names that were signed: with earlier versions, without, in the checkpoint and in a record")
def members_removing(vault: VaultBuilder) -> None:
    vault.history = (3, 365)
    with_members(vault, joining(ANN, BOB, 1))
    value = vault.signed_version("goes", Value(b"signed by Ann"), ANN)
    gone = vault.signed(remove("gone", earlier=[Value(b"from before")]), BOB)
    vault.begin([put("kept"), vault.signed(Entry("goes", value), ANN), gone, vault.signed(remove("no more"), ANN)])
    vault.set(vault.signed(remove("goes", earlier=[value]), BOB), vault.signed(remove("never was"), ANN))


@catalogue.ok("earlier versions with signatures and without, with attributes and expiries of their own")
def members_with_earlier_versions(vault: VaultBuilder) -> None:
    vault.history = (9, 365)
    with_members(vault, joining(ANN, BOB, 1))
    user = [("user", "ann")]
    versions = [
        vault.signed_version("a", Value(b"3", 0, MADE + 3), BOB),
        Value(b"from another copy", 1, MADE + 2, attributes=user),
        vault.signed_version("a", Value(b"2", 1, MADE + 2, attributes=user), ANN),
        vault.signed_version("a", Value(b"1", 2, MADE + 1, expiry=MADE + 2, attributes=user), BOB),
        Value(b"from before", 1, MADE),
    ]
    signed = Entry("a", Value(b"4", 1, MADE + 4), MADE + 4, MADE, FAR, versions, user, forgotten=3, joined=MADE + 9)
    vault.begin([vault.signed(signed, ANN)])
    own = vault.signed_version("b", Value(b"of the same record", 1, MADE - 1), BOB)
    vault.set(Entry("b", Value(b"not signed"), earlier=[own]))


@catalogue.ok("a member with three devices, one of them removed, and two members of one name")
def members_with_several_devices(vault: VaultBuilder) -> None:
    laptop, phone, stolen = (Device("Ann", bytes([number]) * 32) for number in (1, 2, 3))
    others = [joining(ANN, laptop, 1), joining(laptop, phone, 2), joining(phone, stolen, 3)]
    with_members(vault, *others, leaving(ANN, stolen, 4), by=phone)
    devices = ANN, laptop, phone
    vault.begin([vault.signed(put(f"by {number}"), device) for number, device in enumerate(devices)])
    before = 3, vault.chain[2]
    vault.set(
        vault.signed(put("stolen"), stolen, was_member=False),
        vault.signed(put("not yet stolen"), stolen, seen=before),
    )  # fmt: skip
    state_members(vault, *devices)


@catalogue.ok("what a member signed counts until it knew what its removal knew; then its changes have no effect")
def member_removed(vault: VaultBuilder) -> None:
    with_members(vault, joining(ANN, BOB, 1), leaving(ANN, BOB, 2), joining(BOB, CAROL, 3), leaving(BOB, ANN, 4))
    before, at_once = vault.signed(put("before"), BOB, seen=(3, vault.chain[2])), put("at once")
    vault.begin([before, vault.signed(at_once, BOB, was_member=False), vault.signed(put("a"), ANN)])
    vault.set(
        vault.signed(put("after"), BOB, was_member=False),
        vault.signed(put("of Carol"), CAROL, was_member=False, known_as=CAROL.text),
    )  # fmt: skip
    state_members(vault, ANN)


@catalogue.ok("a member that was removed, and added again under another name")
def member_added_again(vault: VaultBuilder) -> None:
    with_members(vault, joining(ANN, BOB, 1), leaving(ANN, BOB, 2), joining(ANN, BOB, 3, name="Robert"), by=BOB)
    vault.begin([vault.signed(put("a"), BOB, known_as="Robert")]).set(vault.signed(put("b"), ANN))
    vault.stated["members"] = [["Ann", ANN.text], ["Robert", BOB.text]]


def apart(vault: VaultBuilder, *changes: Change) -> None:
    """Bob, and then changes that do not know of each other."""
    bob = joining(ANN, BOB, 1)
    with_members(vault, bob, *(replace(change, known=(bob,)) for change in changes))


@catalogue.ok("two copies have changed the members: who was removed has added another one meanwhile, which does not count")
def members_of_two_copies(vault: VaultBuilder) -> None:
    apart(vault, joining(BOB, CAROL, 2), leaving(ANN, BOB, 3))
    of_carol = vault.signed(put("b"), CAROL, was_member=False, known_as=CAROL.text)
    vault.begin([vault.signed(put("a"), ANN), of_carol])
    state_members(vault, ANN)


@catalogue.ok("the same, and the removal comes first: neither the order nor the times decide")
def members_of_two_copies_in_another_order(vault: VaultBuilder) -> None:
    apart(vault, leaving(ANN, BOB, 3), joining(BOB, CAROL, 2))
    vault.begin([vault.signed(put("a"), ANN), vault.signed(put("b"), CAROL, was_member=False, known_as=CAROL.text)])
    state_members(vault, ANN)


@catalogue.ok("who was added by somebody who was removed meanwhile adds nobody either, and removes nobody")
def members_of_one_who_does_not_count(vault: VaultBuilder) -> None:
    bob, dora = joining(ANN, BOB, 1), Device("Dora")
    carol = joining(BOB, CAROL, 2, known=(bob,))
    adding, removing = joining(CAROL, dora, 3, known=(carol,)), leaving(CAROL, ANN, 4, known=(carol,))
    with_members(vault, bob, carol, adding, removing, leaving(ANN, BOB, 5, known=(bob,)))
    vault.begin([vault.signed(put("a"), ANN)])
    state_members(vault, ANN)


@catalogue.ok("two members have removed each other, and neither knew: both removals count, and the first one comes again")
def members_who_removed_each_other(vault: VaultBuilder) -> None:
    apart(vault, leaving(ANN, BOB, 2), leaving(BOB, ANN, 2))
    vault.change_members(joining(ANN, ANN, 3)).begin([vault.signed(put("a"), ANN)])
    state_members(vault, ANN)


@catalogue.ok("a removal takes away what it knew: the device was added again in another copy")
def member_added_again_in_another_copy(vault: VaultBuilder) -> None:
    bob = joining(ANN, BOB, 1)
    gone = leaving(ANN, BOB, 2, known=(bob,))
    again, also = joining(ANN, BOB, 3, known=(gone,)), leaving(ANN, BOB, 4, known=(bob,), recipient="twice")
    with_members(vault, bob, gone, also, again)
    vault.begin([vault.signed(put("a"), BOB)])
    state_members(vault, ANN, BOB)


@catalogue.ok("a change that follows those of two copies, by a member whom one of them has added")
def member_change_behind_two_copies(vault: VaultBuilder) -> None:
    apart(vault, joining(ANN, CAROL, 2), joining(BOB, Device("Dora"), 2))
    eve = Device("Eve")
    vault.change_members(joining(CAROL, eve, 9)).begin([vault.signed(put("a"), eve)])
    state_members(vault, ANN, BOB, CAROL, Device("Dora"), eve)


@catalogue.ok("changes of the members whose times go back, and are equal: clocks do not decide")
def members_by_clocks_that_go_back(vault: VaultBuilder) -> None:
    with_members(vault, joining(ANN, BOB, 5), leaving(ANN, BOB, -5), joining(ANN, CAROL, 5), joining(ANN, BOB, 5))
    vault.begin([vault.signed(put("a"), CAROL)])
    state_members(vault, ANN, CAROL, BOB)


@catalogue.ok("the data key was made when some of the changes of the members were there, and two that followed none of them")
def members_known_to_the_key(vault: VaultBuilder) -> None:
    bob = joining(ANN, BOB, 1)
    with_members(vault, bob, joining(ANN, CAROL, 2, known=(bob,)), leaving(ANN, BOB, 3, known=(bob,)))
    vault.members.known_to_key = list(vault.members.heads)
    vault.stated["known_to_key"] = [identifier.hex() for identifier in vault.members.heads]
    vault.change_members(leaving(ANN, CAROL, 4)).begin([vault.signed(put("a"), ANN)])
    state_members(vault, ANN)


@catalogue.ok("a member's name of 256 bytes, a recipient of 4,096, and the largest numbers of log positions and times")
def members_of_the_largest_sizes(vault: VaultBuilder) -> None:
    with_members(vault, joining(ANN, BOB, 1, name="b" * 256, recipient="r" * 4096))
    vault.change_members(Change(BOB, CAROL, time=2**64 - 1), seen=(2**64 - 1, bytes(16)))
    largest = 2**64 - 1, b"\xff" * 16
    vault.begin([vault.signed(put("a"), BOB, known_as="b" * 256), vault.signed(put("b"), CAROL, seen=largest)])
    vault.stated["members"] = [["Ann", ANN.text], ["b" * 256, BOB.text], ["Carol", CAROL.text]]
    vault.stated["foreign"] = ["b"]


@catalogue.ok("a state that was signed after a log position of another history, as a merge brings it")
def signature_of_another_history(vault: VaultBuilder) -> None:
    with_members(vault).begin([vault.signed(put("from before"), ANN, seen=(0, bytes(16)))])
    vault.set(vault.signed(put("a"), ANN, seen=(4, bytes(16))), vault.signed(put("b"), ANN))
    vault.stated["foreign"] = ["a"]
