"""Many processes at once: none loses a write of another, and no reader sees half of one."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from homes import VAULT_AND_KEY, Home


def set_in_parallel(home: Home, count: int) -> list[int]:
    """Starts `count` processes that each set one name, and then gives them their values all at once."""
    processes = [home.start("set", f"name-{index:02}") for index in range(count)]
    for index, process in enumerate(processes):
        process.stdin.write(b"value %d" % index)
    for process in processes:
        process.stdin.close()
    codes = [process.wait(60) for process in processes]
    for process in processes:
        process.stdout.close()
        process.stderr.close()
    return codes


def expected(count: int) -> dict[str, bytes]:
    return {f"name-{index:02}": b"value %d" % index for index in range(count)}


def test_20_parallel_sets_on_one_vault_are_all_kept(home: Home) -> None:
    home.output("init")
    assert set_in_parallel(home, 20) == [0] * 20
    assert home.values() == expected(20)
    home.output("verify")


@pytest.mark.parametrize("attempt", range(10))
def test_20_parallel_sets_where_there_was_no_vault_make_one_vault_and_one_key(home: Home, attempt: int) -> None:
    assert set_in_parallel(home, 20) == [0] * 20
    assert home.values() == expected(20)
    assert home.files() == VAULT_AND_KEY
    home.output("verify")


def test_one_of_many_first_sets_says_that_it_made_the_vault(home: Home) -> None:
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda index: home.run("set", f"name-{index}", stdin=b"tok"), range(8)))
    assert sorted(bool(finished.stderr) for finished in runs) == [False] * 7 + [True]


@pytest.mark.parametrize("layout", ["both in one folder", "key beside the vault of others"])
def test_first_sets_with_named_paths_do_not_wait_for_themselves(home: Home, layout: str) -> None:
    folder = home.folder / "here"
    key = folder / "my.key" if layout.startswith("both") else home.folder / "my.key"
    options = ("--vault", str(folder / "my.vault"), "--key-file", str(key), "--timeout", "5")
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda index: home.run("set", f"name-{index}", *options, stdin=b"tok"), range(8)))
    assert [finished.returncode for finished in runs] == [0] * 8, [finished.stderr for finished in runs]
    assert len(home.output("ls", *options).split()) == 8


def test_8_processes_of_200_sets_each_keep_1600(home: Home) -> None:
    home.output("init")

    def writer(number: int) -> list[int]:
        return [
            home.run("set", f"name-{number}-{index}", stdin=b"value %d %d" % (number, index)).returncode
            for index in range(200)
        ]

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(writer, range(8)))
    assert codes == [[0] * 200] * 8
    names = [f"name-{number}-{index}" for number in range(8) for index in range(200)]
    assert home.names() == sorted(names)
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(names, pool.map(home.get, names)))
    assert found == {name: b"value " + name[5:].replace("-", " ").encode() for name in names}
    home.output("verify")


def test_readers_and_writers_go_on_while_others_compact(home: Home) -> None:
    home.set("steady", b"always the same")
    is_over = threading.Event()
    readings: list[tuple[int, bytes, bytes]] = []

    def compact() -> list[int]:
        codes = []
        while not is_over.is_set():
            codes.append(home.run("compact").returncode)
        return codes

    def read() -> None:
        while not is_over.is_set():
            finished = home.run("get", "steady")
            readings.append((finished.returncode, finished.stdout, finished.stderr))

    def write(number: int) -> list[int]:
        return [home.run("set", f"name-{number}-{index}", stdin=b"tok").returncode for index in range(60)]

    with ThreadPoolExecutor(6) as pool:
        compacting, reading, reading_too = pool.submit(compact), pool.submit(read), pool.submit(read)
        codes = list(pool.map(write, range(3)))
        is_over.set()
        assert set(compacting.result()) == {0}
        reading.result(), reading_too.result()
    assert codes == [[0] * 60] * 3
    assert set(readings) == {(0, b"always the same", b"")}
    assert len(home.names()) == 181
    home.output("verify")


def test_a_reader_sees_the_old_or_the_new_value(home: Home) -> None:
    values = [bytes([letter]) * 20_000 for letter in b"ab"]
    home.set("u.token", values[0])
    is_over = threading.Event()

    def write() -> set[int]:
        codes = set()
        for turn in range(150):
            codes.add(home.run("set", "u.token", stdin=values[turn % 2]).returncode)
        is_over.set()
        return codes

    seen = set()
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not is_over.is_set():
            seen.add(home.output("get", "u.token"))
    assert writing.result() == {0}
    assert seen <= set(values)


def test_rm_of_one_name_by_many_succeeds_once(home: Home) -> None:
    home.set("u.token", b"tok")
    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(lambda _: home.run("rm", "u.token").returncode, range(8)))
    assert codes == [0] + [3] * 7


def test_mv_of_one_name_by_many_moves_it_once(home: Home) -> None:
    home.set("u.token", b"tok")
    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(lambda index: home.run("mv", "u.token", f"to-{index}").returncode, range(8)))
    assert codes == [0] + [3] * 7
    assert list(home.values().values()) == [b"tok"]
