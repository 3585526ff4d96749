#!/usr/bin/env python3
"""Checks what no source may do outside of named files: handle raw memory, trap, ask whose file it is, read a value.

Bytes from outside must never crash a program or be read past their end. The compiler allows both anywhere. Traps that
no text shows, such as those of subscripts and of arithmetic, are the fuzzers' to find. A command that read a value in
another way would get around its policy and the access log. What is believed is read as a `TrustworthyFile`: a check of
its own would leave root out again.

Usage: limits.py SOURCES
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# Who may pass bytes in place, as a buffer with a length that is valid only inside a closure. A folder covers all below.
VIEWS = {
    "LinuxSystem": "reads and writes files: the kernel's side of every buffer",
    "Sealing": "libsodium's side of every buffer, and guarded memory",
    "Age": "wraps and unwraps keys in guarded memory, and talks to plugins",
    "OneTimeCode": "reads secrets, and computes codes of them, in guarded memory",
    "Formats/SSHAgentMessage.swift": "writes a key into a message, from guarded memory to guarded memory",
    "Formats/SSHKey.swift": "reads a key where it was opened, without a copy of it",
    "SealedFormat": "codes pages and keys in place: a copy of them would be a copy of a secret",
    "SealedLog": "opens boxes in place: a copy of a page or a value would be a copy of a secret",
    "PropertyList/XMLReader.swift": "expat hands over characters by address and length",
    "Formats/GitCredential.swift": "reads and writes passwords in guarded memory, without a copy of them",
    "PlainStores/Values/StoredValue+Coding.swift": "decodes a value where it was opened, without a copy of it",
    "Vault/Secrets/SecretBytes+Creating.swift": "the ways into guarded memory, one with unsafe in its name",
    "Vault/DropBox/DropBox.swift": "checks a value where it was opened, without a copy of it",
    "Vault/Keychain/Keychain.swift": "passes an opened value to its decoder in place",
    "Vault/Keychain/Keychain+Transaction.swift": "wipes an encoded value once it is sealed",
    "Vault/Unlocking": "reads keys, passphrases and the output of commands into guarded memory",
    "PlainStores/Preferences/PreferencesFile.swift": "hands a whole file to LinuxSystem",
    "PlainStores/Import/KeyedArchive.swift": "a UUID of 16 bytes that were counted",
    "VaultCommand/Commands/Values/GenerateCommand.swift": "writes a password from guarded memory, without a copy of it",
    "VaultCommand/Commands/Values/GetCommand.swift": "writes a value or its end from guarded memory, without a copy of it",
    "VaultCommand/Commands/Shared/ValueForm.swift": "writes a value from guarded memory, without a copy of it",
    "VaultCommand/Commands/Helpers/AskpassCommand.swift": "writes a value from guarded memory, without a copy of it",
    "VaultCommand/Commands/Helpers/SSHAddCommand.swift": "sends a key from guarded memory, without a copy of it",
    "VaultCommand/Commands/Helpers/SystemdCredentialCommand.swift": "writes a value from guarded memory, uncopied",
    "VaultCommand/Commands/FromOthers/DropCommands.swift": "writes what is sealed",
    "VaultCommand/Commands/Values/OTPCommand.swift": "writes a code from guarded memory, without a copy of it",
    "VaultCommand/Commands/Keys/RecoveryCommands.swift": "writes a key from guarded memory, without a copy of it",
    "VaultCommand/Text/SecretJSON.swift": "composes JSON from guarded memory, without a copy of a secret",
    "VaultCommand/Text/QRCode": "makes the picture of a key in guarded memory, without a copy of it",
    "VaultCommand/Clipboard": "hands a value on from guarded memory, without a copy of it",
    "VaultCommand/Entries/ExportFormat.swift": "puts values together in guarded memory",
    "VaultCommand/Entries/EditedEntry.swift": "looks at a value in guarded memory, without a copy of it",
    "VaultCommand/Commands/Values/ClipboardCommand.swift": "looks at a value in guarded memory, without a copy of it",
    "VaultCommand/Picking/TerminalPicker.swift": "reads a byte from the terminal",
    "VaultCommand/Process/ScratchFolder.swift": "writes a value from guarded memory, without a copy of it",
    "VaultCommand/Input": "reads a value into guarded memory, without a copy of it",
    "VaultCommand/Output": "writes a value from guarded memory, without a copy of it",
    "VaultCommand/Passwords": "draws a password in guarded memory",
    "VaultCommand/Process/ProcessState.swift": "writes to a descriptor",
    "VaultCommand/Commands/OtherPrograms/EnvCommand.swift": "quotes values in guarded memory",
    "VaultCommand/Commands/OtherPrograms/InjectCommand.swift": "fills a template in guarded memory",
    "VaultCommand/Commands/OtherPrograms/RunCommand.swift": "joins names and values in guarded memory",
    "VaultCommand/Entries/Reading.swift": "looks for a zero byte in a value, without a copy of it",
    "VaultCommand/Text/Redactor.swift": "compares output with values in guarded memory",
    "VaultCommand/Text/Redactor+Patterns.swift": "reads a value where it was opened, without a copy of it",
    "VaultCommand/Process": "descriptors and environments: the kernel's side of buffers with values",
    "VaultCommand/Text/Escaping.swift": "escapes a value from guarded memory, without a copy of it",
    "VaultShared/Connection": "libpq's side of every buffer",
    "VaultShared/Store": "passes sealed bytes between the log and the server",
    "VaultShared/Cache": "passes sealed bytes between the log and a file",
    "VaultShared/Tables": "passes sealed bytes between the log and the server",
    "VaultTesting/Faults/FaultyFileSystem.swift": "stands in for LinuxSystem's file system",
}

# Who may handle an address itself, whose end nothing knows.
ADDRESSES = {
    "Age/PluginProcess.swift": "send(2) and recv(2)",
    "LinuxSystem/KernelKeyring.swift": "add_key(2) and keyctl(2)",
    "Vault/Unlocking/KeyCommand.swift": "read(2)",
    "LinuxSystem/FileWatch.swift": "read(2)",
    "LinuxSystem/LocalSocket.swift": "send(2)",
    "LinuxSystem/Mutex.swift": "a mutex and what it guards, which must not move",
    "LinuxSystem/PosixFileSystem.swift": "pread(2) and pwrite(2)",
    "LinuxSystem/Threads.swift": "a thread's argument, and a semaphore, which must not move",
    "OneTimeCode/HMAC.swift": "nettle",
    "PropertyList/XMLReader.swift": "expat",
    "Sealing": "libsodium",
    "SealedFormat/Format/Entry.swift": "memcmp(3), which compares names in every lookup",
    "Vault/Secrets/SecretBytes+Creating.swift": "the standard library's check of UTF-8 takes bytes of a type",
    "VaultCommand/Input/PromptTerminal.swift": "read(2)",
    "VaultCommand/Input/ValueInput.swift": "read(2)",
    "VaultCommand/Process/ProgramStart.swift": "putenv(3), which takes strings where they are",
    "VaultCommand/Process/Relay.swift": "read(2) and write(2)",
    "VaultCommand/Process/ProcessState.swift": "write(2), and a signal handler compared with SIG_IGN",
    "VaultShared/Connection": "libpq",
    "VaultShared/Store/DatabaseURL.swift": "libpq's parser of URIs",
    "VaultTesting/Threads.swift": "a thread's argument",
}

# Who may ask whose file it is.
OWNERS = {
    "LinuxSystem/TrustworthyFile.swift": "decides which files are believed",
    "LinuxSystem/FileSystem.swift": "holds what the kernel says of a file",
    "LinuxSystem/PosixFileSystem.swift": "the kernel's side of it",
    "LinuxSystem/WholeFile.swift": "lets a file that root replaces stay its user's",
    "SealedLog/Access/AccessLog.swift": "lets a log that root creates be its user's",
    "SealedLog/Memory/MemoryFiles.swift": "lets root add records, which are not believed, to a user's log",
    "SealedFormat/Keys/SecretFile.swift": "lets root read a user's key, and knows who can read root's",
    "Vault/Location/VaultConfiguration.swift": "says to each user how to fix it",
    "Vault/Keychain/Keychain+GuardedReading.swift": "records who has read",
    "VaultShared/Connection/Server.swift": "chooses a file of certificates, which libpq reads",
    "VaultCommand/Commands/Vault/LogCommand.swift": "shows who has read",
    "VaultCommand/Commands/Helpers/SystemdCredentialCommand.swift": "knows who asks at a socket",
    "VaultCommand/Process/ScratchFolder.swift": "wipes only what this user has left",
    "VaultCommand/Health/FileChecks.swift": "tells a person about the vault file, which is only read",
}

# What may trap, by its whole statement: mistakes of our own, which no bytes from outside can cause.
TRAPS = {
    ("LinuxSystem/Mutex.swift", "precondition(held >> rank.rawValue == 0)"): "only in builds for tests",
    ("Sealing/SecretArena.swift", "precondition(holds(front) && holds(data + capacity))"): (
        "as sodium_free does: memory that was overwritten is trusted no more"
    ),
    ("Sealing/SecretBytes.swift", "precondition(newCount >= 0 && newCount <= count)"): "a length of the caller's own",
    ("Sealing/SecretBox.swift", "precondition(bytes.count == Nonce.size)"): "every caller passes a slice of 24 bytes",
    ("SealedFormat/Format/ByteCoding.swift", "precondition(position >= 0 && end <= bytes.count)"): (
        "the range is the caller's; what it holds is read with checks"
    ),
    ("SealedFormat/Format/ByteCoding.swift", "precondition(value.isMultiple(of: 16))"): "written, not read",
    ("SealedFormat/Index/NamedCells.swift", 'do { return try read(&self) } catch { preconditionFailure("") }'): (
        "encoded in this process's own memory"
    ),
}

# What the tables are about.
VIEW = re.compile(
    r"\bUnsafe(?:Mutable)?RawBufferPointer\b|\bwithUnsafe\w*\b|\bwithUTF8\b|\bwith(?:Padded|(?:Mutable)?Raw)Bytes\b"
)
ADDRESS = re.compile(
    r"\bUnsafe(?:Mutable)?(?:Raw)?Pointer\b|\bUnsafe(?:Mutable)?BufferPointer\b|\bbaseAddress\b|\bOpaquePointer\b"
    r"|\bUnmanaged\b|\bunsafeBitCast\b|\bunsafeDowncast\b|\bunsafelyUnwrapped\b|\bmem(?:cpy|move|set|cmp)\b"
    r"|\bassumingMemoryBound\b|\bbindMemory\b|\bwithMemoryRebound\b|\bunowned\(unsafe\)|\bAutoreleasingUnsafe\w*"
)
TRAP = re.compile(
    r"\btry!|\bas!|(?<=[\w)\]}>?`\"])!(?![=\w])"
    r"|\b(?:fatalError|precondition|preconditionFailure|assert|assertionFailure)\s*\("
)
EXPOSED = re.compile(r"\b(?:Unsafe\w*Pointer|OpaquePointer|Unmanaged)\b")
DECLARATION = re.compile(
    r"^[^\n{}]*\b(?:(?:func|init|subscript)\b[^{}]*|(?:var|let|typealias|case)\b[^\n{}=]*)", re.MULTILINE
)
# Whose file it is.
OWNER = re.compile(r"\bisOwnedHere\b|\bst_uid\b|\.owner\b|\bgete?uid\b")
PUBLIC = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public|open)\s(?!import\b)", re.MULTILINE)
# Ways out of guarded memory to memory that is not wiped.
GUARDED = re.compile(r"(?:^|/)SecretBytes[^/]*\.swift$")
EXIT = re.compile(r"\b(func|var)\s+(\w+)[^{]*?(?:->|:)\s*(?:String|\[UInt8\]|Data|Array<UInt8>|Substring)\??\s*$")
# A comparison of what others have written with more than a constant, by which U+212A is a K.
SPELLED = re.compile(r"\battributes\[[^\]]+\]\s*(?:==|!=)(?!\s*(?:nil\b|\"))")
# Where values are read for others than the program, and how else they could be.
READERS = ("VaultCommand/", "VaultShared/")
READ = re.compile(
    r"(?:\bkeychain\??|\bKeychain\([^\n]*\))(?:\.history)?\.(?:get|sealable|withSecret|unsafe\w+|value|contents)\("
)


class Exceptions(NamedTuple):
    """The exceptions by file or folder, as above, each with its reason."""

    views: dict[str, str]
    addresses: dict[str, str]
    owners: dict[str, str]
    traps: dict[tuple[str, str], str]


EXCEPTIONS = Exceptions(VIEWS, ADDRESSES, OWNERS, TRAPS)


def code(text: str) -> str:
    """Returns Swift without its comments and the text of its strings: what is left has the same lines."""
    kept: list[str] = []
    _read_code(text, 0, kept, None)
    return "".join(kept)


def _read_code(text: str, position: int, kept: list[str], closing: str | None) -> int:
    """Keeps code from `first_byte` on; in an interpolation to its closing parenthesis. Returns where it ends."""
    depth = 0
    while position < len(text):
        if found := re.compile(r"//[^\n]*").match(text, position):
            position = found.end()
        elif text.startswith("/*", position):
            position = _skip_comment(text, position, kept)
        elif found := re.compile(r'(#*)("""|")').match(text, position):
            position = _read_string(text, found, kept)
        else:
            character = text[position]
            if closing and character == closing and depth == 0:
                return position
            depth += (character == "(") - (character == ")")
            kept.append(character)
            position += 1
    return position


def _skip_comment(text: str, position: int, kept: list[str]) -> int:
    """Comments nest."""
    depth = 0
    while position < len(text):
        mark = text[position : position + 2]
        if mark in ("/*", "*/"):
            depth += 1 if mark == "/*" else -1
            position += 2
            if depth == 0:
                break
        else:
            kept.append("\n" * (text[position] == "\n"))
            position += 1
    return position


def _read_string(text: str, opening: re.Match, kept: list[str]) -> int:
    """Drops a string's text, and keeps the code of its interpolations."""
    pounds, quotes = opening.groups()
    end, escape = quotes + pounds, "\\" + pounds
    kept.append('"')
    position = opening.end()
    while position < len(text) and not text.startswith(end, position):
        if text.startswith(escape + "(", position):
            kept.append("(")
            position = _read_code(text, position + len(escape) + 1, kept, ")")
            kept.append(")")
            position += 1
        elif text.startswith(escape, position):
            position += len(escape) + 1
        else:
            kept.append("\n" * (text[position] == "\n"))
            position += 1
    kept.append('"')
    return position + len(end)


def complaints(sources: Path, exceptions: Exceptions = EXCEPTIONS) -> Iterator[str]:
    """Yields one sentence for each line that does what it may not, and for each named place that does not need it."""
    used: set[object] = set()
    rules = [
        (VIEW, exceptions.views, "raw bytes; VIEWS"),
        (ADDRESS, exceptions.addresses, "an address; ADDRESSES"),
        (OWNER, exceptions.owners, "whose file it is; OWNERS"),
    ]
    for path in sorted(sources.rglob("*.swift")):
        file = str(path.relative_to(sources))
        text = code(path.read_text())
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, named, words in rules:
                if not (found := pattern.search(line)):
                    continue
                here = {position for position in named if file == position or file.startswith(f"{position}/")}
                used.update((words, position) for position in here)
                if not here:
                    yield f"{path}:{number}: {found.group()} handles {words} in Tools/lib/limits.py names who may"
            if found := SPELLED.search(line):
                yield f"{path}:{number}: {found.group()} compares what only looks equal; use isSame(as:)"
            if found := TRAP.search(line):
                used.add((file, line.strip()))
                if (file, line.strip()) not in exceptions.traps:
                    yield f"{path}:{number}: {found.group()} can trap; throw, or name it in Tools/lib/limits.py"
        yield from (f"{path}:{number}: {words}" for number, words in (*exposures(file, text), *reads(file, text)))
    named = [(words, position) for _, excepted, words in rules for position in excepted] + list(exceptions.traps)
    for position in named:
        if position not in used:
            yield f"{': '.join(position)}: Tools/lib/limits.py names it, and it has no need"


def exposures(file: str, text: str) -> Iterator[tuple[int, str]]:
    """Yields public declarations that hand out raw memory, and ways out of guarded memory, if no name says unsafe."""
    for found in DECLARATION.finditer(text):
        head, number = found.group(), text.count("\n", 0, found.start()) + 1
        says_so = re.search(r"unsafe", re.sub(EXPOSED, "", head), re.IGNORECASE)
        if PUBLIC.match(head) and EXPOSED.search(head) and not says_so:
            yield number, "public API hands out raw memory, and its name does not say unsafe"
        if GUARDED.search(file) and EXIT.search(head.strip()) and not says_so:
            yield number, "a way out of guarded memory whose name does not say unsafe"


def reads(file: str, text: str) -> Iterator[tuple[int, str]]:
    """Yields what reads a value for a command or a server, around its policy and the access log."""
    if not file.startswith(READERS):
        return
    for found in READ.finditer(text):
        yield (
            text.count("\n", 0, found.start()) + 1,
            f"{found.group()} reads a value; use Invocation.reading(_:from:), or Keychain.read(_:for:) below it",
        )


if __name__ == "__main__":
    found = list(complaints(Path(sys.argv[1])))
    print("\n".join(found) or "raw memory, traps and reads of values are where they may be")
    sys.exit(bool(found))
