#!/usr/bin/env python3
"""Checks that there are no circles of references between the folders of a module.

The compiler cannot: Swift has no imports inside a module. A folder refers to another if one of its files refers to a
declaration there, such as a member of an extension. A subfolder counts as a folder of its own. "." is the root.

Usage: folders.py SOURCES INDEX
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from swift_index import Occurrence, SwiftIndex


class Reference(NamedTuple):
    """Paths are relative to the module's folder."""

    source: Path
    name: str
    target: Path

    def __str__(self) -> str:
        return f"{self.source} refers to {self.name} in {self.target}"


Edge = tuple[str, str]
Circle = tuple[str, ...]


def edges(files: Mapping[Path, list[Occurrence]]) -> dict[Edge, Counter[Reference]]:
    """Returns the references between the folders of one module."""
    homes = {found.symbol: file for file, occurrences in files.items() for found in occurrences if found.is_declared}
    between: dict[Edge, Counter[Reference]] = defaultdict(Counter)
    for file, occurrences in files.items():
        for found in occurrences:
            home = homes.get(found.symbol, file)
            if not found.is_declared and home.parent != file.parent:
                between[str(file.parent), str(home.parent)][Reference(file, found.name, home)] += 1
    return between


def circles(found: Collection[Edge]) -> list[Circle]:
    """Returns the shortest circle through each edge. All circles would be too many: they grow exponentially."""
    targets = defaultdict(list)
    for source, target in sorted(found):
        targets[source].append(target)
    paths = (shortest_path(targets, target, source) for source, target in found)
    # A circle is found once for each of its edges. It begins with its first folder in alphabetical order.
    starts = ((path, path.index(min(path))) for path in paths if path)
    return sorted({(*path[start:], *path[:start]) for path, start in starts}, key=lambda circle: (len(circle), circle))


def shortest_path(targets: Mapping[str, list[str]], start: str, end: str) -> list[str] | None:
    paths = [[start]]
    seen = {start}
    # Breadth first: the loop also visits the paths that it appends.
    for path in paths:
        if path[-1] == end:
            return path
        further = [target for target in targets.get(path[-1], []) if target not in seen]
        seen.update(further)
        paths.extend([*path, target] for target in further)
    return None


def steps(circle: Circle) -> list[Edge]:
    return list(zip(circle, circle[1:] + circle[:1]))


def sentence(module: str, circle: Circle, found: Mapping[Edge, Counter[Reference]]) -> str:
    examples = "; ".join(f"{min(found[step])} (1 of {found[step].total()})" for step in steps(circle))
    return f"{module}: {' -> '.join([*circle, circle[0]])}: {examples}."


def read(sources: Path, index: Path) -> tuple[dict[str, dict[Path, list[Occurrence]]], list[str]]:
    """Returns the Swift files of each module, and a complaint for each file that has changed since the last build."""
    reader = SwiftIndex(index)
    records = reader.newest_records()
    modules: dict[str, dict[Path, list[Occurrence]]] = defaultdict(dict)
    complaints = []
    for file in sorted(sources.resolve().rglob("*.swift")):
        record, written = records.get(file, (None, 0))
        if written < file.stat().st_mtime_ns:
            complaints.append(f"{file}: the index is older; run `swift build`")
        if record:
            module = sources.resolve() / file.relative_to(sources.resolve()).parts[0]
            modules[module.name][file.relative_to(module)] = reader.occurrences(record)
    return modules, complaints


def main(sources: Path, index: Path) -> bool:
    try:
        modules, complaints = read(sources, index)
    except FileNotFoundError as error:
        sys.exit(str(error))
    for module, files in modules.items():
        found = edges(files)
        complaints += [sentence(module, circle, found) for circle in circles(found)]
    print("\n".join(complaints) or "no circles between the folders of a module")
    return not complaints


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1]), Path(sys.argv[2])))
