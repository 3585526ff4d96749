"""Vaults with a known history, made once and copied for each test."""

from dataclasses import dataclass, field
from pathlib import Path

from homes import Home


@dataclass(frozen=True)
class History:
    """A vault, and what it held after its checkpoint and after each record behind it."""

    home: Home
    states: list[dict[str, bytes]] = field(repr=False)

    @property
    def values(self) -> dict[str, bytes]:
        return self.states[-1]


def value(index: int) -> bytes:
    """Values of many lengths, among them 0 to 3 bytes over a multiple of 16."""
    return bytes((index * 31 + offset) % 256 for offset in range(1 + index * 17))


def twenty_entries(binary: str, folder: Path) -> History:
    """Twenty entries: ten in a checkpoint, ten set behind it, where one is replaced and another removed too."""
    home = Home(binary, folder)
    state: dict[str, bytes] = {}

    def put(name: str, content: bytes) -> None:
        home.set(name, content)
        state[name] = content

    for index in range(10):
        put(f"entry-{index:02}", value(index))
    put("removed", b"in the end")
    home.output("compact")
    states = [dict(state)]
    for index in range(10, 20):
        put(f"entry-{index:02}", value(index))
        states.append(dict(state))
    put("entry-03", b"replaced")
    states.append(dict(state))
    home.output("rm", "removed")
    del state["removed"]
    states.append(dict(state))
    return History(home, states)


# While the minor checkpoint is small.
RECORDS_BEFORE_A_MINOR_CHECKPOINT = 128
