"""Other programs that get their credentials from the vault, and servers for them on this machine."""

import base64
import os
import re
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from documents import ROOT
from homes import Home

# The names under which other programs start the command, as they are installed.
HELPERS = re.findall(
    r'^    case \w+ = "(.*)"$',
    (ROOT / "Sources/VaultCommand/CommandLine/HelperName.swift").read_text(),
    re.MULTILINE,
)


def installed(home: Home) -> Home:
    """The home with the command on the path, as `Tools/install` puts it there."""
    programs = home.folder / "bin"
    programs.mkdir()
    (programs / "vault").symlink_to(home.binary)
    for name in HELPERS:
        (programs / name).symlink_to("vault")
    # The folder of the tests may be in a repository, which is not theirs.
    own = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": str(home.folder.parent), "GIT_TERMINAL_PROMPT": "0"}
    return home.with_variables(PATH=f"{programs}:{os.environ['PATH']}", **own)


def run(home: Home, *words: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Another program in this home."""
    environment = home.environment | variables
    return subprocess.run(
        words, input=stdin, env=environment, cwd=home.folder, capture_output=True, text=True, timeout=60
    )


def output(home: Home, *words: str, stdin: str = "", **variables: str) -> str:
    """Standard output of a run that has to succeed."""
    finished = run(home, *words, stdin=stdin, **variables)
    assert finished.returncode == 0, finished
    return finished.stdout


class Server(ThreadingHTTPServer):
    """Answers on the loopback device, and notes who has asked for what."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.passwords: dict[str, str] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.certificates: list[dict | None] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def users(self) -> set[str]:
        """Those whose requests were answered."""
        return {user for _, user in self.requests if user}


class Handler(BaseHTTPRequestHandler):
    """Asks for a user name and a password."""

    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def user(self) -> str | None:
        kind, _, text = self.headers.get("Authorization", "").partition(" ")
        if kind != "Basic":
            return None
        name, _, password = base64.b64decode(text).decode().partition(":")
        return name if self.server.passwords.get(name) == password else None

    def do_GET(self) -> None:
        user = self.user()
        self.server.requests.append((self.path, user))
        if user is None:
            self.answer(401, b"", {"WWW-Authenticate": 'Basic realm="test"'})
        else:
            self.serve(user)

    def serve(self, user: str) -> None:
        raise NotImplementedError

    def answer(self, code: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], security: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(handler)
    if security:
        server.socket = security.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def traced(home: Home, *words: str, stdin: str = "") -> tuple[str, str]:
    """Standard output of a run, and all words and variables of the programs that it starts, as strace tells them."""
    log = home.folder.with_name(home.folder.name + ".strace")
    tracer = ("strace", "-f", "--seccomp-bpf", "-v", "-qq", "-s", "100000", "-e", "trace=execve", "-o", str(log))
    printed = output(home, *tracer, *words, stdin=stdin)
    return printed, log.read_text(errors="surrogateescape")
