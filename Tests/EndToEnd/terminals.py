"""A terminal of our own, and commands on it."""

import fcntl
import io
import os
import pty
import re
import subprocess
import termios
import time

import pexpect
import pexpect.fdpexpect

from homes import Home


class Terminal:
    """A command on a terminal. Our end of the terminal's inner side stays open: its modes outlive the command."""

    def __init__(self, home: Home, *arguments: str, columns: int = 0, **streams) -> None:
        self.outer, self.inner = pty.openpty()
        # A width of 0 says that it is not known.
        termios.tcsetwinsize(self.inner, (24, columns))
        modes = termios.tcgetattr(self.inner)
        # Newlines come out as they were written.
        modes[1] &= ~termios.OPOST
        termios.tcsetattr(self.inner, termios.TCSANOW, modes)
        self.modes_before = self.modes
        self.is_gone = False
        self.log = io.BytesIO()
        self.screen = pexpect.fdpexpect.fdspawn(self.outer, timeout=20, logfile=self.log)
        self.process = subprocess.Popen(
            home.command(*arguments),
            env=home.environment,
            cwd=home.folder,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(self.inner, termios.TIOCSCTTY, 0),
            **({"stdin": self.inner, "stdout": self.inner, "stderr": self.inner} | streams),
        )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        os.close(self.inner)
        if not self.is_gone:
            os.close(self.outer)

    def hang_up(self) -> None:
        """Takes the terminal away, as closing its window does."""
        os.close(self.outer)
        self.is_gone = True

    @property
    def everything(self) -> bytes:
        """All that was shown so far."""
        return self.log.getvalue()

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.inner)[3] & termios.ECHO)

    @property
    def modes(self) -> list:
        return termios.tcgetattr(self.inner)

    def expect(self, text: str) -> None:
        self.screen.expect(re.escape(text).encode())

    def type(self, text: str | bytes) -> None:
        os.write(self.outer, text.encode() if isinstance(text, str) else text)

    def answer(self, prompt: str, text: str) -> None:
        self.expect(prompt)
        self.type(text)

    def end(self) -> tuple[int, bytes]:
        """The exit code, and what was shown since the last `expect`."""
        shown, is_marked = b"", False
        deadline = time.monotonic() + 30
        while not shown.endswith(END):
            assert time.monotonic() < deadline, f"the command does not end: {shown!r}"
            if not is_marked and self.process.poll() is not None:
                # What is written last is read last.
                os.write(self.inner, END)
                is_marked = True
            try:
                shown += self.screen.read_nonblocking(1 << 16, timeout=0.05)
            except pexpect.TIMEOUT:
                pass
        return self.process.returncode, self.screen.buffer + shown.removesuffix(END)


END = b"<the command has ended>"


def on_terminal(home: Home, *arguments: str, columns: int = 0) -> bytes:
    """Everything that a command shows on a terminal."""
    with Terminal(home, *arguments, columns=columns) as terminal:
        return terminal.end()[1]
