"""A primary with a synchronous standby: killed under load, and the standby promoted.

VAULT_FAILOVERS says how often; 3 times without it, 20 in the full form.
"""

import os
import threading
import time

import pytest

from homes import Home
from postgres import Cluster

WRITERS = 6


class Writer(threading.Thread):
    """Sets one new name after the other, each by a process of its own."""

    def __init__(self, home: Home, number: int):
        super().__init__()
        self.home, self.number = home, number
        self.acknowledged: list[tuple[float, str]] = []
        self.failures: list[str] = []
        self.stops = False

    def run(self) -> None:
        count = 0
        while not self.stops:
            name = f"w{self.number}/{count}"
            count += 1
            finished = self.home.run("set", name, "--timeout", "30", stdin=name.encode())
            if finished.returncode == 0:
                self.acknowledged.append((time.monotonic(), name))
            else:
                self.failures.append(finished.stderr.decode())


@pytest.mark.parametrize("attempt", range(int(os.environ.get("VAULT_FAILOVERS", "3"))))
def test_loses_nothing_that_was_acknowledged(home: Home, attempt: int) -> None:
    primary = Cluster("a").create()
    standby = Cluster("b", folder=primary.folder)
    try:
        standby.copy_of(primary, "b")
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'b'")
        primary.sql("SELECT pg_reload_conf()")
        while primary.sql("SELECT sync_state FROM pg_stat_replication") != ["sync"]:
            time.sleep(0.02)
        url = (f"postgresql://vault@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/postgres"
               "?target_session_attrs=read-write#team")
        shared = home.with_variables(VAULT_FILE=url)
        shared.output("init")
        writers = [Writer(shared, number) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        time.sleep(1.5)
        primary.kill()
        standby.promote()
        promoted = time.monotonic()
        time.sleep(1.5)
        for writer in writers:
            writer.stops = True
        for writer in writers:
            writer.join()

        acknowledged = sorted(entry for writer in writers for entry in writer.acknowledged)
        assert [failure for writer in writers for failure in writer.failures] == []
        before = [moment for moment, _ in acknowledged if moment < promoted]
        after = [moment for moment, _ in acknowledged if moment >= promoted]
        assert len(before) > 10 and after[0] - promoted < 0.5, "the first set is acknowledged soon"
        names = [name for _, name in acknowledged]
        assert sorted(shared.names()) == sorted(names), "all of them, and each once"
        shared.output("verify")
        records = next(line for line in shared.output("info").decode().splitlines() if line.startswith("Records"))
        assert int(records.split()[1].replace(",", "")) == len(names), "no record is there twice"
        assert shared.get(names[0]) == names[0].encode()

        # The former primary comes back, and takes itself for the primary still. It is named first.
        primary.start()
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
        primary.sql("SELECT pg_reload_conf()")
        assert shared.get(names[-1]) == names[-1].encode()
        shared.set("late", b"1")
        assert shared.get("late") == b"1"
        alone = shared.with_variables(VAULT_FILE=primary.url(host="127.0.0.1", sslmode="disable"), XDG_CACHE_HOME="/none")
        sentence = alone.refusal(9, "get", names[0])
        assert "older copy" in sentence and f"127.0.0.1:{primary.port}" in sentence
    finally:
        primary.stop()
        standby.remove()


def test_a_former_primary_that_has_diverged_is_left_for_the_next_host(home: Home, tmp_path) -> None:
    former = Cluster("a").create()
    primary = Cluster("b", folder=former.folder)
    try:
        primary.copy_of(former, "b")
        shared = home.with_variables(
            VAULT_FILE=f"postgresql://vault@127.0.0.1:{former.port},127.0.0.1:{primary.port}/postgres#team")
        shared.set("before", b"1")
        assert shared.get("before") == b"1"
        primary.promote()
        # Somebody who knows no other host goes on with the former primary, and comes further.
        strayed = home.copy(tmp_path / "strayed").without_memory().with_variables(VAULT_FILE=former.url(host="127.0.0.1"))
        for name in ("lost", "lost too"):
            strayed.set(name, b"1")
        home.with_variables(VAULT_FILE=primary.url(host="127.0.0.1")).set("after", b"2")
        assert shared.get("after") == b"2"
        shared.set("late", b"3")
        assert shared.names() == ["after", "before", "late"]
        assert shared.with_variables(XDG_CACHE_HOME="/none").get("late") == b"3"
        alone = home.with_variables(VAULT_FILE=former.url(host="127.0.0.1"), XDG_CACHE_HOME="/none")
        assert "a different history" in alone.refusal(9, "get", "before")
    finally:
        former.stop()
        primary.remove()


def test_a_standby_that_lags_is_said_to_lag(home: Home) -> None:
    primary = Cluster("a").create()
    standby = Cluster("b", folder=primary.folder)
    try:
        standby.copy_of(primary, "b")
        shared = home.with_variables(VAULT_FILE=primary.url(host="127.0.0.1"))
        shared.set("a", b"1")
        end = primary.sql("SELECT pg_current_wal_lsn()")[0]
        while standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{end}'") != ["t"]:
            time.sleep(0.02)
        standby.sql("SELECT pg_wal_replay_pause()")
        for value in (b"2", b"3"):
            shared.set("a", value)
        replica = shared.with_variables(VAULT_FILE=standby.url(host="127.0.0.1"), XDG_CACHE_HOME="/none")
        sentence = replica.refusal(8, "get", "a")
        assert "A standby lags behind" in sentence and f"127.0.0.1:{standby.port}" in sentence
        standby.sql("SELECT pg_wal_replay_resume()")
        while (finished := replica.run("get", "a")).returncode:
            time.sleep(0.02)
        assert finished.stdout == b"3"
    finally:
        primary.stop()
        standby.remove()
