"""The memory of a process that hides it, as root sees it."""

import re
from collections.abc import Iterator
from pathlib import Path


def mappings(process: int) -> Iterator[tuple[str, set[str], bytes]]:
    """Each mapping that can be read: its name, its flags (dd: core dumps leave it out, lo: it is locked) and its bytes."""
    head = ""
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
            if re.match(r"[0-9a-f]+-", line):
                head = line
            elif line.startswith("VmFlags:"):
                start, end = (int(bound, 16) for bound in head.split()[0].split("-"))
                if head.split()[1].startswith("r") and "[v" not in head:
                    memory.seek(start)
                    yield head, set(line.split()[1:]), memory.read(end - start)
