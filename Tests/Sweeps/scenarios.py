"""What the calls are swept of: every command that writes, and some that read, each from a state of its own."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field

from histories import RECORDS_BEFORE_A_MINOR_CHECKPOINT
from homes import Home
from layout import HEADER_SIZE, records
from tracing import with_fault

# None: there is no vault.
State = dict[str, bytes] | None

LARGE = os.urandom(300_000)
NEW = b"new " * 200


@dataclass(frozen=True)
class Scenario:
    """A command, the state that it begins with, and the one that it leads to."""

    name: str
    words: tuple[str, ...]
    prepare: Callable[[Home], None]
    change: Callable[[dict[str, bytes]], State] = lambda values: values
    stdin: bytes = b""
    # Between an old state without a vault and the new one.
    between: State = None
    variables: dict[str, str] = field(default_factory=dict)
    # Beside the vault and the standard key file.
    files: tuple[str, ...] = ()
    # Run before the state is read.
    accepting: tuple[str, ...] = ()
    # Whether the vault is in a database.
    is_shared: bool = False


def base(home: Home) -> list[tuple[dict[str, bytes], bytes]]:
    """A small vault. Returns what it held, and its file, after its checkpoint and after each record."""
    state: dict[str, bytes] = {}
    history = []

    def put(name: str, value: bytes, *options: str) -> None:
        home.output("set", name, "--exact", *options, stdin=value)
        state[name] = value

    def remember() -> None:
        history.append((dict(state), home.vault.read_bytes()))

    put("alpha", b"value of alpha")
    put("beta", b"beta" * 150)
    put("gamma", b"value of gamma", "-a", "host=example.org")
    put("removed", b"in the end")
    home.output("compact")
    remember()
    put("delta", b"value of delta")
    remember()
    put("beta", b"replaced")
    remember()
    home.output("rm", "removed")
    del state["removed"]
    remember()
    put("epsilon", b"42", "--type", "int")
    remember()
    return history


def small(home: Home) -> None:
    base(home)


def two(home: Home) -> None:
    for name, value in (("alpha", b"former"), ("alpha", b"value of alpha"), ("beta", b"beta" * 150)):
        home.set(name, value)


def nothing(_: Home) -> None:
    pass


def before_a_minor_checkpoint(home: Home) -> None:
    for index in range(RECORDS_BEFORE_A_MINOR_CHECKPOINT):
        home.set(f"entry-{index % 5}", b"value %d" % index)


def before_a_compaction(home: Home) -> None:
    """The next `set` of `large` is the one that compacts."""
    base(home)
    kept = home.folder.with_name("kept")
    for turn in range(40):
        shutil.rmtree(kept, ignore_errors=True)
        template = home.copy(kept)
        inode = home.vault.stat().st_ino
        home.set("large", LARGE[turn : turn + 60_000])
        if home.vault.stat().st_ino != inode:
            home.restore(template)
            shutil.rmtree(kept)
            return
    raise AssertionError("no set compacted")


def behind_a_torn_record(home: Home) -> None:
    base(home)
    memory = {path: path.read_bytes() for path in home.memory.iterdir()}
    home.set("torn", LARGE[:5_000])
    (last,) = records(home.vault)[-1:]
    data = bytearray(home.vault.read_bytes())
    sector = last.offset // 512 * 512 + 1024
    data[sector : sector + 512] = bytes(512)
    home.vault.write_bytes(data)
    for path, content in memory.items():
        path.write_bytes(content)


def behind_a_killed(*words: str, call: str) -> Callable[[Home], None]:
    def prepare(home: Home) -> None:
        base(home)
        with_fault(home, call, "signal=KILL:when=1", *words, stdin=b"left behind")

    return prepare


def behind_its_memory(home: Home) -> None:
    base(home)
    home.without_memory().set("alpha", b"not seen here")


def rolled_back(home: Home) -> None:
    base(home)
    older = home.vault.read_bytes()
    home.set("alpha", b"lost")
    home.vault.write_bytes(older)


def without_any_memory(home: Home) -> None:
    base(home)
    shutil.rmtree(home.memory.parent)


SECRET = "secret.key"
OTHER_KEY = {"VAULT_KEY_FILE": SECRET}


def with_a_secret(home: Home) -> None:
    path = home.folder / SECRET
    path.write_bytes(b"correct horse battery staple")
    path.chmod(0o600)


def under_a_secret(home: Home) -> None:
    with_a_secret(home)
    home.output("init", "--argon2id", "1,1")
    home.set("alpha", b"under a secret")


def with_two_keys(home: Home) -> None:
    """The second key file, and one that is in no slot yet."""
    base(home)
    home.output("key", "add", "--file", "second.key")
    home.output("key", "add", "--file", "third.key")
    home.output("key", "rm", "3")


TWO_KEYS = ("second.key", "third.key")


def with_a_damaged_header(home: Home) -> None:
    base(home)
    data = bytearray(home.vault.read_bytes())
    for offset in (130, HEADER_SIZE + 130):
        data[offset] ^= 1
    home.vault.write_bytes(data)


def put(name: str, value: bytes) -> Callable[[dict[str, bytes]], State]:
    return lambda values: values | {name: value}


def renamed(values: dict[str, bytes]) -> State:
    return {{"alpha": "moved"}.get(name, name): value for name, value in values.items()}


def moved_over(values: dict[str, bytes]) -> State:
    return {name: value for name, value in values.items() if name != "alpha"} | {"beta": values["alpha"]}


def without(*names: str) -> Callable[[dict[str, bytes]], State]:
    return lambda values: {name: value for name, value in values.items() if name not in names}


SCENARIOS = [
    # A new vault stays if its name cannot be flushed: others may use it already.
    Scenario("init", ("init",), nothing, lambda _: {}, between={}),
    Scenario("init-label", ("init", "--label", "laptop", "--argon2id", "1,1"), with_a_secret, lambda _: {},
             between={}, variables=OTHER_KEY, files=(SECRET,)),
    Scenario("set-first", ("set", "alpha"), nothing, lambda _: {"alpha": NEW}, NEW, between={}),
    Scenario("set-over", ("set", "alpha"), small, put("alpha", NEW), NEW),
    Scenario("set-behind", ("set", "beta"), small, put("beta", NEW), NEW),
    Scenario("set-new", ("set", "new"), small, put("new", NEW), NEW),
    Scenario("set-large", ("set", "large"), small, put("large", LARGE), LARGE),
    Scenario("set-typed", ("set", "beta", "--type", "json", "-a", "host=example.org", "-a", "user=ada"), small,
             put("beta", b"[1,2]"), b"[1,2]"),
    Scenario("set-file", ("set", "new", "--file", "value"),
             lambda home: (small(home), (home.folder / "value").write_bytes(NEW)) and None,
             put("new", NEW), files=("value",)),
    Scenario("set-checkpoint", ("set", "entry-2"), before_a_minor_checkpoint, put("entry-2", NEW), NEW),
    Scenario("set-compacts", ("set", "large"), before_a_compaction, put("large", LARGE[:60_000]), LARGE[:60_000]),
    Scenario("set-after-torn", ("set", "new"), behind_a_torn_record, put("new", NEW), NEW),
    Scenario("set-after-unflushed", ("set", "new"), behind_a_killed("set", "alpha", call="fdatasync"),
             put("new", NEW), NEW),
    Scenario("set-after-killed-compaction", ("set", "new"), behind_a_killed("compact", call="rename"),
             put("new", NEW), NEW),
    Scenario("rm", ("rm", "alpha"), small, without("alpha")),
    Scenario("rm-two", ("rm", "alpha", "beta"), small, without("alpha", "beta")),
    Scenario("mv", ("mv", "alpha", "moved"), small, renamed),
    Scenario("mv-over", ("mv", "--force", "alpha", "beta"), small, moved_over),
    Scenario("cp", ("cp", "beta", "copied"), small, lambda values: values | {"copied": values["beta"]}),
    Scenario("compact", ("compact",), small),
    Scenario("compact-cost", ("compact", "--argon2id", "2,2"), under_a_secret, variables=OTHER_KEY, files=(SECRET,)),
    # The names are removed first; without the compaction, their bytes stay, and that is an error.
    Scenario("rm-purge", ("rm", "--purge", "alpha"), small, without("alpha"),
             between={"beta": b"replaced", "gamma": b"value of gamma", "delta": b"value of delta", "epsilon": b"42"}),
    Scenario("restore", ("restore", "beta"), small, put("beta", b"beta" * 150)),
    Scenario("restore-removed", ("restore", "removed"), small, put("removed", b"in the end")),
    Scenario("undo", ("undo",), small, without("epsilon")),
    Scenario("key-rm", ("key", "rm", "2"), with_two_keys, files=TWO_KEYS),
    Scenario("key-replace", ("key", "replace", "--key", "2", "third.key"), with_two_keys, files=TWO_KEYS),
    Scenario("key-rotate", ("key", "rotate"), small),
    Scenario("get", ("get", "beta"), small),
    Scenario("ls", ("ls", "-l"), small),
    Scenario("exists", ("exists", "gamma"), small),
    Scenario("verify", ("verify",), small),
    Scenario("get-behind-memory", ("get", "beta"), behind_its_memory),
    Scenario("get-without-memory", ("get", "beta"), without_any_memory),
    Scenario("accept", ("ls", "--accept-rolled-back"), rolled_back, accepting=("ls", "--accept-rolled-back")),
    Scenario("salvage", ("salvage", "out.vault"), with_a_damaged_header),
]  # fmt: skip
# The same on a database, where the faults are in the connection to its server.
SCENARIOS += [
    Scenario("database-init", ("init",), nothing, lambda _: {}, between={}, is_shared=True),
    Scenario("database-set", ("set", "alpha"), two, put("alpha", NEW), NEW, is_shared=True),
    Scenario("database-rm", ("rm", "alpha", "beta"), two, without("alpha", "beta"), is_shared=True),
    Scenario("database-compact", ("compact",), two, is_shared=True),
    Scenario("database-key-rotate", ("key", "rotate"), two, is_shared=True),
]  # fmt: skip
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
