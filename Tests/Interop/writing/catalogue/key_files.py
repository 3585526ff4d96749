"""Key files of every form, and those that do not open their vault."""

from collections.abc import Callable

from ..builder import VaultBuilder
from ..entries import put
from ..keys import Slot, key_line, other_file_slot
from ..vector import Catalogue

catalogue = Catalogue()


def small(vault: VaultBuilder) -> VaultBuilder:
    return vault.begin([put("token", "abc")]).set(put("another", "def"))


@catalogue.ok("the key line is in capital letters")
def key_file_in_capitals(vault: VaultBuilder) -> None:
    small(vault).key_file = f"# vault key file\n{key_line(vault.secret, upper=True)}\n".encode()


@catalogue.ok("comments and empty lines before and behind the key line")
def key_file_with_comments(vault: VaultBuilder) -> None:
    small(vault).key_file = f"\n# one\n\n#two\n{key_line(vault.secret)}\n\n# three\n".encode()


@catalogue.ok("lines end with CR, and with CR LF, which makes an empty line")
def key_file_with_carriage_returns(vault: VaultBuilder) -> None:
    small(vault).key_file = f"# vault key file\r\r{key_line(vault.secret)}\r\n# more\r\n".encode()


@catalogue.ok("the key line alone, without an end of line", inferred=True)
def key_file_of_one_line(vault: VaultBuilder) -> None:
    small(vault).key_file = key_line(vault.secret).encode()


@catalogue.ok("a key file of exactly 4,096 bytes")
def key_file_of_the_largest_size(vault: VaultBuilder) -> None:
    line = f"{key_line(vault.secret)}\n"
    small(vault).key_file = ("#" * (4095 - len(line)) + "\n" + line).encode()


@catalogue.locked("a generated key file, but of another vault")
def key_of_another_vault(vault: VaultBuilder) -> None:
    small(vault).key_file = VaultBuilder("some other vault").key_file


def mistyped(line: str, offset: int) -> bytes:
    return (line[:offset] + ("0" if line[offset] != "0" else "1") + line[offset + 1 :] + "\n").encode()


@catalogue.locked("one digit of the key is mistyped: the checksum does not match")
def key_mistyped(vault: VaultBuilder) -> None:
    small(vault).key_file = mistyped(key_line(vault.secret), 20)


@catalogue.locked("the last digit of the checksum is mistyped; the key itself is right")
def key_checksum_mistyped(vault: VaultBuilder) -> None:
    line = key_line(vault.secret)
    small(vault).key_file = mistyped(line, len(line) - 1)


@catalogue.locked("one digit of the key is missing")
def key_too_short(vault: VaultBuilder) -> None:
    line = key_line(vault.secret)
    small(vault).key_file = (line[:20] + line[21:] + "\n").encode()


@catalogue.locked("the key line is missing; the comment says that this was a generated key file")
def key_line_missing(vault: VaultBuilder) -> None:
    small(vault).key_file = b"# vault key file\n"


@catalogue.locked("the key line is there twice")
def key_line_twice(vault: VaultBuilder) -> None:
    small(vault).key_file = f"{key_line(vault.secret)}\n{key_line(vault.secret)}\n".encode()


@catalogue.locked("a line that is no comment stands beside the key line")
def key_file_with_another_line(vault: VaultBuilder) -> None:
    small(vault).key_file = f"{key_line(vault.secret)}\nand more\n".encode()


@catalogue.locked("a key line of a later version")
def key_file_of_a_later_version(vault: VaultBuilder) -> None:
    small(vault).key_file = key_line(vault.secret).replace("vault-key-1", "vault-key-2").encode()


def file_of_4097_bytes(vault: VaultBuilder) -> bytes:
    line = f"{key_line(vault.secret)}\n"
    return ("#" * (4096 - len(line)) + "\n" + line).encode()


@catalogue.locked("a file of 4,097 bytes with a key line: any other file, where only a generated key file has a slot")
def key_file_too_large(vault: VaultBuilder) -> None:
    small(vault).key_file = file_of_4097_bytes(vault)


@catalogue.ok("a file of 4,097 bytes with a key line: any other file, and it has a slot")
def other_file_with_a_key_line(vault: VaultBuilder) -> None:
    vault.key_file = file_of_4097_bytes(vault)
    vault.slots = [other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))]
    small(vault)


@catalogue.locked("the file also begins a line with the prefix in capitals: it is a generated key file, damaged")
def key_file_with_capital_prefix_beside(vault: VaultBuilder) -> None:
    vault.key_file = b"a passphrase\nVAULT-KEY-of mine\n"
    vault.slots = [other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))]
    small(vault)


@catalogue.locked("a line begins with the comment in capitals: it is a generated key file, damaged")
def key_file_with_capital_comment(vault: VaultBuilder) -> None:
    vault.key_file = b"a passphrase\r# VAULT KEY FILES are elsewhere"
    vault.slots = [other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))]
    small(vault)


@catalogue.locked("any other file, where only a generated key file has a slot")
def other_file_for_a_generated_slot(vault: VaultBuilder) -> None:
    small(vault).key_file = vault.secret


@catalogue.locked("a generated key file, where the slot was made from the same bytes as any other file")
def generated_file_for_an_argon2id_slot(vault: VaultBuilder) -> None:
    vault.slots = [other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))]
    small(vault)


@catalogue.locked("the other file lost its last byte, an end of line")
def other_file_without_its_last_byte(vault: VaultBuilder) -> None:
    vault.slots = [other_file_slot(b"a passphrase\n", vault.random.take(16), vault.random.take(24))]
    small(vault).key_file = b"a passphrase"


@catalogue.locked("an empty key file is refused, even if a slot was made from it")
def key_file_empty(vault: VaultBuilder) -> None:
    vault.key_file = b""
    vault.slots = [other_file_slot(b"", vault.random.take(16), vault.random.take(24))]
    small(vault)


@catalogue.locked("the MAC does not match either: it is checked only once a slot has opened")
def key_of_another_vault_and_mac(vault: VaultBuilder) -> None:
    small(vault).flip_in_both_headers(4032).key_file = VaultBuilder("some other vault").key_file


@catalogue.locked("the wrapped data key has one bit flipped: the key file opens no slot")
def wrapped_key_flipped(vault: VaultBuilder) -> None:
    small(vault).flip_in_both_headers(256 + 64 + 20)


@catalogue.locked("the only slot is of the unknown kind 77")
def only_an_unknown_slot(vault: VaultBuilder) -> None:
    vault.slots = [Slot(77, vault.secret, vault.random.take(16), vault.random.take(24))]
    small(vault)


# Generated key files that were changed on their way, and files that can be no key


def changed(name: str, note: str, change: Callable[[bytes], bytes]) -> None:
    """The vault's own generated key file, changed; a slot made from the changed bytes would open."""

    def build(vault: VaultBuilder) -> None:
        vault.key_file = change(vault.key_file)
        vault.slots.append(other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24)))
        small(vault)

    build.__name__ = name
    catalogue.locked(note)(build)


def line_of(content: bytes) -> bytes:
    return content.splitlines()[1]


changed("key_file_behind_a_space", "a space stands before the key line", lambda file: b" " + line_of(file))
changed("key_file_behind_a_mark", "a byte order mark stands before the key line", lambda file: b"\xef\xbb\xbf" + line_of(file))
changed("key_file_in_utf16", "the key file is in UTF-16", lambda file: file.decode().encode("utf-16"))
changed("key_file_in_utf16_be", "the key line is in UTF-16, the other way round", lambda file: line_of(file).decode().encode("utf-16-be"))
changed("key_file_in_quotes", "the key line stands in quotation marks", lambda file: b'"' + line_of(file) + b'"')
changed("key_file_as_a_variable", "the key line is the value of a variable", lambda file: b"VAULT_KEY=" + line_of(file))


def unsuitable(name: str, note: str, content: bytes) -> None:
    def build(vault: VaultBuilder) -> None:
        vault.key_file = content
        vault.slots = [other_file_slot(content, vault.random.take(16), vault.random.take(24))]
        small(vault)

    build.__name__ = name
    catalogue.locked(note)(build)


unsuitable("key_file_of_a_line_end", "the key file is one end of a line", b"\n")
unsuitable("key_file_of_white_space", "the key file holds white space alone", b" \t\r\n\x0b\x0c ")
unsuitable("key_file_of_zeros", "the key file holds zero bytes alone", bytes(64))
unsuitable("key_file_that_is_a_vault", "the key file begins as a vault does", b"\x89VLT\r\n\x1a\n" + bytes(8184))


@catalogue.ok("a key file of one letter: short, but a key")
def key_file_of_one_letter(vault: VaultBuilder) -> None:
    vault.key_file = b"k"
    vault.slots = [other_file_slot(vault.key_file, vault.random.take(16), vault.random.take(24))]
    small(vault)
