"""README, SECURITY, the articles and the doc comments: their fenced blocks, and the tests that they name."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
SECURITY = ROOT / "SECURITY.md"
ARTICLES = sorted((ROOT / "Sources").rglob("*.docc/**/*.md"))
SOURCES = sorted((ROOT / "Sources").rglob("*.swift"))
# Code that is compiled and run by the tests: snippets with their expectations, and the example that the article on accounts walks through.
SNIPPETS = sorted(
    path
    for folder in ("Tests/SnippetTests", "Tests/VaultAccountTests", "Tools/AccountExample")
    for path in (ROOT / folder).rglob("*.swift")
)

DOC_COMMENT = re.compile(r"^ */// ?(.*)$")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    file: Path
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"

    @property
    def is_manifest(self) -> bool:
        return self.code.startswith("// Package.swift\n")


def documentation(file: Path) -> str:
    """A document's text; of a source file the doc comments alone, each in its line."""
    text = file.read_text()
    if file.suffix != ".swift":
        return text
    comments = (DOC_COMMENT.match(line) for line in text.split("\n"))
    return "\n".join(comment[1] if comment else "" for comment in comments)


def blocks(language: str, *files: Path) -> list[Block]:
    found = []
    for file in files:
        text = documentation(file)
        for fence in FENCE.finditer(text):
            if fence[1] == language:
                found.append(Block(file, text.count("\n", 0, fence.start()) + 1, fence[2]))
    return found


def occurs(code: str, lines: list[str]) -> bool:
    """Whether the code is in a file, all of it indented alike. Imports may be apart from it, at the top of the file."""
    wanted = textwrap.dedent(code).rstrip("\n").split("\n")
    while wanted and (not wanted[0] or (wanted[0].startswith("import ") and wanted[0] in lines)):
        del wanted[0]
    if not wanted:
        return True
    size = len(wanted)
    # Dedenting is slow; most places differ in their first line already.
    starts = (index for index, line in enumerate(lines) if line.lstrip() == wanted[0].lstrip())
    return any(textwrap.dedent("\n".join(lines[index : index + size])).split("\n") == wanted for index in starts)


def named_tests(text: str) -> Iterator[tuple[str, str]]:
    """The tests that a document names, as file and test; an empty test is the whole file.

    `…::test_x` is in the file that was named last.
    """
    file = ""
    for name, test in re.findall(r"`((?:\w+\.(?:py|swift))|…)(?:::(\w+))?`", text):
        file = file if name == "…" else name
        yield file, test
