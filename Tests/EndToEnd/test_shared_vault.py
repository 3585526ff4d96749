"""A vault in a database: the same command, over the PostgreSQL protocol."""

import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from canaries import CANARY
from homes import Home, device
from key_slots import new_identity
from postgres import Cluster
from proxies import Proxy
from shared_homes import Setters, SharedVault


@pytest.fixture
def shared(home: Home, cluster: Cluster, vault_name: str) -> Home:
    return home.with_variables(VAULT_FILE=cluster.url(vault_name))


@pytest.fixture
def proxy(cluster: Cluster):
    proxy = Proxy(cluster)
    yield proxy
    proxy.close()


def other_machine(home: Home, folder: Path) -> Home:
    """A home with the same key file, that remembers nothing."""
    other = Home(home.binary, folder, home.variables)
    other.key.parent.mkdir(parents=True)
    shutil.copy(home.key, other.key)
    return other


def test_does_what_a_file_does(shared: Home) -> None:
    shared.set("u.token", b"first")
    shared.set("u.token", b"second")
    shared.set("a/b", b"\0\xff")
    assert shared.values() == {"u.token": b"second", "a/b": b"\0\xff"}
    assert b"2 entries" in shared.output("verify")
    shared.output("mv", "a/b", "c")
    shared.output("rm", "u.token")
    shared.refusal(3, "get", "u.token")
    shared.output("restore", "u.token")
    assert shared.values() == {"u.token": b"second", "c": b"\0\xff"}
    assert not shared.vault.exists()


def test_has_room_for_the_largest_value(shared: Home) -> None:
    value = os.urandom(16 << 20)
    shared.set("big", value)
    assert shared.get("big") == value
    shared.output("verify")


def test_tells_who_creates_it_second(shared: Home) -> None:
    shared.output("init")
    assert "already exists" in shared.refusal(4, "init")


def test_is_used_by_all_who_have_the_key(shared: Home, tmp_path: Path) -> None:
    shared.set("a", b"1")
    other = other_machine(shared, tmp_path / "other")
    assert other.get("a") == b"1"
    other.set("a", b"2")
    assert shared.get("a") == b"2"
    stranger = Home(shared.binary, tmp_path / "stranger", shared.variables)
    assert "key file" in stranger.refusal(5, "get", "a")


def test_parallel_processes_lose_nothing(shared: Home) -> None:
    shared.output("init")
    count = 24
    running = [shared.start("set", f"n{number}") for number in range(count)]
    for number, process in enumerate(running):
        process.communicate(b"%d" % number)
        assert process.returncode == 0
    assert shared.values() == {f"n{number}": b"%d" % number for number in range(count)}
    assert b"%d entries" % count in shared.output("verify")


def test_a_hundred_processes_of_a_hundred_sets_each_lose_nothing(shared: Home) -> None:
    shared.output("init")
    setters = Setters(shared, 100, 100)
    setters.finish()
    assert sorted(shared.names()) == setters.names
    assert b"10,000 entries" in shared.output("verify")


def test_compacts_beside_writers(shared: Home) -> None:
    shared.output("init")
    shared.output("history", "--keep", "0,0")
    for number in range(30):
        shared.set(f"n{number % 5}", b"%d" % number)
    writers = [shared.start("set", f"w{number}") for number in range(8)]
    compaction = shared.start("compact")
    for process in writers:
        process.communicate(b"x")
        assert process.returncode == 0
    compaction.communicate()
    assert compaction.returncode == 0
    expected = {f"n{number}": b"%d" % (25 + number) for number in range(5)}
    assert shared.values() == expected | {f"w{number}": b"x" for number in range(8)}
    shared.output("verify")


def test_a_kill_leaves_the_old_or_the_new_state(shared: Home, cluster: Cluster) -> None:
    shared.set("a", b"0")
    generator = random.Random(1)
    value = 0
    for attempt in range(1, 25):
        process = shared.start("set", "a")
        process.stdin.write(b"%d" % attempt)
        process.stdin.close()
        time.sleep(generator.random() * 0.04)
        process.send_signal(signal.SIGKILL)
        process.wait()
        cluster.wait_until_idle()
        found = int(shared.get("a"))
        assert found in (value, attempt)
        value = found
    shared.output("verify")


# Places and connections


def test_without_vault_shared_it_says_what_to_install(binary: str, tmp_path: Path) -> None:
    alone = tmp_path / "bin"
    alone.mkdir()
    home = Home(shutil.copy(binary, alone), tmp_path / "home", {"VAULT_FILE": "postgresql://localhost/x"})
    sentence = home.refusal(8, "get", "a")
    assert "in a database" in sentence and "vault-shared" in sentence


@pytest.mark.parametrize(
    "url, word",
    [
        ("postgresql://me:secret-7@localhost/x#team", "~/.pgpass"),
        ("postgresql://localhost/x?password=secret-7#team", "~/.pgpass"),
        ("postgresql://localhost/#team", "names no database"),
        ("postgresql://localhost/x?nonsense=1#team", "is not valid"),
        ("postgresql://localhost/x#te/am", "letters"),
        ("mysql://me:secret-7@localhost/x#team", "neither a path nor the URL of a database"),
        ("postgresql:x#team", "neither a path nor the URL of a database"),
        ("Postgres:x", "neither a path nor the URL of a database"),
        ("postgresql://localhost/x#", "letters"),
    ],
)
def test_a_wrong_url_is_explained(home: Home, url: str, word: str) -> None:
    sentence = home.refusal(2, "get", "a", "--vault", url)
    assert word in sentence and "secret-7" not in sentence


def test_a_server_that_is_away_is_told(home: Home) -> None:
    url = "postgresql://vault@127.0.0.1:1/postgres#team"
    sentence = home.with_variables(VAULT_FILE=url).refusal(8, "get", "a")
    assert "Cannot connect to postgresql://127.0.0.1:1/postgres#team" in sentence
    assert home.files() == []


def test_no_vault_is_told(shared: Home) -> None:
    assert "no vault at postgresql://" in shared.refusal(3, "get", "a")


def test_a_remote_host_has_to_prove_itself(home: Home, cluster: Cluster) -> None:
    """Of a host that is not local, the certificate is checked: this server has none."""
    hostname = subprocess.run(["hostname"], capture_output=True, text=True, check=True).stdout.strip()
    url = f"postgresql://vault@{hostname}:{cluster.port}/postgres?hostaddr=127.0.0.1#team"
    assert "SSL" in home.with_variables(VAULT_FILE=url).refusal(8, "get", "a")


# Round trips


def test_a_get_takes_one_flight_and_a_set_two(shared: Home, proxy: Proxy, vault_name: str) -> None:
    through = shared.with_variables(VAULT_FILE=proxy.url(vault_name))
    through.set("a", b"0")
    through.get("a")
    for _ in range(2):
        proxy.forget()
        assert through.get("a") == b"0"
        assert (proxy.connections, proxy.flights) == (1, 1)
        proxy.forget()
        through.set("a", b"0")
        assert (proxy.connections, proxy.flights) == (1, 2)


def test_a_machine_that_knows_nothing_yet_takes_few_flights(shared: Home, proxy: Proxy, vault_name: str) -> None:
    for number in range(5):
        shared.set(f"n{number}", b"x" * 1000)
    through = shared.with_variables(VAULT_FILE=proxy.url(vault_name))
    assert through.get("n3") == b"x" * 1000
    assert (proxy.connections, proxy.flights) == (1, 1)


def test_a_hundred_threads_that_share_records_lose_nothing(shared: Home) -> None:
    shared.output("init")
    names = []
    for prefix in ("a", "b"):
        # Enough for compactions, beside which hundreds of names are set.
        setters = Setters(shared, 1, 10_000, threads=100, prefix=prefix)
        setters.finish()
        names += setters.names
    assert sorted(shared.names()) == names
    assert b"20,000 entries" in shared.output("verify")


# Offline, and copies


def test_offline_it_shows_what_this_machine_has_kept(shared: Home, cluster: Cluster, tmp_path: Path) -> None:
    shared.set("a", b"1")
    assert shared.get("a") == b"1"
    other = other_machine(shared, tmp_path / "other")
    other.set("a", b"2")
    offline = shared.run("get", "--offline", "a")
    assert offline.stdout == b"1" and b"from this machine's copy" in offline.stderr
    assert shared.get("a") == b"2"
    fresh = other_machine(shared, tmp_path / "fresh")
    assert "has no copy" in fresh.refusal(8, "get", "--offline", "a")


def test_what_is_set_offline_is_merged_at_the_next_contact(home: Home, own_cluster: Cluster, tmp_path: Path) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    for name in ("a", "b", "c"):
        shared.set(name, b"old")
    assert shared.get("a") == b"old"
    other = other_machine(shared, tmp_path / "other")
    other.set("b", b"of the other")
    shared.output("set", "--offline", "a", stdin=b"offline")
    shared.output("set", "--offline", "b", stdin=b"offline too")
    shared.output("rm", "--offline", "c")
    assert shared.output("get", "--offline", "a") == b"offline"
    assert other.get("a") == b"old"
    finished = shared.run("get", "a")
    assert finished.stdout == b"offline"
    assert b"Stored the offline changes. Entries changed: 3" in finished.stderr and b"  b" in finished.stderr
    assert b"offline" not in shared.run("get", "a").stderr
    for machine in (shared, other):
        assert machine.values() == {"a": b"offline", "b": b"offline too"}
    assert b"12 bytes" in other.output("history", "b")
    other.output("verify")


def test_offline_changes_that_the_server_may_have_already_alarm_nobody(shared: Home) -> None:
    shared.set("a", b"old")
    assert shared.get("a") == b"old"
    shared.output("set", "--offline", "a", stdin=b"offline")
    [pending] = shared.memory.glob("*-offline.vault")
    kept = pending.read_bytes()
    assert shared.get("a") == b"offline" and not pending.exists()
    # As if the merge had been cut before it was known to be stored.
    pending.write_bytes(kept)
    pending.chmod(0o600)
    assert shared.output("get", "--offline", "a") == b"offline"
    shared.output("set", "--offline", "b", stdin=b"later")
    assert shared.output("get", "--offline", "b") == b"later"
    assert shared.values() == {"a": b"offline", "b": b"later"}
    pending.write_bytes(kept)
    pending.chmod(0o600)
    finished = shared.run("get", "b")
    assert finished.stdout == b"later" and b"The vault already has the offline changes" in finished.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_offline_changes_from_before_a_rotation_are_set_aside(shared: Home, tmp_path: Path, options: list[str]) -> None:
    """Without members, nothing tells them from what somebody has written who was shut out."""
    shared.set("a", b"old")
    shared.output("set", "--offline", "a", stdin=b"offline")
    [pending] = shared.memory.glob("*-offline.vault")
    kept = pending.read_bytes()
    other_machine(shared, tmp_path / "other").output("key", "rotate")
    finished = shared.run("get", "a", *options)
    message = json.loads(finished.stderr)["warning"]["message"] if options else finished.stderr.decode()
    value = json.loads(finished.stdout)["value"].encode() if options else finished.stdout
    assert finished.returncode == 0 and value == b"old" and not pending.exists()
    assert "predates the rotation of the data key here" in message and "were not accepted:\n  a\n" in message
    assert shared.run("get", "a").stderr == b"", "it is told once"
    advice = message.splitlines()[-1].split("accept it: vault ", 1)[1].replace("NAME", "a")
    assert shared.output(*shlex.split(advice)).decode() == (
        "Merged: 1 changed.\nThe copies have different keys. Those of this copy were kept: see `vault key ls`.\n"
        f"You may delete {shlex.split(advice)[-1]}.\n"
    )
    # As if the merge had been cut before it was known to be stored.
    pending.write_bytes(kept)
    pending.chmod(0o600)
    finished = shared.run("get", "a")
    assert finished.stdout == b"offline" and b"The vault already has the offline changes" in finished.stderr


def test_where_it_is_allowed_the_copy_stands_in_for_a_dead_server(home: Home, own_cluster: Cluster) -> None:
    config = home.folder / ".config/vault/config"
    config.parent.mkdir(parents=True)
    config.write_text(f"[team]\nvault = {own_cluster.url()}\noffline = allow\n")
    config.chmod(0o600)
    team = ("--vault", "team")
    home.output("set", "a", *team, stdin=b"1")
    assert home.output("get", "a", *team) == b"1"
    own_cluster.kill()
    finished = home.run("get", "a", *team)
    assert finished.stdout == b"1" and b"from this machine's copy" in finished.stderr
    home.output("set", "a", *team, stdin=b"2")
    assert home.output("get", "a", *team) == b"2"
    own_cluster.start()
    # For half a minute, a command that changes nothing does not ask.
    assert home.output("get", "a", *team) == b"2"
    [note] = (home.folder / ".cache/vault").glob("*.outage")
    note.unlink()
    # A server that takes no changes yet: an answer without them would be a wrong one.
    own_cluster.sql("ALTER ROLE vault SET default_transaction_read_only = on")
    assert "The offline changes wait" in home.refusal(8, "get", "a", *team)
    assert home.output("get", "--offline", "a", *team) == b"2"
    own_cluster.script("SET default_transaction_read_only = off;\nALTER ROLE vault RESET ALL;")
    assert b"Stored the offline changes. Entries changed: 1" in home.run("get", "a", *team).stderr
    assert home.output("get", "a", *team) == b"2"
    own_cluster.kill()
    config.write_text(config.read_text().replace("offline = allow\n", ""))
    assert "Cannot connect" in home.refusal(8, "get", "a", *team)
    config.write_text(config.read_text() + "offline = perhaps\n")
    assert "offline = allow" in home.refusal(2, "get", "a", *team)


@pytest.mark.parametrize("setting", ["client_min_messages = notice", "client_min_messages = error",
                                     "synchronous_commit = off"])
def test_a_commit_whose_wait_for_the_standby_is_cancelled_is_no_success(
    home: Home, own_cluster: Cluster, setting: str
) -> None:
    own_cluster.sql(f"ALTER ROLE vault SET {setting}")
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    assert shared.get("a") == b"1"
    own_cluster.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    own_cluster.sql("SELECT pg_reload_conf()")
    time.sleep(0.2)
    process = shared.start("set", "a")
    process.stdin.write(b"2")
    process.stdin.close()
    waiting = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    while own_cluster.sql(waiting) == ["0"]:
        time.sleep(0.02)
    time.sleep(0.5)
    assert process.poll() is None, "the commit has returned with a warning"
    own_cluster.sql("ALTER SYSTEM RESET synchronous_standby_names")
    own_cluster.sql("SELECT pg_reload_conf()")
    assert process.wait(timeout=30) == 0
    assert shared.get("a") == b"2"


def test_a_standby_that_stays_away_leaves_the_outcome_unknown(home: Home, own_cluster: Cluster) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    own_cluster.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    own_cluster.sql("SELECT pg_reload_conf()")
    time.sleep(0.2)
    sentence = shared.refusal(8, "set", "a", stdin=b"2")
    assert "may or may not be stored" in sentence
    own_cluster.sql("ALTER SYSTEM RESET synchronous_standby_names")
    own_cluster.sql("SELECT pg_reload_conf()")
    assert shared.get("a") in (b"1", b"2")
    shared.set("a", b"3")
    assert shared.get("a") == b"3"


def test_a_damaged_copy_costs_time_and_nothing_else(shared: Home) -> None:
    for number in range(20):
        shared.set(f"n{number}", b"%d" % number)
    cache = shared.folder / ".cache/vault"
    for file in cache.glob("*.vault"):
        content = bytearray(file.read_bytes())
        for offset in range(100, len(content), 500):
            content[offset] ^= 1
        file.write_bytes(content)
    assert shared.values() == {f"n{number}": b"%d" % number for number in range(20)}
    assert shared.output("get", "--offline", "n3") == b"3", "it has been repaired"


def test_the_copy_holds_no_name_and_no_value(shared: Home) -> None:
    shared.set("canary-name", CANARY)
    assert shared.get("canary-name") == CANARY
    files = list((shared.folder / ".cache/vault").iterdir())
    assert len(files) == 2
    for file in files:
        assert file.stat().st_mode & 0o077 == 0
        assert b"canary" not in file.read_bytes()


def test_a_clone_is_the_same_vault(home: Home, cluster: Cluster, vault_name: str, tmp_path: Path) -> None:
    home.set("a", b"1")
    home.set("b", b"x" * 600_000)
    url = cluster.url(vault_name)
    assert b"2 entries" in home.output("clone", str(home.vault), url)
    shared = other_machine(home, tmp_path / "other").with_variables(VAULT_FILE=url)
    assert shared.values() == home.values()
    assert "already exists" in home.refusal(4, "clone", str(home.vault), url)
    shared.set("a", b"2")
    shared.output("clone", url, "back.vault")
    back = shared.with_variables(VAULT_FILE="back.vault")
    assert back.get("a") == b"2"
    back.output("verify")
    home.set("c", b"of the file")
    shared.output("merge", str(home.vault))
    assert shared.get("c") == b"of the file" and shared.get("a") == b"2"
    home.output("merge", url)
    assert home.values() == shared.values()


# A connection that is cut


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_set_survives_a_cut_at_every_message(shared: Home, proxy: Proxy, vault_name: str, side: str) -> None:
    shared.set("a", b"start")
    through = shared.with_variables(VAULT_FILE=proxy.url(vault_name))
    through.get("a")
    cuts = 0
    for number in range(200):
        proxy.forget()
        proxy.cut = (side, number)
        before = shared.get("a")
        finished = through.run("set", "--exact", "a", stdin=b"%d" % number)
        if not proxy.cuts:
            break
        cuts += 1
        value = shared.get("a")
        if finished.returncode == 0:
            assert value == b"%d" % number
        else:
            # Nothing was committed: the connection could not be made.
            assert finished.returncode == 8, finished.stderr
            assert value == before
    assert cuts > 15
    proxy.cut = None
    assert b"1 entry" in shared.output("verify")
    history = shared.output("history", "a")
    assert len(set(history.splitlines())) == len(history.splitlines()), "nothing is stored twice"


def test_whoever_is_overtaken_while_the_server_is_away_still_has_his_patience(
    shared: Home, proxy: Proxy, vault_name: str
) -> None:
    shared.set("a", b"start")
    through = shared.with_variables(VAULT_FILE=proxy.url(vault_name))
    through.get("a")
    proxy.forget()
    through.set("a", b"1")
    kinds = [kind for side, kind in proxy.messages if side == "client"]
    begin_of_last_flight = [index for index, kind in enumerate(kinds) if kind == "S"][-2] + 1
    proxy.forget()
    proxy.isAwayAfterCut, proxy.cut = True, ("client", begin_of_last_flight)
    process = through.start("set", "--exact", "a")
    process.stdin.write(b"2")
    process.stdin.close()
    while not proxy.cuts:
        time.sleep(0.01)
    shared.set("b", b"of another")
    # After a second, the command says that it waits.
    time.sleep(1.3)
    proxy.isAwayAfterCut = False
    assert process.wait(timeout=20) == 0, process.stderr.read()
    assert shared.get("a") == b"2" and shared.get("b") == b"of another"


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_compaction_survives_a_cut_at_every_message(shared: Home, proxy: Proxy, vault_name: str, side: str) -> None:
    shared.output("init")
    shared.output("history", "--keep", "0,0")
    through = shared.with_variables(VAULT_FILE=proxy.url(vault_name))
    for number in range(0, 400, 3):
        for name in ("a", "b"):
            shared.set(name, b"%d" % number)
        proxy.forget()
        proxy.cut = (side, number)
        code = through.run("compact").returncode
        assert shared.values() == {"a": b"%d" % number, "b": b"%d" % number}, code
        if not proxy.cuts:
            break
    assert number > 30 and code == 0
    proxy.cut = None
    assert b"2 entries" in shared.output("verify")


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_creation_survives_a_cut_at_every_message(
    shared: Home, cluster: Cluster, proxy: Proxy, vault_name: str, side: str
) -> None:
    for number in range(0, 400, 3):
        vault = f"{vault_name}-{number}"
        proxy.forget()
        proxy.cut = (side, number)
        finished = shared.with_variables(VAULT_FILE=proxy.url(vault)).run("set", "a", stdin=b"1")
        direct = shared.with_variables(VAULT_FILE=cluster.url(vault))
        if finished.returncode == 0:
            assert direct.get("a") == b"1"
        direct.set("b", b"2")
        assert b" entr" in direct.output("verify")
        if not proxy.cuts:
            break
    assert number > 20 and finished.returncode == 0


# What the database sees


def test_nothing_that_the_database_sees_is_a_name_or_a_value(home: Home) -> None:
    cluster = Cluster(log_statement="all", more="log_parameter_max_length = -1").create()
    proxy = Proxy(cluster)
    try:
        shared = home.with_variables(VAULT_FILE=proxy.url("payroll"))
        for number in range(40):
            shared.set(f"canary-name-{number}", CANARY + b"%d" % number)
        shared.set("canary-name-large", CANARY * 50_000)
        shared.output("compact")
        assert shared.get("canary-name-3") == CANARY + b"3"
        seen = bytes(proxy.bytes)
        cluster.sql("CHECKPOINT")
        cluster.stop()
        files = [path for path in cluster.folder.rglob("*") if path.is_file()]
        seen += b"".join(path.read_bytes() for path in files)
        assert b"INSERT INTO vault.extent" in cluster.log.read_bytes(), "the log has the statements"
        assert len(files) > 900
        for secret in (b"canary-name", CANARY, b"payroll", home.key.read_bytes().split()[-1]):
            for form in (secret, secret.hex().encode()):
                assert form not in seen
    finally:
        proxy.close()
        cluster.remove()


# A server that lies


@pytest.fixture
def tables(own_cluster: Cluster) -> SharedVault:
    return SharedVault(own_cluster, "team")


def test_an_earlier_dump_is_noticed(home: Home, own_cluster: Cluster, tables: SharedVault) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    older = tables.dump()
    shared.set("a", b"2")
    tables.put_back(older)
    for command in (["get", "a"], ["ls"]):
        assert "older copy" in shared.refusal(9, *command)
    assert "older copy" in shared.refusal(9, "set", "b", stdin=b"x")
    assert shared.output("get", "a", "--accept-rolled-back") == b"1"


def test_a_server_is_restored_from_what_a_machine_has_kept(
    home: Home, own_cluster: Cluster, tables: SharedVault, tmp_path: Path
) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    older = tables.dump()
    shared.set("a", b"2")
    tables.put_back(older)
    assert "older copy" in shared.refusal(9, "get", "a")
    url = own_cluster.url()
    shared.output("clone", "--offline", url, url, "--force")
    assert shared.get("a") == b"2"
    assert other_machine(shared, tmp_path / "other").get("a") == b"2"
    shared.set("a", b"3")
    shared.output("verify")


def test_keys_that_others_change_open_the_vault_or_do_not(shared: Home, tmp_path: Path) -> None:
    shared.set("a", b"1")
    other = other_machine(shared, tmp_path / "other")
    assert other.get("a") == b"1", "it keeps a copy now, with the keys of before"
    shared.output("key", "add", "--file", "second.key")
    second = Home(shared.binary, other.folder, other.variables | {"VAULT_KEY_FILE": str(shared.folder / "second.key")})
    assert second.get("a") == b"1"
    shared.output("--key-file", "second.key", "key", "rm", "1")
    assert "keys of" in other.refusal(5, "get", "a")
    assert "does not open" in other.refusal(5, "get", "a")
    other.refusal(5, "set", "a", stdin=b"2")
    assert second.get("a") == b"1"


def test_a_key_whose_cost_was_raised_elsewhere_opens_the_vault(shared: Home, tmp_path: Path) -> None:
    shared.key.parent.mkdir(parents=True)
    shared.key.write_bytes(b"words of a person")
    shared.key.chmod(0o600)
    shared.set("a", b"1")
    other = other_machine(shared, tmp_path / "other")
    assert other.get("a") == b"1"
    shared.output("compact", "--argon2id=3,65")
    assert "Try again" in other.refusal(5, "get", "a")
    assert other.get("a") == b"1"


def test_a_removal_that_the_server_drops_is_noticed(
    home: Home, own_cluster: Cluster, tables: SharedVault, tmp_path: Path
) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    tom = other_machine(shared, tmp_path / "tom")
    shared.output("member", "add", "mia")
    shared.output("member", "add", "tom", "--device", device(tom))
    tom.set("a", b"of tom")
    before = tables.dump()
    shared.output("member", "rm", "tom")
    assert "does not belong to any member" in tom.refusal(5, "set", "a", stdin=b"x")
    assert json.loads(shared.output("log", "--changes", "--json"))["changes"][-1]["author"] == "tom"
    assert tom.get("a") == b"of tom"
    tables.put_back(before)
    assert "older copy" in shared.refusal(9, "get", "a")
    assert "older copy" in tom.refusal(9, "get", "a"), "he has seen it too"


def test_forked_histories_are_noticed_when_they_meet(
    home: Home, own_cluster: Cluster, tables: SharedVault, tmp_path: Path
) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    other = other_machine(shared, tmp_path / "other")
    assert other.get("a") == b"1"
    common = tables.dump()
    shared.set("a", b"of one")
    one = tables.dump()
    tables.put_back(common)
    other.set("a", b"of the other")
    other.set("b", b"of the other")
    assert "a different history" in shared.refusal(9, "get", "a")
    tables.put_back(one)
    assert shared.get("a") == b"of one"
    assert "older copy" in other.refusal(9, "get", "a")


def changed_byte(first_byte: str) -> str:
    return f"UPDATE vault.extent SET bytes = set_byte(bytes, 30, get_byte(bytes, 30) # 1) WHERE first_byte = ({first_byte})"


NTH = "SELECT first_byte FROM vault.extent WHERE first_byte > 8192 ORDER BY first_byte OFFSET {} LIMIT 1"


@pytest.mark.parametrize(
    "sql",
    [
        changed_byte(NTH.format(2)),
        changed_byte(NTH.format(0)),
        "DELETE FROM vault.extent WHERE first_byte = ({})".format(NTH.format(2)),
        "UPDATE vault.extent SET bytes = (SELECT bytes FROM vault.extent WHERE first_byte = ({})) WHERE first_byte = ({})".format(
            NTH.format(1), NTH.format(2)),
        # The last record is dropped, and the row says so less well.
        "DELETE FROM vault.extent WHERE first_byte = (SELECT max(first_byte) FROM vault.extent)",
        # A record of zeros behind the end.
        "INSERT INTO vault.extent SELECT generation, size, '\\x00000000000000000000000000000000' FROM vault.head; "
        "UPDATE vault.head SET size = size + 16",
    ],
)
def test_a_changed_table_is_damage(home: Home, own_cluster: Cluster, sql: str, tmp_path: Path) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    for number in range(5):
        shared.set(f"n{number}", b"%d" % number)
    fresh = other_machine(shared, tmp_path / "fresh")
    own_cluster.sql(sql)
    assert "damaged" in fresh.refusal(6, "set", "x", stdin=b"y")
    # This machine has authenticated it all before, and goes on from what it has kept.
    for machine in (shared, fresh):
        assert "damaged" in machine.refusal(6, "verify")


def test_a_key_slot_of_the_tables_owner_opens_nothing(home: Home, own_cluster: Cluster, tmp_path: Path) -> None:
    """Whoever owns the table knows a vault of their own, and puts its slot beside ours."""
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    owner = Home(home.binary, tmp_path / "owner", {"VAULT_FILE": own_cluster.url("own")})
    owner.set("a", b"of the owner")
    # Format.md, "Header": the number of slots at byte 12, slots of 112 bytes from byte 256 on.
    mine, theirs = (
        bytes.fromhex(row) for row in own_cluster.sql(
            "SELECT encode(bytes, 'hex') FROM vault.extent JOIN vault.generation USING (generation) WHERE first_byte = 0 "
            "ORDER BY begun"))
    size = 112
    forged = bytearray(mine)
    forged[12:16] = (2).to_bytes(4, "little")
    forged[256 + size:256 + 2 * size] = theirs[256:256 + size]
    forged[4096:4096 + 4064] = forged[:4064]
    own_cluster.sql(
        f"UPDATE vault.extent SET bytes = decode('{forged.hex()}', 'hex') WHERE first_byte = 0 AND generation = "
        "(SELECT generation FROM vault.generation ORDER BY begun LIMIT 1)")
    assert "damaged" in other_machine(shared, tmp_path / "other").refusal(6, "get", "a")
    assert "damaged" in shared.refusal(6, "verify")
    intruder = owner.with_variables(VAULT_FILE=own_cluster.url())
    assert intruder.run("get", "a").returncode in (5, 6)


# Roles


def test_roles_have_the_least_rights(home: Home, own_cluster: Cluster, tmp_path: Path) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    for role, member in (("reader", "vault_reader"), ("writer", "vault_writer"), ("stranger", None)):
        own_cluster.sql(f"CREATE ROLE {role} LOGIN" + (f" IN ROLE {member}" if member else ""))
    reader, writer, stranger = (
        shared.with_variables(VAULT_FILE=own_cluster.url(user=user)) for user in ("reader", "writer", "stranger"))
    assert reader.get("a") == b"1"
    assert "vault_writer" in reader.refusal(8, "set", "a", stdin=b"2")
    writer.set("a", b"2")
    writer.output("compact")
    assert reader.get("a") == b"2"
    assert "vault_reader" in stranger.refusal(8, "get", "a")
    for user in ("reader", "writer"):
        with pytest.raises(AssertionError, match="must be owner"):
            own_cluster.sql("DROP TABLE vault.head", user=user)
    with pytest.raises(AssertionError, match="permission denied"):
        own_cluster.sql("UPDATE vault.extent SET first_byte = 1", user="writer")


def test_an_administrator_prepares_a_database_in_which_users_create_nothing(home: Home, own_cluster: Cluster) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url(user="writer"))
    own_cluster.sql("CREATE ROLE writer LOGIN")
    own_cluster.sql("REVOKE CREATE ON DATABASE postgres FROM PUBLIC")
    assert "does not permit" in shared.refusal(8, "init")
    own_cluster.sql(shared.output("init", "--sql").decode())
    assert "vault_writer" in shared.refusal(8, "init")
    own_cluster.sql("GRANT vault_writer TO writer")
    shared.set("a", b"1")
    assert shared.get("a") == b"1"
    assert "--sql needs a vault in a database" in home.refusal(2, "init", "--sql")


def test_the_doctor_looks_at_the_server(shared: Home) -> None:
    shared.set("a", b"1")
    shared.get("a")
    report = shared.output("doctor").decode()
    for words in ("server: PostgreSQL 1", "durability: The server flushes",
                  "encryption: none: the server is on this machine", "rights: This role may read and write", "copy: "):
        assert words in report
    assert "complete, as of" in shared.output("info").decode()


def test_the_doctor_warns_of_nothing_that_is_right(shared: Home, cluster: Cluster, vault_name: str) -> None:
    folder = shared.folder / "bin"
    folder.mkdir()
    for name in ("git-credential-vault", "docker-credential-vault", "vault-askpass"):
        (folder / name).symlink_to(shared.binary)
    path = f"{Path(shared.binary).parent}:{folder}:/usr/bin:/bin"
    local = shared.with_variables(VAULT_FILE=cluster.url(vault_name, host="127.0.0.1"), PATH=path)
    local.set("a", b"1")
    identity = shared.folder / "identity.txt"
    recipient = new_identity(identity)
    fingerprint = json.loads(local.output("key", "ls", "--json"))["fingerprint"]
    local.output("key", "add", "--recipient", recipient)
    local.key.rename(local.folder / "elsewhere")
    words = ("--identity", str(identity), "--vault-fingerprint", fingerprint)
    checks = json.loads(local.output("doctor", "--json", *words))["checks"]
    assert [check for check in checks if check["state"] != "ok"] == []
    assert [check["message"] for check in checks if check["name"] == "key"] == [f"the age identities in {identity}"]


def test_the_doctor_says_whether_the_server_has_proved_itself(home: Home, vault_name: str) -> None:
    cluster = Cluster(has_tls=True).create()
    try:
        url = cluster.tls_url(vault_name)

        def encryption(url: str) -> dict:
            shared = home.with_variables(VAULT_FILE=url)
            shared.set("a", b"1")
            checks = json.loads(shared.output("doctor", "--json"))["checks"]
            return next(check for check in checks if check["name"] == "encryption")

        proved = encryption(url)
        assert (proved["state"], "by its certificate" in proved["message"]) == ("ok", True)
        unproved = encryption(url.replace("verify-full", "require"))
        assert unproved["state"] == "warning" and "TLS, but" in unproved["message"]
        assert "(sslmode=require)" in unproved["message"] and "verify-full" in unproved["fix"]
        local = encryption(url.replace("@localhost", "@127.0.0.1").replace("verify-full", "require"))
        assert (local["state"], local["message"]) == ("ok", "TLS: the server is on this machine")
        plain = encryption(url.replace("verify-full", "disable"))
        assert plain["state"] == "warning" and "impersonate the server" in plain["message"]
    finally:
        cluster.remove()


# Two machines compare


def test_the_head_tells_forks_apart(home: Home, own_cluster: Cluster, tables: SharedVault, tmp_path: Path) -> None:
    shared = home.with_variables(VAULT_FILE=own_cluster.url())
    shared.set("a", b"1")
    other = other_machine(shared, tmp_path / "other")
    head = shared.output("log", "--head").decode().strip()
    assert other.output("log", "--head", head) == b"This vault's history includes the other machine's.\n"
    common = tables.dump()
    shared.set("a", b"2")
    mine = shared.output("log", "--head").decode().strip()
    tables.put_back(common)
    assert "ends before the other machine's" in other.refusal(9, "log", "--head", mine)
    other.set("a", b"3")
    other.set("a", b"4")
    assert "have diverged" in other.refusal(9, "log", "--head", mine)
    assert other.output("log", "--head", head) == b"This vault's history includes the other machine's.\n"
    assert "not a position in this vault's history" in other.refusal(2, "log", "--head", "x:1:2")
