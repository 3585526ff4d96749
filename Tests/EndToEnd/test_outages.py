"""A server that cannot be reached is away; one that answers and refuses is not: somebody has to act."""

import json
import shlex
import threading
import time
from pathlib import Path

import pytest

from homes import Home
from postgres import Cluster, make_certificate
from proxies import Proxy
from shared_homes import keep_password
from test_database_password import Thief
from test_shared_vault import other_machine

IO, BUSY = 8, 7
NOT_STORED = b"The change is only on this machine"


@pytest.fixture
def cluster():
    cluster = Cluster(has_tls=True).create()
    cluster.ask_for_password("mia", "hunter2")
    yield cluster
    cluster.remove()


@pytest.fixture
def silent():
    """Takes connections, and says nothing."""
    silent = Thief()
    silent.ask = lambda connection: time.sleep(60)
    yield silent
    silent.listener.close()


def configure(home: Home, url: str, offline: str = "offline = allow\n") -> Home:
    config = home.folder / ".config/vault/config"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"[default]\nvault = {url}\n{offline}")
    config.chmod(0o600)
    return home


@pytest.fixture
def mia(home: Home, cluster: Cluster) -> Home:
    """Has a whole copy of the vault, which may stand in."""
    keep_password(home, "mia", "hunter2")
    configure(home, cluster.tls_url("team", "mia"))
    home.set("a", b"1")
    assert home.get("a") == b"1"
    return home


def half_a_minute_later(home: Home) -> None:
    for note in (home.folder / ".cache/vault").glob("*.outage"):
        note.unlink()


# What answers is not away


def wrong_password(home: Home, cluster: Cluster) -> None:
    keep_password(home, "mia", "wrong-secret")


def locked_role(home: Home, cluster: Cluster) -> None:
    cluster.sql("ALTER ROLE mia NOLOGIN")


def no_database(home: Home, cluster: Cluster) -> None:
    configure(home, cluster.tls_url("team", "mia").replace("/postgres?", "/gone?"))


def other_certificate(home: Home, cluster: Cluster) -> None:
    configure(home, cluster.tls_url("team", "mia", make_certificate(cluster.folder, "other")))


def no_right(home: Home, cluster: Cluster) -> None:
    # She has made the tables.
    cluster.sql("REASSIGN OWNED BY mia TO vault")
    cluster.sql("ALTER ROLE mia NOSUPERUSER")


@pytest.mark.parametrize("refuse, told", [
    (wrong_password, "password authentication failed"), (locked_role, "not permitted to log in"),
    (other_certificate, "certificate verify failed"), (no_right, "does not permit"),
])
def test_what_refuses_is_an_error_although_the_copy_could_stand_in(
    mia: Home, cluster: Cluster, refuse, told: str
) -> None:
    refuse(mia, cluster)
    for command, value in ((["get", "a"], b""), (["set", "a"], b"2"), (["ls"], b"")):
        sentence = mia.refusal(IO, *command, stdin=value)
        assert told in sentence and "secret" not in sentence, command
    assert mia.output("get", "--offline", "a") == b"1"


def test_so_is_a_database_that_is_gone(mia: Home, cluster: Cluster) -> None:
    no_database(mia, cluster)
    assert 'database "gone" does not exist' in mia.refusal(IO, "get", "a")


# What does not answer is


def test_what_cannot_be_reached_is_away_and_a_change_says_where_it_is(mia: Home, cluster: Cluster) -> None:
    cluster.stop()
    finished = mia.run("get", "a")
    assert finished.returncode == 0 and finished.stdout == b"1"
    assert b"Connection refused" in finished.stderr and b"from this machine's copy" in finished.stderr
    assert finished.stderr.count(b"from this machine's copy") == 1
    for words, value in ((["set", "a"], b"2"), (["cp", "a", "b"], b""), (["rm", "b"], b"")):
        finished = mia.run(*words, "--json", stdin=value)
        assert finished.returncode == 0, finished.stderr
        assert json.loads(finished.stdout)["pending"] is True, words
        assert NOT_STORED in finished.stderr
    finished = mia.run("set", "c", stdin=b"3")
    assert finished.stderr.count(NOT_STORED) == 1
    assert json.loads(mia.output("info", "--json"))["pending"] is True
    assert b"on this machine only" in mia.output("info")
    assert mia.values() == {"a": b"2", "c": b"3"}
    # Of the server's vault, the copy says nothing.
    assert "Connection refused" in mia.refusal(IO, "verify")
    assert b"intact" in mia.output("verify", "--offline")
    cluster.start()
    # A change asks, although the server was away a moment ago.
    finished = mia.run("set", "d", "--json", stdin=b"4")
    assert "pending" not in json.loads(finished.stdout) and NOT_STORED not in finished.stderr
    assert json.loads(mia.output("info", "--json"))["pending"] is False
    assert mia.values() == {"a": b"2", "c": b"3", "d": b"4"}
    mia.output("verify")


def test_for_half_a_minute_a_reader_does_not_ask_again(mia: Home, cluster: Cluster, silent: Thief) -> None:
    moved = cluster.tls_url("team", "mia").replace(f":{cluster.port}/", f":{silent.port}/")
    [state] = (mia.folder / ".cache/vault").glob("*.state")
    configure(mia, moved)
    assert "does not answer" in mia.refusal(IO, "get", "a", "--timeout", "1"), "nothing is kept of that place"
    configure(mia, cluster.tls_url("team", "mia"))
    cluster.stop()
    for _ in range(2):
        assert mia.get("a") == b"1"
    [note] = state.parent.glob("*.outage")
    cluster.start()
    mia.output("set", "b", stdin=b"2")
    assert not note.exists(), "a change has found it"
    assert mia.get("b") == b"2"


@pytest.mark.parametrize("content", [b"", b"1234567", b"123456789", b"\xff" * 8, b"\0" * 8])
def test_a_note_that_says_nothing_is_none(mia: Home, cluster: Cluster, content: bytes) -> None:
    cluster.stop()
    assert mia.get("a") == b"1"
    [note] = (mia.folder / ".cache/vault").glob("*.outage")
    cluster.start()
    note.write_bytes(content)
    finished = mia.run("get", "a")
    assert finished.stdout == b"1" and finished.stderr == b""


def test_the_time_that_is_given_binds_the_connection(home: Home, silent: Thief) -> None:
    shared = home.with_variables(VAULT_FILE=f"postgresql://u@127.0.0.1:{silent.port}/x#team")
    process = shared.start("get", "a", "--timeout", "1")
    _, errors = process.communicate(timeout=8)
    assert process.returncode == IO and b"does not answer" in errors


def test_changes_that_wait_for_another_url_are_found(home: Home, cluster: Cluster) -> None:
    """As after a second host was added."""
    configure(home, cluster.url("team"))
    home.set("a", b"1")
    assert home.get("a") == b"1"
    home.output("set", "--offline", "b", stdin=b"2")
    [pending] = home.memory.glob("*-offline.vault")
    checks = json.loads(home.output("doctor", "--json", "--offline"))["checks"]
    assert [check for check in checks if check["name"] == "changes"] == [], "these are of this place"
    configure(home, cluster.url("team", host="127.0.0.1"))
    home.refusal(3, "get", "b")
    checks = json.loads(home.output("doctor", "--json"))["checks"]
    [found] = [check for check in checks if check["name"] == "changes"]
    assert found["state"] == "warning" and str(pending) in found["message"]
    home.output("merge", str(pending))
    assert home.values() == {"a": b"1", "b": b"2"}
    pending.unlink()
    assert b"changes made without the server, for another URL" not in home.output("doctor")


def test_a_copy_that_is_behind_another_urls_is_no_alarm(home: Home, cluster: Cluster) -> None:
    configure(home, cluster.url("team"))
    home.set("a", b"1")
    assert home.get("a") == b"1"
    configure(home, cluster.url("team", host="127.0.0.1"))
    home.set("a", b"2")
    configure(home, cluster.url("team"))
    assert "through another URL" in home.refusal(IO, "get", "--offline", "a")
    assert home.output("get", "--offline", "--accept-rolled-back", "a") == b"1"
    assert home.get("a") == b"2"
    assert home.output("get", "--offline", "a") == b"2"


def test_changes_that_a_merge_has_refused_are_found(home: Home, cluster: Cluster, tmp_path: Path) -> None:
    """As after a rotation on another machine."""
    configure(home, cluster.url("team"))
    home.set("a", b"1")
    assert home.get("a") == b"1"
    home.output("set", "--offline", "a", stdin=b"2")
    others = other_machine(home, tmp_path / "other").with_variables(VAULT_FILE=cluster.url("team"))
    others.output("key", "rotate")
    finished = home.run("get", "a")
    assert finished.stdout == b"1" and b"were not accepted" in finished.stderr
    [refused] = home.memory.glob("*-offline.vault.*.refused.vault")
    checks = json.loads(home.output("doctor", "--json"))["checks"]
    [found] = [check for check in checks if check["name"] == "changes"]
    assert found["state"] == "warning" and str(refused) in found["message"]
    assert f"`vault merge '{refused}'`" in found["fix"]
    assert "--from-former-key=NAME" in home.refusal(9, "merge", str(refused))
    home.output("merge", "--from-former-key=a", str(refused))
    assert home.get("a") == b"2"
    refused.unlink()
    assert b"were not stored" not in home.output("doctor")


def test_changes_of_before_a_new_key_are_taken_over_as_advised(
    home: Home, cluster: Cluster, tmp_path: Path
) -> None:
    """The data key was rotated on another machine, under a new key file."""
    configure(home, cluster.url("team"))
    home.set("a", b"1")
    assert home.get("a") == b"1"
    home.output("set", "--offline", "a", stdin=b"2")
    others = other_machine(home, tmp_path / "other").with_variables(VAULT_FILE=cluster.url("team"))
    new, old = tmp_path / "new.key", tmp_path / "old.key"
    others.output("key", "rotate", "--replace", f"1={new}")
    home.key.rename(old)
    home.key.write_bytes(new.read_bytes())
    home.key.chmod(0o600)
    [pending] = home.memory.glob("*-offline.vault")
    told = home.run("get", "a")
    assert told.stdout == b"1" and f"are still in {pending}".encode() in told.stderr, told
    assert told.stderr in home.run("get", "a").stderr, "until it is taken over"
    words = shlex.split(told.stderr.decode().split("`")[1])[1:]
    home.output(*[{"OLD": str(old), "NEW": str(home.key)}.get(word, word) for word in words])
    told = home.run("get", "a")
    assert told.stdout == b"1" and b"were not accepted" in told.stderr
    merge = shlex.split(told.stderr.decode().split("accept it: ")[1])[1:]
    home.output(*[word.replace("=NAME", "=a") for word in merge])
    finished = home.run("get", "a")
    assert finished.stdout == b"2" and finished.stderr == b""


def test_a_section_has_its_vault_and_key_in_all_that_is_advised(home: Home, cluster: Cluster) -> None:
    configure(home, cluster.url("team"))
    config = home.folder / ".config/vault/config"
    config.write_text(config.read_text().replace("[default]", "[team]"))
    assert "`vault --vault 'team' init`" in home.refusal(3, "--vault", "team", "get", "a")
    home.output("--vault", "team", "set", "a", stdin=b"1")
    home.output("--vault", "team", "verify")
    cluster.sql("UPDATE vault.head SET size = size - 16")
    told = home.refusal(6, "--vault", "team", "get", "a")
    [clone] = [part for part in told.split("`") if "clone" in part]
    home.output(*shlex.split(clone)[1:])
    assert home.output("--vault", "team", "get", "a") == b"1"
    cluster.sql("DELETE FROM vault.head")
    told = home.refusal(4, "--vault", "team", "get", "a")
    assert "`vault --vault 'team' init --force`" in told
    [clone] = [part for part in told.split("`") if "clone" in part]
    home.output(*shlex.split(clone)[1:])
    assert home.output("--vault", "team", "get", "a") == b"1"
    home.output("--vault", "team", "set", "--offline", "a", stdin=b"2")
    [pending] = home.memory.glob("*-offline.vault")
    left = pending.rename(pending.with_name("x-offline.vault"))
    told = home.output("--vault", "team", "doctor").decode()
    [merge] = [part for part in told.split("`") if "merge" in part]
    home.output(*shlex.split(merge)[1:])
    assert home.output("--vault", "team", "get", "a") == b"2"


# A server that is started again


def test_a_restart_fails_nothing(home: Home, cluster: Cluster) -> None:
    direct = home.with_variables(VAULT_FILE=cluster.url("team"))
    proxy = Proxy(cluster)
    through = home.with_variables(VAULT_FILE=proxy.url("team"))
    through.set("a", b"0")
    for number in range(3):
        proxy.close()
        starting = threading.Timer(0.6, proxy.open)
        starting.start()
        through.set("a", b"%d" % number)
        starting.join()
        assert direct.get("a") == b"%d" % number
    proxy.close()
    starting = threading.Timer(0.6, proxy.open)
    starting.start()
    assert through.get("a") == b"2"
    starting.join()
    proxy.close()


def test_a_server_that_shuts_down_is_away(mia: Home, cluster: Cluster) -> None:
    """It says so itself, for as long as a client stays."""
    holding = cluster.hold("SELECT 1")
    cluster.process.terminate()
    while b"shutting down" not in (finished := mia.run("get", "a")).stderr:
        half_a_minute_later(mia)
        assert cluster.process.poll() is None
    assert finished.stdout == b"1" and b"from this machine's copy" in finished.stderr
    holding.communicate()


def test_a_limit_of_the_role_is_no_other_error_than_a_lock(home: Home, cluster: Cluster) -> None:
    shared = home.with_variables(VAULT_FILE=cluster.url("team", "vault"))
    shared.set("a", b"0")
    cluster.sql("ALTER ROLE vault SET statement_timeout = '300ms'")
    holding = cluster.hold("SELECT FROM vault.head FOR UPDATE")
    try:
        told = shared.refusal(BUSY, "set", "a", "--timeout", "1", stdin=b"1")
        assert "Another process" in told and "statement_timeout" in told
    finally:
        holding.communicate()
    shared.set("a", b"2")
