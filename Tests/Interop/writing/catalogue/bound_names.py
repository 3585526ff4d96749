"""Vaults that are bound to the name that they have in a database, and such that do not belong under it."""

from ..builder import VaultBuilder
from ..changes import RecordChanges
from ..draft import HEADER_SIZE, NAME_OFFSET
from ..entries import put
from ..primitives import hash256
from ..vector import Catalogue

catalogue = Catalogue()


def named(vault: VaultBuilder, name: str = "team") -> VaultBuilder:
    vault.name = name
    vault.stated["name"] = vault.name_hash().hex()
    return vault


@catalogue.ok("a vault of a database, and its records state its name")
def name_of_a_vault(vault: VaultBuilder) -> None:
    named(vault).begin([put("a")]).set(put("b")).notice().minor_checkpoint(put("c")).set(put("d")).hint(2)


@catalogue.ok("a copy of a file that was made in a database: records from before state no name")
def name_of_a_copied_file(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.renamed("team").set(put("c"))
    vault.stated["name"] = vault.name_hash().hex()


@catalogue.ok("a copy under another name: records from before state the former one")
def name_of_a_copy_under_another(vault: VaultBuilder) -> None:
    named(vault, "other").begin([put("a")]).set(put("b")).minor_checkpoint().set(put("c"))
    vault.renamed("team").set(put("d"))
    vault.stated["name"] = vault.name_hash().hex()


@catalogue.damaged("the name is another one than the one that was authenticated")
def name_of_another_vault(vault: VaultBuilder) -> None:
    named(vault).begin([put("a")]).set(put("b"))
    for start in (0, HEADER_SIZE):
        vault.data[start + NAME_OFFSET : start + NAME_OFFSET + 32] = hash256(b"vault other")


@catalogue.damaged("one bit of the number up to which records were copied is flipped")
def name_copied_flipped(vault: VaultBuilder) -> None:
    named(vault).begin([put("a")]).set(put("b")).flip_in_both_headers(NAME_OFFSET + 32)


@catalogue.damaged("one bit of the last byte of the name's code is flipped")
def name_code_flipped(vault: VaultBuilder) -> None:
    named(vault).begin([put("a")]).set(put("b")).flip_in_both_headers(NAME_OFFSET + 71)


@catalogue.damaged("the name is from a former header of the same vault")
def name_of_a_former_header(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    named(vault)
    for start in (0, HEADER_SIZE):
        offset = start + NAME_OFFSET
        vault.data[offset : offset + 72] = vault.bound_name(b"m" * 32)
    vault.set(put("c"))


@catalogue.damaged("the number of a copied record is there, and no name")
def name_of_zeros(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b")).flip_in_both_headers(NAME_OFFSET + 32)


@catalogue.damaged("the last record states another name: it goes on with the copy that is there")
def record_of_another_name(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.renamed("team").set(put("c"), changes=RecordChanges(mark=hash256(b"vault other")[:16]))


@catalogue.damaged("a record in the middle states another name")
def record_of_another_name_in_the_middle(vault: VaultBuilder) -> None:
    named(vault).begin([put("a")]).set(put("b"), changes=RecordChanges(mark=hash256(b"vault other")[:16])).set(put("c"))


@catalogue.damaged("the first record behind the copied ones states no name: it goes on with the file")
def record_without_a_name(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"))
    vault.renamed("team").set(put("c"), changes=RecordChanges(mark=b"")).set(put("d"))


@catalogue.damaged("a record states a name, and the vault has none")
def record_with_a_name_in_a_file(vault: VaultBuilder) -> None:
    vault.begin([put("a")]).set(put("b"), changes=RecordChanges(mark=hash256(b"vault team")[:16]))


@catalogue.damaged("the record that the hint leads to has a tree, and states another name")
def record_of_another_name_where_the_hint_leads(vault: VaultBuilder) -> None:
    named(vault).begin([put("a")]).set(put("b"))
    vault.minor_checkpoint(put("c"), changes=RecordChanges(mark=hash256(b"vault other")[:16])).set(put("d")).hint(1)


@catalogue.damaged("the flag that a record states a name is set, and the index ends there")
def record_name_cut(vault: VaultBuilder) -> None:
    named(vault).begin([put("a")]).set(put("b"), changes=RecordChanges(edit_index=lambda index: index[:64]))
