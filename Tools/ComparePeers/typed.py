"""Runs a command at a terminal of its own, and types a line of standard input at each prompt."""

import os
import pty
import sys


def main(*words: str) -> int:
    lines = sys.stdin.buffer.read().splitlines(keepends=True)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(words[0], words)
    while True:
        try:
            shown = os.read(terminal, 4096)
        except OSError:
            break
        if not shown:
            break
        if lines and shown.rstrip().endswith(b":"):
            os.write(terminal, lines.pop(0))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
