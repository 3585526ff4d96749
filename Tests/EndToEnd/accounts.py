"""AccountExample in a home of its own, and the login server that it talks to."""

import json
import select
import subprocess
import sys
import urllib.request
from pathlib import Path

from homes import Home, told

SERVER = Path(__file__).parents[2] / "Tools/AccountExample/login-server.py"
SECONDS = 30


class LoginServer:
    """The server as a process, and what its administrator can do."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.address = self.process.stdout.readline().decode().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.stderr.read()

    def stop(self) -> tuple[bytes, bytes]:
        """What it has printed since it said its address."""
        self.process.kill()
        return self.process.communicate()

    def ask(self, request: str, **fields: object) -> dict:
        # No proxy of the machine's: it would not find a loopback port.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        data = None if request in ("counts", "issued") else json.dumps(fields).encode()
        with opener.open(f"{self.address}/admin/{request}", data, timeout=SECONDS) as answer:
            return json.load(answer)

    def count(self, request: str) -> int:
        """How often it has been answered so: `/refresh 200`."""
        return self.ask("counts").get(request, 0)

    @property
    def issued(self) -> list[str]:
        """All tokens that it has given."""
        return self.ask("issued")["tokens"]


class Client(Home):
    """A home where the app runs; it keeps all that the app has printed."""

    def __init__(self, binary: str, folder: Path, server: str) -> None:
        super().__init__(binary, folder, {"ACCOUNT_EXAMPLE_SERVER": server, "no_proxy": "127.0.0.1"})
        self.printed = b""
        self.started: list[subprocess.Popen] = []

    def run(self, *arguments: str, stdin: bytes = b"", **options) -> subprocess.CompletedProcess:
        finished = super().run(*arguments, stdin=stdin, **options)
        self.keep(finished.stdout, finished.stderr)
        return finished

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        # Without buffers, so that `next_line` can wait for what is yet to come.
        process = super().start(*arguments, bufsize=0, **options)
        self.started.append(process)
        return process

    def next_line(self, process: subprocess.Popen) -> str:
        """The next line that a process prints, which has to come."""
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        assert ready, "the process prints nothing more"
        line = process.stdout.readline()
        self.keep(line)
        return line.decode()

    def kill(self, process: subprocess.Popen) -> None:
        process.kill()
        assert self.end(process)[0] == -9

    def end_all(self) -> None:
        """Ends what a failed test has left behind."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                self.end(process)

    def keep(self, *outputs: bytes) -> None:
        self.printed += b"".join(outputs)

    def end(self, process: subprocess.Popen) -> tuple[int, str, str]:
        """The exit code and the output of a process that ends by itself, or was killed."""
        output, errors = process.communicate(timeout=SECONDS)
        self.keep(output, errors)
        return process.returncode, output.decode(), errors.decode()

    def login(self, name: str, password: str) -> None:
        assert self.output("login", name, stdin=password.encode() + b"\n") == b"state: logged in\n"

    def lines(self, *arguments: str) -> dict[str, str]:
        """The lines `name: value` of a run that has to succeed."""
        return pairs(self.output(*arguments))

    def failure(self, code: int, *arguments: str, stdin: bytes = b"") -> tuple[dict[str, str], str]:
        """The lines and the sentence of a run that has to end with `code`."""
        finished = self.run(*arguments, stdin=stdin)
        assert finished.returncode == code, told(finished)
        sentence = finished.stderr.decode()
        assert sentence.startswith("AccountExample: ") and sentence.count("\n") == 1, sentence
        return pairs(finished.stdout), sentence.removeprefix("AccountExample: ").rstrip("\n")

    def state(self, code: int) -> str:
        return self.failure(code, "whoami")[0]["state"]


def pairs(output: bytes) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in output.decode().splitlines())


def locations_of(secrets: list[str], folder: Path) -> list[str]:
    """The files below a folder that hold one of the secrets as plain bytes, in their name or in what they hold."""
    found = []
    for path in folder.rglob("*"):
        data = bytes(path) + (path.read_bytes() if path.is_file() else b"")
        found += [str(path) for secret in secrets if secret.encode() in data]
    return found
