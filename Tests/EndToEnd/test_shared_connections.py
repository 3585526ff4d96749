"""The ways to a vault in a database: over TLS with a password, and through a pooler."""

import hashlib
import os
import time

import pytest

from homes import Home
from postgres import Cluster, Pooler, make_certificate
from shared_homes import Setters, keep_password


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(has_tls=True).create()
    cluster.ask_for_password("guarded", "hunter2")
    yield cluster
    cluster.remove()


@pytest.fixture
def pooler(cluster: Cluster):
    pooler = Pooler(cluster)
    yield pooler
    pooler.stop()


@pytest.fixture
def pooled(home: Home, pooler: Pooler, vault_name: str) -> Home:
    return home.with_variables(VAULT_FILE=pooler.url(vault_name))


# Over TLS


def test_the_server_proves_itself_and_the_client_has_a_password(home: Home, cluster: Cluster, vault_name: str) -> None:
    shared = home.with_variables(VAULT_FILE=cluster.tls_url(vault_name, "guarded"))
    assert "no password supplied" in shared.refusal(8, "init")
    keep_password(home, "guarded", "hunter2")
    shared.set("a", b"1")
    assert shared.get("a") == b"1"
    assert "encryption: TLS" in shared.output("doctor").decode()
    keep_password(home, "guarded", "wrong-secret")
    sentence = shared.refusal(8, "get", "a")
    assert "password authentication failed" in sentence and "wrong-secret" not in sentence


def test_a_server_with_another_certificate_is_refused(home: Home, cluster: Cluster, vault_name: str) -> None:
    keep_password(home, "guarded", "hunter2")
    home.with_variables(VAULT_FILE=cluster.tls_url(vault_name, "guarded")).set("a", b"1")
    other = make_certificate(cluster.folder, "other")
    stranger = home.with_variables(VAULT_FILE=cluster.tls_url(vault_name, "guarded", other))
    for command in (["get", "a"], ["set", "a"]):
        sentence = stranger.refusal(8, *command, stdin=b"2")
        assert "Cannot connect to postgresql://localhost" in sentence and "certificate verify failed" in sentence


def test_a_server_of_another_name_is_refused(home: Home, cluster: Cluster, vault_name: str) -> None:
    keep_password(home, "guarded", "hunter2")
    url = cluster.tls_url(vault_name, "guarded")
    url = url.replace("@localhost", "@elsewhere").replace("?", "?hostaddr=127.0.0.1&")
    sentence = home.with_variables(VAULT_FILE=url).refusal(8, "init")
    assert "does not match host name" in sentence


# Through a pooler


def test_a_pooler_changes_nothing(pooled: Home) -> None:
    pooled.set("a", b"1")
    pooled.set("b/c", b"x" * 600_000)
    pooled.set("a", b"2")
    assert pooled.names() == ["a", "b/c"]
    assert pooled.values() == {"a": b"2", "b/c": b"x" * 600_000}
    assert b"2 entries" in pooled.output("verify")
    assert "rights: This role may read and write" in pooled.output("doctor").decode()


def test_writers_through_a_pooler_lose_nothing(pooled: Home) -> None:
    pooled.output("init")
    setters = Setters(pooled, 4, 25)
    setters.finish(timeout=60)
    assert sorted(pooled.names()) == setters.names
    assert b"100 entries" in pooled.output("verify")


def vault_hash(text: str) -> bytes:
    """As the library hashes names for the database: BLAKE2b without a key (Hashes.swift)."""
    return hashlib.blake2b(text.encode(), digest_size=32).digest()


def vault_number(text: str) -> int:
    return int.from_bytes(vault_hash(text)[:8], "big") & ((1 << 62) - 1)


def test_who_listens_through_a_pooler_does_no_harm(
    pooled: Home, cluster: Cluster, pooler: Pooler, vault_name: str
) -> None:
    """The listening and its lock stay with a connection to the server that serves others, too, and hears of changes
    while nobody has it."""
    pooled.set("a", b"0")
    channel = f"vault_{vault_hash(f'vault {vault_name}')[:8].hex()}"
    key = vault_number(f"listener {vault_name}")
    with pooler.session(f"LISTEN {channel}; SELECT pg_advisory_lock_shared({key})"):
        lock = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = {key & 0xffff_ffff}"
        assert cluster.sql(lock) == ["1"], "writers see a listener, and notify"
        direct = pooled.with_variables(VAULT_FILE=cluster.url(vault_name))
        for number in range(10):
            for home in (pooled, direct):
                home.set("a", b"%d" % number)
                assert pooled.get("a") == b"%d" % number
    for number in range(10):
        pooled.set("a", b"%d" % number)
    assert pooled.get("a") == b"9"
    pooled.output("verify")


# Compactions. Their lock is not one of a session, which a pooler gives to others.


ADVISORY_LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"


def test_compactions_through_a_pooler_leave_no_lock(pooled: Home, cluster: Cluster) -> None:
    pooled.output("init")
    pooled.output("history", "--keep", "0,0")
    for number in range(12):
        pooled.set("a", b"%d" % number)
        pooled.set("b", b"x" * 300_000)
        pooled.output("compact")
        assert cluster.sql(ADVISORY_LOCKS) == ["0"]
    assert pooled.values() == {"a": b"11", "b": b"x" * 300_000}
    pooled.output("verify")


def test_a_compaction_through_a_pooler_beside_writers(pooled: Home) -> None:
    pooled.output("init")
    pooled.output("history", "--keep", "0,0")
    for number in range(5):
        running = [pooled.start("set", f"w{writer}") for writer in range(6)]
        compaction = pooled.start("compact")
        for process in [*running, compaction]:
            _, errors = process.communicate(b"%d" % number)
            assert process.returncode == 0, errors
        assert pooled.values() == {f"w{writer}": b"%d" % number for writer in range(6)}
    pooled.output("verify")


def test_a_killed_compaction_through_a_pooler_hinders_no_other(pooled: Home, cluster: Cluster) -> None:
    pooled.output("init")
    for number in range(6):
        pooled.set("a", os.urandom(2 << 20))
        process = pooled.start("compact")
        time.sleep(0.02 * number)
        process.kill()
        process.wait()
        pooled.output("compact")
    while cluster.sql(ADVISORY_LOCKS) != ["0"]:
        time.sleep(0.01)
    pooled.output("verify")


def test_a_compaction_beside_more_writers_than_a_pooler_has_connections(
    home: Home, cluster: Cluster, vault_name: str
) -> None:
    """The writers who wait for the vault's lock have all the connections: whoever holds it must not need another."""
    pooler = Pooler(cluster, pool_size=3)
    try:
        pooled = home.with_variables(VAULT_FILE=pooler.url(vault_name))
        pooled.output("init")
        setters = Setters(pooled, 20, 20)
        pooled.output("compact")
        setters.finish(timeout=60)
        assert b"400 entries" in pooled.output("verify")
    finally:
        pooler.stop()
