"""The lists of mutants in Tests/Mutants: reads them, checks them against the sources, and builds them in.

All mutants are built into one copy of the sources ("mutant schemata"): each is a switch that the environment variable
VAULT_MUTANT turns on. So one build serves them all.
"""

import re
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

# A statement, or a part of one.
NO_EXPRESSION = re.compile(r"^\s*(?:guard|if|return|throw|let|var|for|while|defer|case)\b|(?:\belse|[-+&|=!])\s*$|^\s*[+&|?]")
KEYS = {"name", "file", "around", "original", "replacement", "kind", "reason", "promise", "tests", "simulator", "traces"}
BEFORE_STATEMENT = re.compile(r"([\n{};:]|\bin) *$")
AFTER_STATEMENT = re.compile(r" *(?!else\b)[^ ]")
REQUIRED = ("name", "file", "original", "replacement", "reason")


class ListError(Exception):
    """A list that does not fit the sources, in a sentence."""


@dataclass(frozen=True)
class Mutant:
    """One breakage."""

    name: str
    # In Sources.
    file: str
    # Occurs once in `around`, which occurs once in the file; without `around`, once in the file.
    original: str
    replacement: str
    # What breaks.
    reason: str
    around: str = ""
    # "expression" or "statement".
    kind: str = "expression"
    # Words of SECURITY.md.
    promise: str = ""
    # The judges; each that is named must notice. `tests` are suites, or suites and tests, with `|` between.
    tests: str = ""
    # Arguments for VaultSimulator.
    simulator: str = ""
    # Seeds whose traces the models must refuse.
    traces: str = ""

    @property
    def number(self) -> int:
        """A hash of the name: it stays the same when the list grows, so that little is built anew."""
        return zlib.crc32(self.name.encode())

    @property
    def module(self) -> str:
        return self.file.split("/")[0]

    def span(self, text: str) -> tuple[int, int]:
        """Returns where the original is in the file's text."""
        around = self.around or self.original
        start = once(around, text, f"{self.name}: Sources/{self.file}")
        start += once(self.original, around, f"{self.name}: its `around`")
        end = start + len(self.original)
        if self.kind == "statement" and not (BEFORE_STATEMENT.search(text[:start]) and AFTER_STATEMENT.match(text[end:])):
            raise ListError(f"{self.name}: its original is a part of a statement:\n{self.original}")
        if self.kind == "expression" and not all(is_expression(part) for part in (self.original, self.replacement)):
            raise ListError(f"{self.name}: its original or its replacement is no expression:\n{self.original}")
        return start, end

    def misfit(self, text: str) -> ListError | None:
        """Returns why the mutant does not fit the file's text."""
        try:
            self.span(text)
        except ListError as error:
            return error
        return None

    def switched(self, rest: str) -> str:
        """Returns a switch between the replacement and the rest: the original, or another mutant's switch."""
        if self.kind == "statement":
            return f"if mutant({self.number}) {{ {self.replacement} }} else {{ {rest} }}"
        return f"(mutant({self.number}) ? ({self.replacement}) : ({rest}))"


def is_expression(text: str) -> bool:
    """Whether a text can stand in parentheses: as far as its first and last words and its brackets tell."""
    brackets: list[str] = []
    for character in re.sub(r'"(?:[^"\\]|\\.)*"', '""', text):
        if character in "([{":
            brackets.append(")]}"["([{".index(character)])
        elif character in ")]}" and (not brackets or brackets.pop() != character):
            return False
        elif character in ",:" and not brackets and "?" not in text:
            return False
    return not brackets and not NO_EXPRESSION.search(text)


def once(part: str, text: str, where: str) -> int:
    """Returns the only offset of a part in a text."""
    count = text.count(part)
    if count != 1:
        raise ListError(f"{where} has this text {count} times, not once:\n{part}")
    return text.index(part)


@dataclass
class Mutants:
    """All mutants of a project."""

    root: Path
    all: list[Mutant] = field(default_factory=list)

    @classmethod
    def read(cls, root: Path) -> "Mutants":
        """Reads the lists of a project."""
        mutants = cls(root)
        for path in sorted((root / "Tests/Mutants").glob("*.toml")):
            for entry in tomllib.loads(path.read_text()).get("mutant", []):
                mutants.all.append(mutant(entry, path.name))
        return mutants

    @cached_property
    def by_file(self) -> dict[str, list[Mutant]]:
        files: dict[str, list[Mutant]] = {}
        for mutant in self.all:
            files.setdefault(mutant.file, []).append(mutant)
        return files

    def complaints(self) -> Iterator[str]:
        """Yields a sentence for each mutant that does not fit the sources, its promise SECURITY.md, or its tests."""
        numbers = Counter(mutant.number for mutant in self.all)
        security = words((self.root / "SECURITY.md").read_text())
        suites, tests = self.declared("struct|class|enum|extension"), self.declared("func")
        for mutant in self.all:
            if numbers[mutant.number] > 1:
                yield f"{mutant.name}: another mutant has this name, or its number; choose another name"
            if words(mutant.promise) not in security:
                yield f"{mutant.name}: SECURITY.md does not say: {mutant.promise}"
            for test in filter(None, mutant.tests.split("|")):
                if any(name.split(".")[-1] not in known for name, known in zip(test.split("/"), (suites, tests))):
                    yield f"{mutant.name}: there is no test {test}"
        for file, mutants in self.by_file.items():
            try:
                stale = [str(error) for mutant in mutants if (error := mutant.misfit(self.text(file)))]
                yield from stale
                if not stale:
                    self.instrumented(file)
            except ListError as error:
                yield str(error)

    def text(self, file: str) -> str:
        path = self.root / "Sources" / file
        if not path.is_file():
            raise ListError(f"{self.by_file[file][0].name}: there is no file Sources/{file}")
        return path.read_text()

    def declared(self, keyword: str) -> set[str]:
        found: set[str] = set()
        for path in (self.root / "Tests").rglob("*.swift"):
            found.update(re.findall(rf"\b(?:{keyword}) (\w+)", path.read_text()))
        return found

    def instrumented(self, file: str) -> str:
        """Returns a file's text with a switch for each of its mutants."""
        text = self.text(file)
        spans: dict[tuple[int, int], list[Mutant]] = {}
        for mutant in self.by_file[file]:
            spans.setdefault(mutant.span(text), []).append(mutant)
        following = len(text)
        for (start, end), mutants in sorted(spans.items(), reverse=True):
            if end > following:
                raise ListError(f"{mutants[0].name}: it overlaps with another mutant in Sources/{file}")
            switch = text[start:end]
            for mutant in mutants:
                switch = mutant.switched(switch)
            text, following = text[:start] + switch + text[end:], start
        return text

    def sources(self) -> dict[str, str]:
        """Returns the files in Sources that differ from the project's, by their paths."""
        texts = {file: self.instrumented(file) for file in self.by_file}
        return texts | {f"{module}/Mutant.swift": SWITCH for module in {mutant.module for mutant in self.all}}


def mutant(entry: dict[str, str], where: str) -> Mutant:
    """Creates a mutant from an entry of a list."""
    name = entry.get("name", "a mutant without a name")
    for key in REQUIRED:
        if key not in entry:
            raise ListError(f"{where}: {name}: it has no key `{key}`")
    for key in entry.keys() - KEYS:
        raise ListError(f"{where}: {name}: there is no key `{key}`")
    if entry.get("kind", "expression") not in ("expression", "statement"):
        raise ListError(f"{where}: {name}: its kind is neither expression nor statement")
    if re.search(r"^\s*//", entry.get("around", "") + "\n" + entry["original"], re.MULTILINE):
        raise ListError(f"{where}: {name}: it quotes a comment, which another wording would make stale")
    if not any(entry.get(judge) for judge in ("tests", "simulator", "traces")):
        raise ListError(f"{where}: {name}: it names no judge: give it `tests`, `simulator` or `traces`")
    return Mutant(**entry)


def words(text: str) -> str:
    return " ".join(text.split())


# Usable in inlinable code. The chosen number is read once: `getenv` at each switch would change what tests measure.
SWITCH = """\
private import Glibc

private let chosen = getenv("VAULT_MUTANT").map { strtoul($0, nil, 10) } ?? 0

@usableFromInline func mutant(_ number: UInt) -> Bool { number == chosen }
"""
