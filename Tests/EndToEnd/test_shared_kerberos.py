"""Kerberos, which `vault-shared` speaks where it is linked with the system's libpq."""

import shutil
from pathlib import Path

import pytest

from executables import executable
from homes import Home
from kerberos import Realm
from postgres import Cluster


@pytest.fixture
def realm():
    realm = Realm("postgres/localhost", "ann", "hunter2")
    yield realm
    realm.remove()


@pytest.fixture
def guarded(realm: Realm):
    cluster = Cluster(more=f"krb_server_keyfile = '{realm.keytab}'").create()
    cluster.ask_for_ticket("ann")
    yield cluster
    cluster.remove()


@pytest.fixture
def dynamic(home: Home, guarded: Cluster, tmp_path: Path) -> Home:
    """`vault` with the dynamic `vault-shared` beside it, as `Tools/install --shared=dynamic` puts it there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(executable("VAULT_SHARED_DYNAMIC", "`vault-shared`, not static"), folder / "vault-shared")
    url = guarded.url(user="ann", host="localhost")
    return home.with_variables(VAULT_FILE=url).changed(binary=shutil.copy(home.binary, folder))


def test_a_ticket_opens_the_database(dynamic: Home, realm: Realm, tmp_path: Path) -> None:
    assert "Cannot connect to" in dynamic.with_variables(**realm.variables).refusal(8, "init")
    known = dynamic.with_variables(**realm.ticket(tmp_path / "tickets"))
    known.set("a", b"1")
    assert known.get("a") == b"1"
    assert "encryption: Kerberos" in known.output("doctor").decode()


def test_without_kerberos_the_static_executable_says_what_to_install(
    home: Home, guarded: Cluster, realm: Realm, tmp_path: Path
) -> None:
    # Kerberos would encrypt too, instead of TLS.
    url = guarded.url(user="ann", host="localhost", sslmode="disable")
    static = home.with_variables(VAULT_FILE=url, **realm.ticket(tmp_path / "tickets"))
    assert "Tools/install --shared=dynamic" in static.refusal(8, "init")
