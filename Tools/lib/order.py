#!/usr/bin/env python3
"""Prints what the commands that people run most touch, from start to end: functions and variables, by the first touch.

The linker takes the list as its --symbol-ordering-file. It moves whole sections of object files, so one symbol stands
for all of a section.

Usage: order.py VAULT MAP SHARED MAP
  VAULT, SHARED  `vault` and `vault-shared`, static, without debug information: valgrind does not read that of Swift
  MAP            what ld.lld wrote about each of them with -Map and --no-demangle
"""

import bisect
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from postgres import Cluster, Pooler

# In a home with a vault in its default place: creating one is rare, and touches much else.
LOCATIONS = ("--vault", ".local/share/vault/default.vault", "--key-file", ".config/vault/default.key")
COMMANDS = (("get", "name"), ("get", "name", *LOCATIONS), ("set", "name"), ("ls",))
SHARED_COMMANDS = (("get", "name"), ("set", "name"), ("ls",))
# Address, load address, size, alignment, name. How far the name is indented says what it names.
LINE = re.compile(r" *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ ( *)(.+)")
SECTION_OF_OBJECT, SYMBOL = 8, 16


class Section(NamedTuple):
    """A section of an object file that has a symbol, and so can be moved."""

    start: int
    end: int
    symbol: str


def sections(lines: Iterator[str]) -> list[Section]:
    """The sections of a linker's map, by address."""
    found = []
    bounds = None
    for line in lines:
        if not (match := LINE.fullmatch(line.rstrip("\n"))):
            continue
        start, size = int(match[1], 16), int(match[2], 16)
        if len(match[3]) == SECTION_OF_OBJECT:
            # What is not loaded has no address.
            bounds = (start, start + size) if start and size else None
        elif len(match[3]) == SYMBOL and bounds:
            found.append(Section(*bounds, match[4]))
            bounds = None
    return sorted(found)


def touched(environment: dict[str, str], *command: str) -> Iterator[int]:
    """The addresses of the instructions that a run executes, and of the bytes that it reads and writes."""
    read, write = os.pipe()
    tracer = ("valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-fd={write}")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "pass_fds": [write]}
    with subprocess.Popen([*tracer, *command], cwd=environment["HOME"], env=environment, **pipes) as process:
        os.close(write)
        process.stdin.write(b"value")
        process.stdin.close()
        with open(read) as trace:
            for line in trace:
                # valgrind's own remarks begin with "==".
                if line[0] in "I ":
                    yield int(line[3 : line.index(",")], 16)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} fails under valgrind")


class Program:
    def __init__(self, executable: str, map_file: str):
        self.executable = executable
        with Path(map_file).open() as lines:
            self.sections = sections(lines)
        self.starts = [section.start for section in self.sections]

    def symbols(self, commands: tuple[tuple[str, ...], ...], **location: str) -> Iterator[str]:
        """The symbols that the commands touch on a vault at the place, in the order of their touches."""
        with tempfile.TemporaryDirectory() as home:
            environment = {"HOME": home, "PATH": os.environ["PATH"]} | location
            creating = {"input": b"value", "stderr": subprocess.DEVNULL, "env": environment}
            subprocess.run([self.executable, "set", "name"], check=True, **creating)
            for command in commands:
                for address in touched(environment, self.executable, *command):
                    section = self.sections[bisect.bisect_right(self.starts, address) - 1]
                    if section.start <= address < section.end:
                        yield section.symbol


def main(vault: str, vault_map: str, shared: str, shared_map: str) -> None:
    order = dict.fromkeys(Program(vault, vault_map).symbols(COMMANDS))
    # What both programs touch keeps its place; what the other touches beside it follows.
    program = Program(shared, shared_map)
    cluster = Cluster(has_tls=True).create()
    pooler = Pooler(cluster)
    try:
        for url in (cluster.url("near"), cluster.tls_url("far"), pooler.url("pooled")):
            order |= dict.fromkeys(program.symbols(SHARED_COMMANDS, VAULT_FILE=url))
    finally:
        pooler.stop()
        cluster.remove()
    print("\n".join(order))


if __name__ == "__main__":
    main(*sys.argv[1:])
