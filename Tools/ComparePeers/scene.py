"""The same history for each store: three entries, a copy of that state, then two changes and a fourth entry."""

import random
from dataclasses import dataclass

from peer import Peer, Snapshot
from outcomes import read

SEED = 10
LENGTHS = {"bank-card": 40, "mail-alice": 24, "ssh-key": 1_700, "web-token": 600}
CHANGED = ("bank-card", "ssh-key")
LAST = "web-token"
SOUND_READS = 10


def value(length: int, *seeds: object) -> bytes:
    """One line of text that does not compress well."""
    return random.Random(f"{SEED} {seeds}").randbytes(length // 2 + 1).hex()[:length].encode()


@dataclass(frozen=True)
class Scene:
    peer: Peer
    older: Snapshot
    newer: Snapshot
    older_values: dict[str, bytes]
    values: dict[str, bytes]
    samples: int

    @property
    def tries(self) -> int:
        """How often an attack is tried that costs more than one changed byte."""
        return max(self.samples // 4, 2)

    @property
    def names(self) -> list[str]:
        return list(self.values)

    def sampled(self, positions: list, count: int) -> list:
        """All of the places if they are few, else so many of them, the same ones in each run."""
        return positions if len(positions) <= count else random.Random(SEED).sample(positions, count)


def prepared(peer: Peer, samples: int) -> Scene:
    peer.create()
    older_values = {name: value(length, name) for name, length in LENGTHS.items() if name != LAST}
    for name, content in older_values.items():
        peer.must_set(name, content)
    older = Snapshot.of(peer, "older")
    changes = {name: value(LENGTHS[name], name, "changed") for name in CHANGED} | {LAST: value(LENGTHS[LAST], LAST)}
    for name, content in changes.items():
        peer.must_set(name, content)
    scene = Scene(peer, older, Snapshot.of(peer, "newer"), older_values, older_values | changes, samples)
    # A store that sometimes fails unharmed would be blamed for each attack.
    for _ in range(SOUND_READS):
        scene.newer.restore()
        if not read(peer, scene.names).gives(scene.values):
            raise RuntimeError("an unharmed store does not give its values")
    return scene
