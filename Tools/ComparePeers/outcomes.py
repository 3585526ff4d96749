"""What a store gives after an attack, and what that means."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from peer import Peer


@dataclass(frozen=True)
class Reading:
    values: dict[str, bytes]
    # The names of which the store says that there are none.
    absent: frozenset[str]
    # A command that reads has failed.
    failed: bool
    # The store's own check of all that it holds has failed.
    check_failed: bool

    @property
    def is_quiet(self) -> bool:
        return not (self.absent or self.failed or self.check_failed)

    def verdict(self, expected: dict[str, bytes], older: dict[str, bytes] | None = None) -> str:
        """Returns the worst of what a person would have met. An older value is told from a wrong one."""
        others = {name: value for name, value in self.values.items() if value != expected.get(name)}
        if not others and not self.absent:
            return "noticed" if self.failed or self.check_failed else "harmless"
        harm = "absent"
        if others:
            harm = "old" if older and all(older.get(name) == value for name, value in others.items()) else "wrong"
        return harm + (", but checked" if self.check_failed else "")

    def gives(self, expected: dict[str, bytes]) -> bool:
        return self.verdict(expected) == "harmless"


def read(peer: Peer, names: list[str]) -> Reading:
    """Gets each name, lists them, and runs the store's own check."""
    values, absent, failed = {}, set(), False
    for name in names:
        finished = peer.run(peer.getting(name))
        if peer.says_absent(finished):
            absent.add(name)
        elif finished.code == 0:
            values[name] = peer.value(finished)
        else:
            failed = True
    listed = peer.run(peer.listing())
    if listed.code == 0:
        absent |= {name for name in values if name not in peer.names(listed)}
    else:
        failed = True
    check = peer.verifying()
    check_failed = check is not None and not peer.is_sound(peer.run(check))
    return Reading(values, frozenset(absent), failed, check_failed)


# In the order of a cell. What is bold did harm.
WORDS = {
    "noticed": "noticed",
    "harmless": "harmless",
    "absent": "**silently absent**",
    "absent, but checked": "**silently absent, but its check notices**",
    "wrong": "**wrong value**",
    "wrong, but checked": "**wrong value, but its check notices**",
    "old": "**older value**",
    "older store": "**whole older store**",
    "old, but checked": "**older value, but its check notices**",
}


def cell(verdicts: Iterable[str]) -> str:
    """Sums up what became of each try."""
    counts = Counter(verdicts)
    parts = [f"{counts[kind]} {words}" for kind, words in WORDS.items() if counts[kind]]
    return ", ".join(parts) if counts.total() > 1 else parts[0].removeprefix("1 ")


def is_harm(text: str) -> bool:
    return "**" in text
