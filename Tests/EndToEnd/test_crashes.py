"""What a crash of the machine may leave. Tools/sweep kills the process at every system call; see Tests/Sweeps."""

import os
from pathlib import Path

from histories import History
from homes import goes_on
from layout import log_end, records


def test_a_record_of_which_a_sector_never_reached_the_disk_is_dropped(twenty: History, tmp_path: Path) -> None:
    home = twenty.home.without_memory()
    end = log_end(home.vault)
    home.set("large", os.urandom(5_000))
    record = records(home.vault)[-1]
    assert record.offset == end
    written = home.vault.read_bytes()
    for sector in range(record.offset // 512, record.end // 512 + 1):
        start, stop = max(sector * 512, record.offset), min(sector * 512 + 512, record.end)
        torn = home.copy(tmp_path / f"sector-{sector}")
        torn.vault.write_bytes(written[:start] + bytes(stop - start) + written[stop:])
        goes_on(torn, twenty.values)


def test_the_leftovers_of_a_crash_are_no_obstacle(twenty: History) -> None:
    home = twenty.home
    home.vault.with_name(f".{home.vault.name}.vault-new").write_bytes(b"left by a crash")
    goes_on(home, twenty.values)
