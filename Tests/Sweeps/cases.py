"""One try of a sweep, and what a sweep counts."""

from dataclasses import dataclass
from random import Random

KINDS = {
    "kill": "kills",
    "error": "errors",
    "short": "short writes",
    "byte": "bytes",
    "truncate": "truncations",
    "splice": "splices",
}


@dataclass(frozen=True)
class Case:
    """A fault, a changed file: `set-over/pwrite64:2/EIO`, `log/byte:130:01`. The text alone repeats it."""

    subject: str
    what: str
    kind: str

    def __str__(self) -> str:
        return f"{self.subject}/{self.what}"

    @staticmethod
    def parsed(text: str) -> "Case":
        subject, _, what = text.partition("/")
        operation = what.partition(":")[0]
        if "/" in what:
            kind = "kill" if what.endswith("/KILL") else "error"
        else:
            kind = {"fsize": "short", "room": "short", "byte": "byte", "cut": "truncate"}.get(operation, "splice")
        return Case(subject, what, kind)


@dataclass(frozen=True)
class Result:
    case: Case
    violation: str | None = None


def sample(items: list[str], chance: Random | None, count: int) -> list[str]:
    """All of them, or with `chance` as many as the quick form tries."""
    return items if chance is None else sorted(chance.sample(items, min(count, len(items))))


class Violation(AssertionError):
    """A promise was not kept."""


def require(holds: bool, *told: object) -> None:
    if not holds:
        raise Violation("; ".join(str(part) for part in told))
