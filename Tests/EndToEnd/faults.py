"""A fault at every system call of a run, one after the other, each time from the same state."""

import subprocess
from collections.abc import Callable

from homes import VAULT_AND_KEY, Home
from tracing import AROUND, CHANGING, Call, trace


def calls_of(home: Home, *arguments: str, stdin: bytes = b"", names: tuple[str, ...] = CHANGING + AROUND) -> list[Call]:
    """The calls of a run, from the first that touches the home on; what the run did is undone."""
    template = home.copy(home.folder.with_name("untouched"))
    runs = []
    for _ in range(3):
        runs.append(trace(home, *arguments, stdin=stdin, names=names))
        home.restore(template)
    # A run that takes more than 50 ms looks at the vault's path once more. A faster one would not reach that call.
    calls = min(runs, key=len)
    mine = (str(home.folder), "(0<")
    first = next(index for index, call in enumerate(calls) if any(place in call.line for place in mine))
    assert len(calls) > first + 3
    return calls[first:]


def at_every_call(
    home: Home, calls: list[Call], attempt: Callable[[Call], object], examine: Callable[[], None]
) -> None:
    """Tries a fault at each call, each time from the same state, and tells all the calls where it ends badly."""
    template = home.copy(home.folder.with_name("template"))
    failures = []
    for call in calls:
        home.restore(template)
        try:
            attempt(call)
            examine()
        except (AssertionError, subprocess.TimeoutExpired) as failure:
            failures.append(f"{call.line}\n    {failure}")
    assert not failures, "\n".join(failures)


def goes_on(home: Home, *expected: dict[str, bytes]) -> None:
    """The vault verifies, has one of the expected states, and takes another value."""
    home.output("verify")
    found = home.values()
    assert found in expected, f"neither old nor new: {sorted(found)}"
    home.set("afterwards", b"kept")
    home.output("compact")
    home.output("verify")
    assert home.names() == sorted([*found, "afterwards"]) and home.get("afterwards") == b"kept"
    assert home.files() == VAULT_AND_KEY, "nothing is left behind"
