"""What checkpoint and records amount to, and whether the trees on the way agree with what lies before them."""

from .entries import Entry
from .errors import Damaged
from .header import Header
from .log import Log
from .records import Record
from .sealing import Subkeys
from .tree import Tree, read_tree
from .values import Values

Entries = dict[bytes, Entry]


def check_coverage(header: Header, checkpoint: Tree) -> None:
    """Values, pages and manifest fill the checkpoint, each byte once."""
    parts = {(page.offset, page.end) for page in checkpoint.pages}
    parts.add((header.manifest.offset, header.manifest.end))
    for entry in checkpoint.entries.values():
        parts.update((version.offset, version.end) for version in entry.versions)
    offset = header.checkpoint.start
    for start, end in sorted(parts):
        if start != offset:
            raise Damaged("checkpoint: gaps", f"the checkpoint at {min(start, offset)}")
        offset = end
    if offset != header.checkpoint_end:
        raise Damaged("checkpoint: gaps", f"the checkpoint at {offset}")


def replay(image: bytes, log: Log, keys: Subkeys, checkpoint: Entries, values: Values) -> Entries:
    """All entries that records have set."""
    since: Entries = {}
    for record in log.records:
        for transaction in record.transactions:
            values.open_all(transaction, record.frame.end)
            since |= {entry.name: entry for entry in transaction}
        if record.tree:
            within = range(record.frame.payload_offset, record.frame.end)
            tree = read_tree(image, record.tree.root, keys.page, within)
            check_tree(record, tree.entries, since, checkpoint)
            values.open_all(tree.entries.values(), record.frame.end)
            since = tree.entries
    return since


def check_tree(record: Record, tree: Entries, since: Entries, checkpoint: Entries) -> None:
    """A tree holds all that was set since the checkpoint, changed only by what its own record brings.

    What it brings is a removal, a value in its own payload, or new attributes beside the value that was there.
    """
    what = f"the tree of the record at {record.frame.offset}"
    if len(tree) != record.tree.count:
        raise Damaged("tree: number of entries", what)
    if missing := since.keys() - tree.keys():
        raise Damaged("tree: lacks an entry", f"{what}, {min(missing).decode()!r}")
    for name, entry in tree.items():
        before = since.get(name, checkpoint.get(name))
        is_own = entry.version is None or record.frame.payload_offset <= entry.version.offset < record.frame.end
        is_known = before is not None and entry.version in before.versions
        if entry != before and not is_own and not is_known:
            raise Damaged("tree: older entry", f"{what}, {name.decode()!r}")
