"""The table of SECURITY.md: written between two lines of the document, and compared with it."""

from dataclasses import dataclass, field

from outcomes import is_harm

BEGIN = "<!-- Tools/compare-peers writes this table -->"
END = "<!-- Tools/compare-peers ends here -->"
NOT_MEASURED = "not measured"


@dataclass
class Column:
    name: str
    head: str
    cells: dict[str, str] = field(default_factory=dict)
    # Why something was not measured.
    reasons: list[str] = field(default_factory=list)


def table(attacks: list[str], columns: list[Column]) -> str:
    """Returns the table, then what was not measured and why."""
    rows = [["", *(column.head for column in columns)], ["---"] * (len(columns) + 1)]
    rows += [[attack, *(column.cells.get(attack, NOT_MEASURED) for column in columns)] for attack in attacks]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    reasons = [f"- {column.name} was not measured: {reason}" for column in columns for reason in column.reasons]
    return "\n".join([*lines, *([""] if reasons else []), *reasons]) + "\n"


def placed(document: str, text: str) -> str:
    """Returns the document with another text between its two lines."""
    before, _, rest = halves(document)
    return f"{before}{BEGIN}\n{text}\n{rest}"


def halves(document: str) -> tuple[str, str, str]:
    """Returns what is before the two lines, between them, and from the second on."""
    if document.count(BEGIN) != 1 or document.count(END) != 1:
        raise ValueError(f"the document has to have these lines once: {BEGIN} {END}")
    before, _, rest = document.partition(BEGIN)
    between, _, after = rest.partition(END)
    return before, between.strip("\n") + "\n", END + after


def cells(text: str) -> dict[tuple[str, str], str]:
    """Returns the cells of the first table of a text, by attack and peer. Versions are no part of a peer's name."""
    lines = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line] for line in lines]
    if len(rows) < 3:
        return {}
    peers = [head.partition("<br>")[0] for head in rows[0][1:]]
    return {(row[0], peer): cell for row in rows[2:] for peer, cell in zip(peers, row[1:], strict=True)}


def differences(document: str, text: str) -> list[str]:
    """Returns the cells of which the document tells another outcome: counts may differ from run to run."""
    written, measured = cells(halves(document)[1]), cells(text)
    found = []
    for row in sorted(written.keys() | measured.keys()):
        before, now = written.get(row, "none"), measured.get(row, "none")
        if (before == NOT_MEASURED, is_harm(before)) != (now == NOT_MEASURED, is_harm(now)) or "none" in (before, now):
            found.append(f"{row[0]}, {row[1]}: the document says {before}, measured was {now}")
    return found
