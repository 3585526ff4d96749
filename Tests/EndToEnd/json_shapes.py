"""The shapes of JSON as `vault help json` documents them, and whether what is written has them.

A shape is an object with its keys, {"name", "size"?, "items": [{"name"}]}, a list, [NAME], or a word that stands for a
text, or for another shape that is documented. A key without a shape stands for a text, a number, true, false or null,
and one with a question mark may be missing. Whatever is null may be any shape. Other text says when a shape is written.
"""

import re
from dataclasses import dataclass

from homes import Home

Shape = dict | list | str
SCALAR = "scalar"
TOKEN = re.compile(r'"(\w+)"(\?)?|([A-Z]+)|([{}\[\]:,])|\s+')
# A command, several, or one with what tells its shapes apart; the shape stands beside it or below.
ENTRY = re.compile(r"^  ([A-Za-z]\S*(?: \S+)*?)(?: +|\n {9,})((?:[A-Z]+: )?\{.*\n(?: {9,}.*\n)*)", re.M)


@dataclass
class Reader:
    """Reads one shape. What stops it is left."""

    text: str
    offset: int = 0

    def next(self) -> re.Match:
        found = TOKEN.match(self.text, self.offset)
        assert found, f"no shape: {self.text[self.offset :]!r}"
        self.offset = found.end()
        return self.next() if found[0].isspace() else found

    def shape(self) -> Shape:
        token = self.next()
        if token[0] == "[":
            inner = self.shape()
            assert self.next()[0] == "]", self.text
            return [inner]
        if token[0] != "{":
            return token[3]
        members = {}
        while True:
            name = self.next()
            key = (name[1] or name[3]) + (name[2] or "")
            after = self.next()[0]
            members[key] = SCALAR
            if after == ":":
                members[key] = self.shape()
                after = self.next()[0]
            assert after in ",}", self.text
            if after == "}":
                return members


def documented(home: Home) -> dict[str, list[Shape]]:
    """The shapes of each command, and those that have names of their own, such as KEY."""
    shapes: dict[str, list[Shape]] = {}
    for commands, text in ENTRY.findall(home.output("help", "json").decode()):
        name = re.match(r"([A-Z]+): ", text)
        for title in [*commands.split(", "), *([name[1]] if name else [])]:
            shapes.setdefault(title, []).extend(all_shapes(text))
    return shapes


def all_shapes(text: str) -> list[Shape]:
    """The objects in a text, with anything between them."""
    reader, shapes = Reader(text), []
    while "{" in text[reader.offset :]:
        reader.offset = text.index("{", reader.offset)
        shapes.append(reader.shape())
    return shapes


def is_documented(report: object, command: str, home: Home) -> bool:
    """Whether what a command has written has a shape that `vault help json` shows for it."""
    shapes = documented(home)
    return any(fits(report, shape, shapes) for shape in shapes[command])


def fits(value: object, shape: Shape, shapes: dict[str, list[Shape]]) -> bool:
    if value is None:
        return True
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return False
        if list(shape) == ["KEY"]:
            return all(fits(inner, shape["KEY"], shapes) for inner in value.values())
        needed = {key for key in shape if not key.endswith("?")}
        known = {key.rstrip("?"): inner for key, inner in shape.items()}
        return needed <= set(value) <= set(known) and all(fits(value[key], known[key], shapes) for key in value)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(inner, shape[0], shapes) for inner in value)
    if shape in shapes:
        return any(fits(value, other, shapes) for other in shapes[shape])
    return isinstance(value, {SCALAR: str | int | float, "NUMBER": int}.get(shape, str))
