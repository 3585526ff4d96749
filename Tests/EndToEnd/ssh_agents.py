"""A real SSH agent, and keys that ssh-keygen makes."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from homes import Home


@contextmanager
def agent(home: Home, **variables: str) -> Iterator[Home]:
    """The home with a running ssh-agent, which ends with the block. The variables are the agent's alone."""
    socket = f"{home.folder}/agent"
    # In the foreground, so that it is a child of the test's.
    words = ["ssh-agent", "-D", "-a", socket]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, env=home.environment | variables, **quiet) as process:
        try:
            # It says where its socket is once it listens.
            assert process.stdout and b"SSH_AUTH_SOCK" in process.stdout.readline()
            yield home.with_variables(SSH_AUTH_SOCK=socket)
        finally:
            process.terminate()
            process.wait()


def tool(home: Home, *words: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess:
    """A program of OpenSSH's or git's, without a terminal."""
    return subprocess.run(
        words,
        input=stdin,
        env=home.environment | variables,
        cwd=home.folder,
        capture_output=True,
        timeout=30,
        start_new_session=True,
    )


def new_key(home: Home, *options: str, name: str = "id", passphrase: str = "", comment: str = "mia@laptop") -> Path:
    path = home.folder / name
    options = options or ("-t", "ed25519")
    made = tool(home, "ssh-keygen", "-q", "-N", passphrase, "-C", comment, "-f", str(path), *options)
    assert made.returncode == 0, made
    return path


def listed(home: Home) -> list[str]:
    """The public keys that the agent has, with their comments."""
    finished = tool(home, "ssh-add", "-L")
    return finished.stdout.decode().splitlines() if finished.returncode == 0 else []


def signs(home: Home, key: Path) -> bool:
    """Whether the agent signs with the key, whose private file is away."""
    public = Path(f"{key}.pub")
    private = key.rename(f"{key}.away") if key.exists() else None
    try:
        finished = tool(home, "ssh-keygen", "-Y", "sign", "-n", "test", "-f", str(public), stdin=os.urandom(8))
    finally:
        if private:
            private.rename(key)
    return finished.returncode == 0 and b"BEGIN SSH SIGNATURE" in finished.stdout
