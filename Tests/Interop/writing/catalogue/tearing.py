"""Logs with a last record that lies over sectors as a test wants it, ready to be torn."""

from ..builder import VaultBuilder
from ..draft import WrittenRecord
from ..entries import put
from ..primitives import Randomness

SECTOR = 512


def with_last(vault: VaultBuilder, align: int = 64) -> WrittenRecord:
    """Two records that stay and a last one over four sectors that is to be torn; nobody expects it."""
    vault.begin([put("a")]).set(put("b"))
    align_end(vault, align)
    expected = dict(vault.present)
    vault.set(put("torn", Randomness("torn").take(1200)), put("a", "torn"))
    vault.present = expected
    return vault.records[-1]


def align_end(vault: VaultBuilder, offset: int) -> None:
    """Appends a record whose end lies `offset` bytes behind the start of a sector."""
    filler = put("filler", bytes(16))
    while True:
        data, state = bytes(vault.data), (vault.sequence, vault.authenticator, dict(vault.present), vault.dead_bytes)
        vault.set(filler)
        missing = (offset - len(vault.data)) % SECTOR
        if not missing:
            return
        vault.data, (vault.sequence, vault.authenticator, vault.present, vault.dead_bytes) = bytearray(data), state
        vault.records.pop()
        filler = put("filler", bytes(len(filler.value.content) + missing))


def sector_start(offset: int) -> int:
    return offset - offset % SECTOR
