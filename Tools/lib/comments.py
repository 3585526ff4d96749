#!/usr/bin/env python3
"""Checks that each paragraph of a comment begins with a sentence that has a subject.

A comment such as "What the header holds." or "Of the whole record." can only be understood together with the code below
it. A noun phrase ("The size in bytes.") and a verb in the third person ("Returns the size.") are fine. Sentences after
the first one are not judged.

Usage: comments.py FOLDER...
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# The words that begin a sentence without a subject. Some of them can also begin a whole sentence ("What is written here
# is public."): put its subject first.
HEADLESS = re.compile(
    r"(?:What|Whatever|Who|Whoever|Whom|Whose|Which|Whichever|Where|Wherever|Of|Those|As|That of|That which"
    r"|(?:About|By|For|From|In|On|Since|To|Until|With) (?:how|what|when|where|which|who|whom|whose))\b"
)
# The summary of a declaration names a thing or an action, not a time.
HEADLESS_SUMMARY = re.compile(r"(?:When|While|Since|Until|Once|After|Before)\b")
MARKS = {".swift": "//", ".c": "//", ".h": "//", ".py": "#", ".sh": "#"}


def paragraphs(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yields the line number and the first line of each paragraph of a comment, and whether it is a summary."""
    mark = re.escape(MARKS[path.suffix])
    before = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(rf"\s*({mark}/?)(?!\S)\s*(.*)", line)
        text = found[2] if found else None
        if text and not before:
            yield number, text, found[1] == "///" and before is None
        before = text


def docstrings(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yields the same for the docstrings of a Python file."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if text := ast.get_docstring(node, clean=True):
                start = node.body[0].lineno
                lines = text.splitlines()
                for index, line in enumerate(lines):
                    if line and (index == 0 or not lines[index - 1]):
                        yield start + index, line, index == 0


def complaints(path: Path) -> Iterator[str]:
    """Yields one sentence for each paragraph without a subject."""
    found = [*paragraphs(path)]
    if path.suffix == ".py":
        found += docstrings(path)
    for number, text, is_summary in found:
        if headless := HEADLESS.match(text) or (is_summary and HEADLESS_SUMMARY.match(text)):
            yield f'{path}:{number}: the comment begins with "{headless[0]}". Begin with a subject or a verb.'


def main(folders: list[str]) -> int:
    files = sorted(path for folder in folders for path in Path(folder).rglob("*") if path.suffix in MARKS)
    found = [complaint for path in files for complaint in complaints(path)]
    print("\n".join(found) or "every comment begins with a sentence that has a subject")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
