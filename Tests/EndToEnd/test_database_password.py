"""The password of a database, in an entry of this machine's own vault: read as others read, and sent to its server alone."""

import json
import shlex
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from executables import executable
from homes import Home
from postgres import Cluster
from proxies import stop_accepting

IO = 8
PASSWORD = b"hunter2-of-the-team"


@pytest.fixture
def cluster_of_own() -> Iterator[Cluster]:
    cluster = Cluster(has_tls=True).create()
    cluster.ask_for_password("guarded", PASSWORD.decode())
    yield cluster
    cluster.remove()


class Thief:
    """A server that asks everybody for a password in clear text, and keeps what it gets."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.connections, self.received = 0, b""
        self.serving = threading.Thread(target=self.serve, daemon=True)
        self.serving.start()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                self.ask(connection)

    def ask(self, connection: socket.socket) -> None:
        while True:
            message = connection.recv(4096)
            if len(message) < 8:
                return
            if struct.unpack("!I", message[4:8])[0] not in (80877103, 80877104):
                break
            # No encryption.
            connection.sendall(b"N")
        connection.sendall(b"R" + struct.pack("!II", 8, 3))
        self.received += connection.recv(4096)


@pytest.fixture
def thief() -> Iterator[Thief]:
    thief = Thief()
    yield thief
    stop_accepting(thief.listener, thief.serving)


def with_url(home: Home, cluster: Cluster, entry: str = "db/team", **options: str) -> Home:
    return home.with_variables(VAULT_FILE=cluster.url(user="guarded", **options, **{"password-entry": entry}))


def reads(home: Home) -> list[tuple[str, str]]:
    accesses = json.loads(home.output("log", "--json"))["accesses"]
    return [(access["name"], access["command"]) for access in accesses if access["name"] and not access["refused"]]


def test_an_entry_that_is_marked_for_the_database_logs_in(home: Home, cluster_of_own: Cluster) -> None:
    home.set("db/team", PASSWORD)
    assert "no password supplied" in home.with_variables(VAULT_FILE=cluster_of_own.url(user="guarded")).refusal(IO, "init")
    shared = with_url(home, cluster_of_own)
    sentence = shared.refusal(IO, "init")
    assert "is not marked for this database" in sentence
    # As it says, in the same shell.
    shared.output(*shlex.split(sentence.split("`")[1])[1:])
    shared.set("a", b"1")
    assert shared.get("a") == b"1"
    home.set("db/team", b"wrong-secret")
    sentence = shared.refusal(IO, "get", "a")
    assert "password authentication failed" in sentence and "wrong-secret" not in sentence
    assert 'No entry named "db/none"' in with_url(home, cluster_of_own, "db/none").refusal(IO, "get", "a")


def mark(home: Home, cluster: Cluster, *attributes: str) -> None:
    home.set("db/team", PASSWORD, "-a", "protocol=postgresql", "-a", f"host={cluster.folder}:{cluster.port}", *attributes)


def test_a_read_of_the_password_is_recorded(home: Home, cluster_of_own: Cluster) -> None:
    mark(home, cluster_of_own)
    home.output("log", "--on")
    shared = with_url(home, cluster_of_own)
    shared.set("a", b"1")
    assert set(reads(home)) == {("db/team", "password-entry")}
    for path in home.memory.glob("*.access"):
        path.unlink()
        path.mkdir()
    assert "access log" in shared.refusal(IO, "get", "a")


def test_the_password_is_read_while_the_vault_is_followed(home: Home, cluster_of_own: Cluster) -> None:
    """A build for tests stops at two mutexes of logs that are acquired in the wrong order."""
    mark(home, cluster_of_own)
    debug = executable("VAULT_SHARED_DYNAMIC", "`vault-shared`, built for tests")
    shared = with_url(home, cluster_of_own).changed(binary=debug)
    shared.set("a", b"1")
    shared.output("verify")
    # This machine's copy opens without the server, so that following it is what connects.
    for value in (b"2", b"3"):
        other = with_url(home, cluster_of_own).with_variables(XDG_STATE_HOME=str(home.folder / "other"))
        other.set("a", value)
        assert shared.get("a") == value


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        (("policy=run",), "Only `vault run` may read"),
        (("policy=run", "username=guarded"), "Only `vault run` may read"),
        (("username=other",), "is marked for something other"),
        (("path=other",), "is marked for something other"),
    ],
)
def test_a_read_that_is_not_allowed_is_none(
    home: Home, cluster_of_own: Cluster, attributes: tuple[str, ...], told: str
) -> None:
    mark(home, cluster_of_own, *(word for attribute in attributes for word in ("-a", attribute)))
    home.output("log", "--on")
    assert told in with_url(home, cluster_of_own).refusal(IO, "init")
    assert reads(home) == []


def test_the_policy_of_a_login_keeps_its_field(home: Home, cluster_of_own: Cluster) -> None:
    mark(home, cluster_of_own)
    home.output("mv", "db/team", "db.team")
    home.set("db", b"x", "-a", "policy=run")
    assert 'Only `vault run` may read "db"' in with_url(home, cluster_of_own, "db.team").refusal(IO, "init")


def test_an_entry_of_another_login_is_not_sent_and_not_changed(home: Home, cluster_of_own: Cluster) -> None:
    home.set("git/x", PASSWORD, "-a", "protocol=https", "-a", "host=github.com")
    sentence = with_url(home, cluster_of_own, "git/x").refusal(IO, "init")
    assert "a separate entry" in sentence and "vault attr" not in sentence


def test_a_server_with_a_certificate_gets_it_and_one_without_does_not(home: Home, cluster_of_own: Cluster) -> None:
    home.set("db/team", PASSWORD, "-a", "protocol=postgresql", "-a", f"host=localhost:{cluster_of_own.port}")
    url = cluster_of_own.tls_url(user="guarded").replace("?", "?password-entry=db%2Fteam&")
    home.with_variables(VAULT_FILE=url).set("a", b"1")
    weaker = url.replace("verify-full", "require")
    assert "sslmode=require does not prove the server's identity" in home.with_variables(VAULT_FILE=weaker).refusal(IO, "get", "a")


@pytest.mark.parametrize("host", ["0.0.0.0", "localhost"])
@pytest.mark.parametrize("mode", ["disable", "allow", "prefer"])
def test_a_server_that_proves_nothing_is_not_even_asked(home: Home, thief: Thief, host: str, mode: str) -> None:
    home.set("bank/pin", PASSWORD, "-a", "protocol=postgresql", "-a", f"host={host}:{thief.port}")
    home.output("log", "--on")
    url = f"postgresql://u@{host}:{thief.port}/team?sslmode={mode}&password-entry=bank/pin#x"
    assert "does not prove the server's identity" in home.with_variables(VAULT_FILE=url).refusal(IO, "ls")
    assert (thief.connections, thief.received, reads(home)) == (0, b"", [])


def test_neither_is_one_that_a_service_file_names(home: Home, thief: Thief) -> None:
    home.set("bank/pin", PASSWORD, "-a", "protocol=postgresql", "-a", f"host=0.0.0.0:{thief.port}")
    services = home.folder / "services"
    services.write_text(f"[team]\nhost=0.0.0.0\nport={thief.port}\ndbname=team\nuser=u\n")
    url = "postgresql:///?service=team&password-entry=bank/pin#x"
    shared = home.with_variables(VAULT_FILE=url, PGSERVICEFILE=str(services))
    assert "server does not support SSL" in shared.refusal(IO, "ls")
    assert PASSWORD not in thief.received
    services.write_text(services.read_text() + "sslmode=require\n")
    thief.connections = 0
    assert "does not prove the server's identity" in shared.refusal(IO, "ls")
    assert thief.connections == 0


def test_the_thief_would_have_got_it(home: Home, thief: Thief) -> None:
    """As a control: a server on this machine counts as one that is known."""
    home.set("bank/pin", PASSWORD, "-a", "protocol=postgresql", "-a", f"host=127.0.0.1:{thief.port}")
    url = f"postgresql://u@127.0.0.1:{thief.port}/team?password-entry=bank/pin#x"
    home.with_variables(VAULT_FILE=url).refusal(IO, "ls")
    assert PASSWORD in thief.received
