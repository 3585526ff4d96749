"""Many runs over copies of one home, as many at a time as there are processors."""

import os
import queue
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from homes import Home

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_copies(
    home: Home, folder: Path, items: Iterable[Item], examine: Callable[[Home, Item], Result]
) -> dict[Item, Result]:
    """What `examine` finds for each item. The copies take the items in their order, and are used again and again."""
    copies: queue.Queue[Home] = queue.Queue()
    for index in range(os.cpu_count() or 2):
        copies.put(home.copy(folder / f"copy-{index}"))

    def examined(item: Item) -> Result:
        copy = copies.get()
        try:
            return examine(copy, item)
        finally:
            copies.put(copy)

    items = list(items)
    with ThreadPoolExecutor(copies.qsize()) as pool:
        return dict(zip(items, pool.map(examined, items)))
