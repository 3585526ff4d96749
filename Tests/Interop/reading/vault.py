"""A whole vault: everything the file says, verified, and the entries it amounts to."""

import fcntl
import time
from dataclasses import dataclass
from os import PathLike

from .credentials import Credentials
from .entries import Entry, StoredVersion
from .header import Header, open_header
from .log import Log, read_log
from .manifest import Manifest, read_manifest
from .members import Author, Members, read_members
from .records import Record
from .replay import Entries, check_coverage, replay
from .sealing import Subkeys
from .tree import read_tree
from .values import Values


@dataclass(frozen=True)
class EarlierValue:
    modified: int
    kind: int
    value: bytes
    expiry: int | None
    attributes: dict[str, str]
    author: Author | None


@dataclass(frozen=True)
class OpenEntry:
    """A present entry with its values opened; times in milliseconds since 1970. Without `author`, nobody signed it."""

    value: bytes
    kind: int
    created: int
    modified: int
    expiry: int | None
    attributes: dict[str, str]
    author: Author | None
    earlier: list[EarlierValue]


@dataclass(frozen=True)
class RemovedEntry:
    """A name that is known to be absent, with the versions that it had, as far as they are kept."""

    modified: int
    author: Author | None
    earlier: list[EarlierValue]


@dataclass(frozen=True)
class Vault:
    """`removed` tells when each name that is known to be absent was removed. Expired names are in neither.

    `current` holds all that is known of every name, `since` that of the names that records have set. `contents` are the
    opened values of both.
    """

    header: Header
    manifest: Manifest
    log: Log
    entries: dict[str, OpenEntry]
    removed: dict[str, RemovedEntry]
    live_bytes: int
    hinted_record: Record | None
    keys: Subkeys
    current: Entries
    since: Entries
    contents: dict[StoredVersion, bytes]
    members: Members


def open_vault(
    path: str | PathLike[str], key_file: bytes | None, passphrase: str | None = None, identity: str | None = None,
    fingerprint: bytes | None = None,
) -> Vault:  # fmt: skip
    """Reads and verifies all of the file; `Newer`, `Locked` or `Damaged` if it does not open or hold."""
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        return open_image(file.read(), key_file, passphrase, identity, fingerprint)


def open_image(
    image: bytes, key_file: bytes | None, passphrase: str | None = None, identity: str | None = None,
    fingerprint: bytes | None = None,
) -> Vault:  # fmt: skip
    header, keys = open_header(image, Credentials.given(key_file, passphrase, identity, fingerprint))
    manifest = read_manifest(image, header, keys.page)
    checkpoint = read_tree(image, header.root, keys.page, header.checkpoint)
    members = read_members(manifest.members, header.vault_id)
    values = Values(image, keys, members)
    values.open_all(checkpoint.entries.values(), header.checkpoint_end)
    check_coverage(header, checkpoint)
    log = read_log(image, header, keys)
    since = replay(image, log, keys, checkpoint.entries, values)
    current = checkpoint.entries | since
    now, ordered = time.time() * 1000, sorted(current.items())
    return Vault(
        header, manifest, log,
        entries={name.decode(): opened(entry, values) for name, entry in ordered if present(entry, now)},
        removed={name.decode(): removed(entry, values) for name, entry in ordered if not entry.version},
        live_bytes=sum(entry.live_bytes for entry in current.values()),
        hinted_record=hinted_record(header, log), keys=keys, current=current, since=since, contents=values.contents,
        members=members,
    )  # fmt: skip


def present(entry: Entry, now: float) -> bool:
    return entry.version is not None and (entry.expiry is None or entry.expiry > now)


def opened(entry: Entry, values: Values) -> OpenEntry:
    return OpenEntry(
        values.contents[entry.version], entry.version.kind, entry.created, entry.modified, entry.expiry,
        dict(entry.attributes), values.members.authors(entry, values.contents)[0], earlier(entry, values),
    )  # fmt: skip


def removed(entry: Entry, values: Values) -> RemovedEntry:
    return RemovedEntry(entry.modified, values.members.authors(entry, values.contents)[0], earlier(entry, values))


def earlier(entry: Entry, values: Values) -> list[EarlierValue]:
    authors = values.members.authors(entry, values.contents)[1:]
    return [
        EarlierValue(
            old.modified, old.version.kind, values.contents[old.version], old.expiry, dict(old.attributes), author
        )
        for old, author in zip(entry.earlier, authors, strict=True)
    ]  # fmt: skip


def hinted_record(header: Header, log: Log) -> Record | None:
    """The minor checkpoint that the hint leads to, if it leads to one."""
    for record in log.records:
        if record.tree and (record.frame.offset, record.sequence) == (header.hint.offset, header.hint.sequence):
            return record
    return None
