"""Files that end too early, and files that are no vaults at all."""

from ..builder import VaultBuilder
from ..draft import CHECKPOINT_START
from ..entries import put
from ..vector import Catalogue

catalogue = Catalogue()


def cut(name: str, note: str, size: int) -> None:
    def build(vault: VaultBuilder) -> None:
        vault.begin([put("a"), put("b")]).set(put("c"))
        del vault.data[size:]

    build.__name__ = name
    catalogue.damaged(note)(build)


cut("file_empty", "the file is empty", 0)
cut("file_of_the_magic_alone", "the file ends behind the magic", 8)
cut("file_cut_in_the_slots", "the file ends in the key slots", 300)
cut("file_cut_behind_the_header", "the file ends behind the header", 4096)
cut("file_cut_in_the_headers_copy", "the file ends in the header's copy", 4096 + 300)
cut("file_cut_behind_the_headers_copy", "the file ends behind the header's copy", CHECKPOINT_START)
cut("file_cut_in_the_checkpoint", "the file ends in the checkpoint", CHECKPOINT_START + 48)


@catalogue.damaged("the whole file is zeros")
def file_of_zeros(vault: VaultBuilder) -> None:
    vault.data = bytearray(8208)


@catalogue.damaged("the file is text")
def file_of_text(vault: VaultBuilder) -> None:
    vault.data = bytearray(b"this is not a vault\n" * 420)
