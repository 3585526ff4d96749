"""kill -9 at every system call that changes something: the old or the new state, never neither."""

import os
from pathlib import Path

import pytest

from faults import at_every_call, calls_of, goes_on
from histories import History
from homes import VAULT_AND_KEY, Home
from layout import log_end, records
from tracing import Call, killed_at

NEW = b"new " * 200


# kill -9


@pytest.mark.parametrize("name", ["entry-05", "entry-15", "new name"])
def test_kill_9_at_any_call_of_a_set_leaves_the_old_or_the_new_state(twenty: History, name: str) -> None:
    home, words = twenty.home, ("set", name)
    calls = calls_of(home, *words, stdin=NEW)
    at_every_call(
        home,
        calls,
        lambda call: killed_at(home, call, *words, stdin=NEW),
        lambda: goes_on(home, twenty.values, twenty.values | {name: NEW}),
    )


def test_a_set_that_was_killed_after_its_flush_is_the_new_state(twenty: History) -> None:
    home = twenty.home
    calls = calls_of(home, "set", "entry-05", stdin=NEW)
    flush = next(index for index, call in enumerate(calls) if call.name == "fdatasync")
    after = calls[flush + 1 :]
    assert after
    at_every_call(
        home,
        after,
        lambda call: killed_at(home, call, "set", "entry-05", stdin=NEW),
        lambda: goes_on(home, twenty.values | {"entry-05": NEW}),
    )


def test_kill_9_at_any_call_of_a_large_set_leaves_the_old_or_the_new_state(twenty: History) -> None:
    """Large enough that the zeros run out."""
    home, value = twenty.home, os.urandom(300_000)
    calls = calls_of(home, "set", "large", stdin=value)
    at_every_call(
        home,
        calls,
        lambda call: killed_at(home, call, "set", "large", stdin=value),
        lambda: goes_on(home, twenty.values, twenty.values | {"large": value}),
    )


def test_kill_9_at_any_call_of_rm_and_mv_leaves_the_old_or_the_new_state(twenty: History) -> None:
    home = twenty.home
    without = {name: value for name, value in twenty.values.items() if name not in ("entry-01", "entry-11")}
    moved = {name: value for name, value in twenty.values.items() if name != "entry-01"} | {
        "moved": twenty.values["entry-01"]
    }
    for words, new in ((("rm", "entry-01", "entry-11"), without), (("mv", "entry-01", "moved"), moved)):
        calls = calls_of(home, *words)
        template = home.copy(home.folder.with_name(words[0]))
        at_every_call(
            home, calls, lambda call: killed_at(home, call, *words), lambda: goes_on(home, twenty.values, new)
        )
        home.restore(template)


def test_kill_9_at_any_call_of_a_compaction_changes_nothing(twenty: History) -> None:
    home = twenty.home
    calls = calls_of(home, "compact")
    assert any(call.name == "rename" for call in calls)
    at_every_call(home, calls, lambda call: killed_at(home, call, "compact"), lambda: goes_on(home, twenty.values))


def test_kill_9_at_any_call_of_a_set_that_compacts_leaves_the_old_or_the_new_state(twenty: History) -> None:
    home = twenty.home
    for _ in range(6):
        home.set("large", os.urandom(100_000))
    old = home.values()
    value = os.urandom(100_000)
    calls: list[Call] = []
    while not any(call.name == "rename" for call in calls):
        home.set("large", old["large"])
        calls = calls_of(home, "set", "large", stdin=value)
    at_every_call(
        home,
        calls,
        lambda call: killed_at(home, call, "set", "large", stdin=value),
        lambda: goes_on(home, old, old | {"large": value}),
    )


def test_kill_9_at_any_call_of_a_set_with_a_minor_checkpoint_leaves_the_old_or_the_new_state(
    full_tail_template: Home, tmp_path: Path
) -> None:
    home = full_tail_template.copy(tmp_path / "tail")
    old, before = home.values(), home.vault.read_bytes()
    calls = calls_of(home, "set", "entry-05", stdin=NEW)
    home.set("entry-05", NEW)
    assert home.vault.read_bytes()[4064:4096] != before[4064:4096], "the hint names a minor checkpoint"
    home.restore(full_tail_template)
    at_every_call(
        home,
        calls,
        lambda call: killed_at(home, call, "set", "entry-05", stdin=NEW),
        lambda: goes_on(home, old, old | {"entry-05": NEW}),
    )


def test_kill_9_at_any_call_of_the_first_set_leaves_nothing_or_a_vault(home: Home) -> None:
    calls = calls_of(home, "set", "first", stdin=NEW)

    def examine() -> None:
        assert home.run("get", "first").returncode in (0, 3)
        home.set("second", b"kept")
        assert home.values() in ({"second": b"kept"}, {"first": NEW, "second": b"kept"})
        home.output("verify")
        assert home.files() == VAULT_AND_KEY

    at_every_call(home, calls, lambda call: killed_at(home, call, "set", "first", stdin=NEW), examine)


def test_kill_9_at_any_call_of_a_read_changes_nothing(twenty: History) -> None:
    home = twenty.home
    before = home.vault.read_bytes()
    calls = calls_of(home, "get", "entry-05")

    def examine() -> None:
        assert home.vault.read_bytes() == before
        goes_on(home, twenty.values)

    at_every_call(home, calls, lambda call: killed_at(home, call, "get", "entry-05"), examine)


# What a crash of the machine may leave


def test_a_record_of_which_a_sector_never_reached_the_disk_is_dropped(twenty: History, tmp_path: Path) -> None:
    home = twenty.home.without_memory()
    end = log_end(home.vault)
    home.set("large", os.urandom(5_000))
    record = records(home.vault)[-1]
    assert record.place == end
    written = home.vault.read_bytes()
    for sector in range(record.place // 512, record.end // 512 + 1):
        start, stop = max(sector * 512, record.place), min(sector * 512 + 512, record.end)
        torn = home.copy(tmp_path / f"sector-{sector}")
        torn.vault.write_bytes(written[:start] + bytes(stop - start) + written[stop:])
        goes_on(torn, twenty.values)


def test_the_leftovers_of_a_crash_are_no_obstacle(twenty: History) -> None:
    home = twenty.home
    home.vault.with_name(f".{home.vault.name}.vault-new").write_bytes(b"left by a crash")
    goes_on(home, twenty.values)
