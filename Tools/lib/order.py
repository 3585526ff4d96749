#!/usr/bin/env python3
"""Prints the symbols of the functions and variables that the commands which people run most touch, sorted.

The linker takes the list as its --symbol-ordering-file. It moves whole sections of object files, so one symbol stands
for all of a section.

Usage: order.py VAULT MAP
  VAULT  the command, static, without debug information: valgrind does not read that of Swift
  MAP    what ld.lld wrote about it with -Map and --no-demangle
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

# In a home with a vault at its default location: creating one is rare, and touches much else.
LOCATIONS = ("--vault", ".local/share/vault/default.vault", "--key-file", ".config/vault/default.key")
COMMANDS = (("get", "name"), ("get", "name", *LOCATIONS), ("set", "name"), ("ls",))
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


def touched(home: str, *command: str) -> Iterator[int]:
    """The addresses of the instructions that a run executes, and of the bytes that it reads and writes."""
    read, write = os.pipe()
    tracer = ("valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-fd={write}")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "pass_fds": [write]}
    with subprocess.Popen([*tracer, *command], cwd=home, env=environment(home), **pipes) as process:
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


def environment(home: str) -> dict[str, str]:
    # With random seeds, the hash tables of two runs touch different code.
    return {"HOME": home, "PATH": os.environ["PATH"], "SWIFT_DETERMINISTIC_HASHING": "1"}


def main(vault: str, map_file: str) -> None:
    with Path(map_file).open() as lines:
        found = sections(lines)
    starts = [section.start for section in found]
    symbols = set()
    with tempfile.TemporaryDirectory() as home:
        creating = {"input": b"value", "stderr": subprocess.DEVNULL, "env": environment(home)}
        subprocess.run([vault, "set", "name"], check=True, **creating)
        for command in COMMANDS:
            for address in set(touched(home, vault, *command)):
                section = found[bisect.bisect_right(starts, address) - 1]
                if section.start <= address < section.end:
                    symbols.add(section.symbol)
    print("\n".join(sorted(symbols)))


if __name__ == "__main__":
    main(*sys.argv[1:])
