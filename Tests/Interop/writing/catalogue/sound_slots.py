"""Key slots that open, of every kind, and those that a reader passes over."""

from ..age import recipient_of, stanza, x25519_stanza
from ..builder import VaultBuilder
from ..entries import put
from ..keys import (
    Slot,
    generated_slot,
    other_file_slot,
    passphrase_and_key_file_slot,
    passphrase_slot,
    recipient_slot,
)
from ..primitives import hash256
from ..vector import Catalogue

catalogue = Catalogue()
PASSPHRASE = "correct horse battery staple"

# age 1.1.1 wrapped this file key, for the identity of 32 bytes 42 and for another recipient.
AGES_IDENTITY = b"\x42" * 32
AGES_FILE_KEY = bytes.fromhex("b48950026c973558a2c24b0c797f319c")
AGES_STANZAS = b"""\
-> X25519 pf/QUla5kXyzpCdRGvwoh9rDiq1kBhAXMn7ZGBEY1wc
j8F0OjdLjGvRb5QbFpCo5IpEmYg016aVDM8pMZKWUR0
-> X25519 ANg39fydOdLy2BpzmhhMXoUS7U2kc+lANWwz+YHc9VI
fCfwOwt81fr3jLW42KCL34hXaM7+qGvAvThUR+AbgAg
"""


def salt_and_nonce(vault: VaultBuilder) -> tuple[bytes, bytes]:
    return vault.random.take(16), vault.random.take(24)


def unknown_slot(vault: VaultBuilder, kind: int = 77) -> Slot:
    return Slot(kind, vault.random.take(32), *salt_and_nonce(vault))


def another_recipients_slot(vault: VaultBuilder, identity: bytes = b"") -> Slot:
    """A slot for the recipient with this identity, or with one that is not kept."""
    file_key, recipient = vault.random.take(16), recipient_of(identity or vault.random.take(32))
    return recipient_slot(file_key, x25519_stanza(file_key, recipient, vault.random.take(32)), *salt_and_nonce(vault))


def for_recipient(vault: VaultBuilder) -> VaultBuilder:
    """The only slot is for an identity of the vault's own."""
    vault.key_file, vault.identity, vault.file_key = None, vault.random.take(32), vault.random.take(16)
    wrapped = x25519_stanza(vault.file_key, recipient_of(vault.identity), vault.random.take(32))
    vault.slots = [recipient_slot(vault.file_key, wrapped, *salt_and_nonce(vault))]
    return vault


@catalogue.ok("the key file is any other file, through Argon2id at the lowest limits")
def slot_argon2id(vault: VaultBuilder) -> None:
    vault.key_file = b"correct horse battery staple\n"
    vault.slots = [other_file_slot(vault.key_file, *salt_and_nonce(vault))]
    vault.begin().set(put("token", "behind Argon2id"))


@catalogue.ok("Argon2id with 3 passes over 1 MiB; the key file is binary and holds zeros")
def slot_argon2id_binary(vault: VaultBuilder) -> None:
    vault.key_file = bytes(range(256)) * 20
    vault.slots = [other_file_slot(vault.key_file, *salt_and_nonce(vault), 3, 1 << 20)]
    vault.begin([put("token", "behind Argon2id")])


@catalogue.ok("two slots for generated key files; the second opens")
def slot_second_of_two(vault: VaultBuilder) -> None:
    vault.slots = [generated_slot(vault.random.take(32), *salt_and_nonce(vault)), *vault.slots]
    vault.begin([put("token")])


@catalogue.ok("16 slots; the last opens")
def slot_last_of_sixteen(vault: VaultBuilder) -> None:
    others = [generated_slot(vault.random.take(32), *salt_and_nonce(vault)) for _ in range(15)]
    vault.slots = others + vault.slots
    vault.begin([put("token")])


@catalogue.ok("slots for other files before that of the key file; the limits of one count only for such a file")
def slot_argon2id_beside_generated(vault: VaultBuilder) -> None:
    other = other_file_slot(b"some other secret", *salt_and_nonce(vault))
    vault.slots = [other, other.changed(passes=11, salt=vault.random.take(16)), *vault.slots]
    vault.begin([put("token")])


@catalogue.ok("a slot of the unknown kind 77, with parameters, is passed over")
def slot_of_unknown_kind(vault: VaultBuilder) -> None:
    vault.slots = [unknown_slot(vault).changed(parameters=b"\xff of a later kind"), *vault.slots]
    vault.begin([put("token")])


@catalogue.ok("slots of the kinds 5, 4, 3 and 2 before that of the key file, which opens none of them")
def slots_of_every_kind(vault: VaultBuilder) -> None:
    vault.slots = [
        another_recipients_slot(vault),
        passphrase_and_key_file_slot(PASSPHRASE, vault.secret, *salt_and_nonce(vault)),
        passphrase_slot(PASSPHRASE, *salt_and_nonce(vault)),
        other_file_slot(b"some other secret", *salt_and_nonce(vault)),
        *vault.slots,
    ]
    vault.begin([put("token")])


@catalogue.ok("11 passes for a passphrase, and 10 passes over 8 GiB: the limits count only for who has a passphrase")
def slot_passphrase_beside_generated(vault: VaultBuilder) -> None:
    slot = passphrase_slot(PASSPHRASE, *salt_and_nonce(vault))
    vault.slots = [slot.changed(passes=11), slot.changed(kind=4, passes=10, memory=8 << 30, salt=vault.random.take(16)), *vault.slots]
    vault.begin([put("token")])


# Passphrases and recipients


@catalogue.ok("the vault opens by a passphrase alone, which is not ASCII")
def slot_passphrase(vault: VaultBuilder) -> None:
    vault.key_file, vault.passphrase = None, "caf\u00e9 \U0001f511"
    vault.slots = [passphrase_slot(vault.passphrase, *salt_and_nonce(vault))]
    vault.begin([put("token")]).set(put("another"))


@catalogue.ok("the vault opens by a generated key file with a passphrase")
def slot_passphrase_and_key_file(vault: VaultBuilder) -> None:
    vault.passphrase = PASSPHRASE
    vault.slots = [passphrase_and_key_file_slot(PASSPHRASE, vault.secret, *salt_and_nonce(vault))]
    vault.begin([put("token")]).set(put("another"))


@catalogue.ok("the vault opens by any other key file with a passphrase")
def slot_passphrase_and_other_file(vault: VaultBuilder) -> None:
    vault.key_file, vault.passphrase = b"any other file\n", PASSPHRASE
    vault.slots = [passphrase_and_key_file_slot(PASSPHRASE, hash256(vault.key_file), *salt_and_nonce(vault))]
    vault.begin([put("token")])


@catalogue.ok("the vault opens by an identity, whose stanza follows one of an unknown type and another recipient's")
def slot_recipient(vault: VaultBuilder) -> None:
    for_recipient(vault)
    another = x25519_stanza(vault.file_key, recipient_of(vault.random.take(32)), vault.random.take(32))
    unknown = stanza("of-another-type", "with", "arguments", body=vault.random.take(48))
    vault.slots = [slot.changed(parameters=unknown + another + slot.parameters) for slot in vault.slots]
    vault.begin([put("token")]).set(put("another"))


@catalogue.ok("the vault opens by an identity for which the age command has wrapped the file key")
def slot_recipient_of_age(vault: VaultBuilder) -> None:
    vault.key_file, vault.identity, vault.file_key = None, AGES_IDENTITY, AGES_FILE_KEY
    vault.slots = [recipient_slot(AGES_FILE_KEY, AGES_STANZAS, *salt_and_nonce(vault))]
    vault.begin([put("token")])


# Parameters


@catalogue.ok("commands in the slots of both kinds of key files, a slot without parameters, and a recipient's stanzas")
def slots_with_parameters(vault: VaultBuilder) -> None:
    generated, recipient = vault.slots[0], another_recipients_slot(vault)
    other = other_file_slot(b"some other secret", *salt_and_nonce(vault))
    commands = ["cat /run/keys/caf\u00e9", "secret-tool lookup vault default"]
    vault.slots = [
        generated.changed(parameters=commands[0].encode()),
        passphrase_slot(PASSPHRASE, *salt_and_nonce(vault)),
        recipient,
        other.changed(parameters=commands[1].encode()),
    ]
    vault.stated["parameters"] = [commands[0], "", recipient.parameters.decode(), commands[1]]
    vault.begin([put("token")])


@catalogue.ok("a slot's parameters fill their area, 1,984 bytes")
def slot_parameters_of_most_bytes(vault: VaultBuilder) -> None:
    command = "printf %s " + "c" * 1974
    vault.slots = [unknown_slot(vault), vault.slots[0].changed(parameters=command.encode())]
    vault.stated["parameters"] = ["", command]
    vault.begin([put("token")])
