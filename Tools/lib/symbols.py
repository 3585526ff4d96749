#!/usr/bin/env python3
"""Checks the symbol graphs of public modules: every symbol has a documentation comment, and is found from its catalogue,
and there are no more public types than agreed.

It also completes links: DocC looks for the symbols of another module only where a link names that module, and nobody
who writes a comment wants to.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

LINK = re.compile(r"``(?=\w)")
FIRST_NAME = re.compile(r"\w+")
TYPES = {f"swift.{kind}" for kind in ("actor", "class", "enum", "protocol", "struct")}
# A new public type has to replace another.
MOST_TYPES = {"Vault": 57}
# What a line of a Topics list links to; a suffix tells overloads apart.
TOPIC = re.compile(r"^- ``(.+?)(?:-\w+)?``$", re.MULTILINE)


def graphs(folder: Path, module: str) -> Iterator[tuple[Path, dict]]:
    """A module's graph, and those of its extensions of other modules' types."""
    for path in sorted(folder.glob(f"{module}*.symbols.json")):
        if path.name.split(".")[0].split("@")[0] == module:
            yield path, json.loads(path.read_text())


def undocumented(graph: dict) -> Iterator[str]:
    for symbol in graph["symbols"]:
        # Only declarations in our sources: what the compiler adds has no location, and an extension itself no comment.
        is_declaration = "location" in symbol and symbol["kind"]["identifier"] != "swift.extension"
        if is_declaration and not symbol.get("docComment", {}).get("lines"):
            location = symbol["location"]
            path = os.path.relpath(location["uri"].removeprefix("file://"))
            yield f"{path}:{location['position']['line'] + 1}: {'.'.join(symbol['pathComponents'])} has no documentation"


def unlisted(graph: dict, module: str) -> Iterator[str]:
    """Only top-level symbols need a place in a Topics list: DocC lists members on the page of their type."""
    catalogue = Path(f"Sources/{module}/{module}.docc")
    topics = {name for page in catalogue.rglob("*.md") for name in TOPIC.findall(page.read_text())}
    names = {symbol["pathComponents"][0] for symbol in graph["symbols"] if len(symbol["pathComponents"]) == 1}
    for name in sorted(names - topics):
        yield f"{name} is in no Topics list of {catalogue}"


def types(graph: dict) -> list[str]:
    """The public types of a module, nested and re-exported ones too."""
    symbols = (symbol for symbol in graph["symbols"] if symbol["kind"]["identifier"] in TYPES)
    return sorted(".".join(symbol["pathComponents"]) for symbol in symbols)


def too_many(names: list[str], module: str) -> Iterator[str]:
    if len(names) > MOST_TYPES.get(module, len(names)):
        yield f"{module} has more than {MOST_TYPES[module]} public types: {', '.join(names)}"


def complete_links(graph: dict, homes: dict[str, str]) -> None:
    """Puts the module's name before a link to another module's symbol."""
    own = graph["module"]["name"]
    for symbol in graph["symbols"]:
        for line in symbol.get("docComment", {}).get("lines", []):

            def prefix(link: re.Match) -> str:
                home = homes.get(FIRST_NAME.match(link.string, link.end())[0], own)
                return link[0] if home == own else f"{link[0]}/{home}/"

            # A closing pair is followed by no name, but for an apostrophe's s, which is none of a symbol.
            line["text"] = LINK.sub(prefix, line["text"])


def main(folder: Path, modules: list[str]) -> bool:
    found = [(module, path, graph) for module in modules for path, graph in graphs(folder, module)]
    homes = {symbol["pathComponents"][0]: module for module, _, graph in found for symbol in graph["symbols"]}
    complaints = [complaint for _, _, graph in found for complaint in undocumented(graph)]
    for module, path, graph in found:
        if "@" not in path.name:
            complaints += unlisted(graph, module)
            names = types(graph)
            complaints += too_many(names, module)
            nested = sum("." in name for name in names)
            print(f"{module} has {len(names)} public types, {nested} of them nested")
        complete_links(graph, homes)
        path.write_text(json.dumps(graph))
    missing = set(modules) - {module for module, _, _ in found}
    complaints += [f"there is no symbol graph of {module}" for module in sorted(missing)]
    print("\n".join(complaints) or "every public symbol is documented and listed")
    return not complaints


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1]), sys.argv[2:]))
