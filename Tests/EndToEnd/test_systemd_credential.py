"""`vault systemd-credential`: what systemd gets when it loads a credential through a socket.

There is no systemd here. The test does as systemd does: it binds its end to an abstract address that names unit and
credential, connects, and reads to the end (systemd's `connect_unix_socket`).
"""

import json
import os
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from homes import NOBODY, Home

USAGE, NOT_FOUND, REFUSED = 2, 3, 4


def ask(home: Home, address: bytes, *options: str, user: int = 0) -> tuple[int, bytes, str]:
    """What a unit gets, and the exit code and the journal of the one process that answers."""
    path = home.folder / "vault.sock"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as unit:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0o666)
        unit.bind(address)
        os.seteuid(user)
        try:
            unit.connect(str(path))
        finally:
            os.seteuid(0)
        connection, _ = listener.accept()
        with ThreadPoolExecutor(1) as reader, unit.makefile("rb") as stream:
            got = reader.submit(stream.read)
            with connection:
                finished = subprocess.run(
                    home.command("systemd-credential", *options),
                    env=home.environment,
                    stdin=connection,
                    # As with StandardInput=socket: standard output is the connection too.
                    stdout=connection,
                    stderr=subprocess.PIPE,
                    timeout=60,
                )
            return finished.returncode, got.result(), finished.stderr.decode()


def address(unit: str, identifier: str) -> bytes:
    return f"\0{os.urandom(8).hex()}/unit/{unit}/{identifier}".encode()


@pytest.mark.parametrize("value", [b"a-password", b"two\nlines\n", bytes(range(256)), b"x" * (1 << 20)], ids=len)
def test_a_unit_gets_the_value_byte_for_byte(home: Home, value: bytes) -> None:
    home.set("systemd/web@1.service/db-password", value)
    assert ask(home, address("web@1.service", "db-password")) == (0, value, "")


def test_another_unit_and_another_credential_get_nothing(home: Home) -> None:
    home.set("systemd/web.service/db", b"canary", "-a", "pin=canary")
    home.set("db", b"canary")
    for unit, identifier in (("api.service", "db"), ("web.service", "key"), ("web.service", "db.pin")):
        code, got, journal = ask(home, address(unit, identifier))
        assert (code, got) == (NOT_FOUND, b"") and f"systemd/{unit}/{identifier}" in journal
        assert "Did you mean" not in journal, "the journal has more readers than the vault"


@pytest.mark.parametrize(
    "given",
    [b"\0abc", b"\0/unit/web.service/db", b"\0abc/unit//db", b"\0abc/unit/web.service/", b"\0abc/unit/web.service",
     b"\0abc/unit/web.service/db/..", b"\0abc/Unit/web.service/db", b"\0abc/unit/\xff/db", b"\0x/unit/systemd/web/db",
     b"\0abc/unit/a\nb/db"],
)  # fmt: skip
def test_an_address_of_another_form_gets_nothing(home: Home, given: bytes) -> None:
    home.set("systemd/web.service/db", b"canary")
    code, got, _ = ask(home, given)
    assert (code, got) == (USAGE, b"")


def test_another_user_gets_nothing(home: Home) -> None:
    """Anyone who may connect can bind an address that names a unit."""
    for folder in (home.folder, *home.folder.parents):
        folder.chmod(folder.stat().st_mode | 0o011)
    home.set("systemd/web.service/db", b"canary")
    code, got, journal = ask(home, address("web.service", "db"), user=NOBODY)
    assert (code, got) == (REFUSED, b"") and str(NOBODY) in journal and "SocketMode=0600" in journal


def test_what_systemd_does_not_take_is_not_sent(home: Home) -> None:
    home.set("systemd/web.service/db", b"x" * ((1 << 20) + 1))
    code, got, journal = ask(home, address("web.service", "db"))
    assert (code, got) == (USAGE, b"") and "1 MiB" in journal


def test_errors_are_json_if_that_is_asked_for_and_never_the_credential(home: Home) -> None:
    home.set("systemd/web.service/db", b"a-password")
    assert ask(home, address("web.service", "db"), "--json") == (0, b"a-password", "")
    code, got, journal = ask(home, address("web.service", "key"), "--json")
    assert (code, got, json.loads(journal)["error"]["code"]) == (NOT_FOUND, b"", "absent")


def test_without_a_connection_it_says_what_is_missing(home: Home) -> None:
    assert "systemd" in home.refusal(USAGE, "systemd-credential")
    left, right = socket.socketpair()
    with left, right:
        finished = subprocess.run(
            home.command("systemd-credential"), env=home.environment, stdin=right, capture_output=True
        )
    assert finished.returncode == USAGE and b"does not name a credential" in finished.stderr
