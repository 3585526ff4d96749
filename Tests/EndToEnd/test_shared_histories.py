"""Random histories of several machines that share a vault in a database, checked against a model: connections are cut,
the server is killed and started again, machines change things offline, and copies are merged.

VAULT_HISTORIES says how many; 2 without it. VAULT_HISTORY names one seed alone.
"""

import os
import random
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from homes import Home, told
from postgres import Cluster
from proxies import Proxy

NAMES = ("a", "b", "c/d", "e")
MACHINES, STEPS = 3, 25
IO = 8

State = dict[str, bytes]
# What a name may have after a change: one of these; None is none.
Change = dict[str, set[bytes | None]]


@dataclass
class Machine:
    """A home, and what it has changed while it was offline."""

    home: Home
    pending: dict[str, bytes | None] = field(default_factory=dict)
    # What others have changed since it last had contact.
    missed: set[str] = field(default_factory=set)


class World:
    """The machines, their server, and the model: what the vault has to hold."""

    def __init__(self, binary: str, folder: Path, seed: int):
        self.random = random.Random(seed)
        self.told = [f"seed {seed}"]
        self.values: State = {}
        # What `restore` brings back, of the names of which that is known.
        self.before: State = {}
        # The names that the newest change changed, with what they were; None if that is not known.
        self.newest: dict[str, bytes | None] | None = None
        self.count = 0
        self.cluster = Cluster().create()
        self.proxy = Proxy(self.cluster)
        self.direct = Home(binary, folder / "m0", {"VAULT_FILE": self.proxy.url()})
        self.direct.output("init")
        self.machines = [Machine(self.direct)]
        for number in range(1, MACHINES):
            home = Home(binary, folder / f"m{number}", self.direct.variables)
            home.key.parent.mkdir(parents=True)
            shutil.copy(self.direct.key, home.key)
            self.machines.append(Machine(home))

    def close(self) -> None:
        self.proxy.close()
        self.cluster.remove()

    # Running

    def run(self, machine: Machine, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """A run that may meet a fault."""
        self.proxy.forget()
        fault = self.random.choices((None, "cut", "kill", "server"), (6, 3, 1, 1))[0]
        what = ""
        if fault == "cut":
            self.proxy.cut = side, number = self.random.choice(("client", "server")), self.random.randrange(40)
            what = f"{side} {number}"
        given = machine.home.folder / "given"
        given.write_bytes(stdin)
        with given.open("rb") as file:
            process = machine.home.start(*words, stdin=file)
        if fault in ("kill", "server"):
            pause = self.random.random() * 0.05
            what = f"after {pause * 1000:.0f} ms"
            time.sleep(pause)
            if fault == "kill":
                process.kill()
            else:
                self.cluster.kill()
                self.cluster.start()
        output, errors = process.communicate(timeout=60)
        self.proxy.cut = None
        self.cluster.wait_until_idle()
        self.told.append(
            f"machine {self.machines.index(machine)}: {' '.join(words)} {stdin[:20]}, {fault} {what}: "
            f"{process.returncode} {errors.decode()[:200]}")
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    # The model

    def change(self, machine: Machine, change: Change, *words: str, stdin: bytes = b"") -> None:
        """Runs a command that is to change names so, and takes what has become of it into the model."""
        had_pending = bool(machine.pending)
        finished = self.run(machine, *words, stdin=stdin)
        killed = finished.returncode < 0
        assert killed or finished.returncode in (0, IO), told(finished)
        unknown = killed or b"may or may not" in finished.stderr
        # What was offline is merged first, if there was contact. A warning says that it is not, and that it waits.
        merged = self.merged(machine)
        starts = [self.allowed({}), merged] if machine.pending else [self.allowed({})]
        if is_surely_merged(finished):
            starts = starts[-1:]
        ends = [start | change for start in starts]
        allowed = ends if finished.returncode == 0 else starts + ends if unknown else starts
        found = self.found()
        assert any(fits(found, state) for state in allowed), f"{found} is none of {allowed}"
        if is_surely_merged(finished) or not fits(found, starts[0]) and not fits(found, starts[0] | change):
            self.contact(machine)
        self.learn(machine, found, is_known=not had_pending)

    def allowed(self, change: Change) -> Change:
        return {name: {self.values.get(name)} for name in NAMES} | change

    def merged(self, machine: Machine) -> Change:
        """What the vault holds once a machine's offline changes are in it. If others have changed the same name, the
        later change counts: the clocks decide."""
        return self.allowed({
            name: {value, self.values.get(name)} if name in machine.missed else {value}
            for name, value in machine.pending.items()
        })

    def contact(self, machine: Machine) -> None:
        machine.pending, machine.missed = {}, set()

    def learn(self, by: Machine, found: State, is_known: bool) -> None:
        """Takes over what the vault holds now."""
        changed = {name: self.values.get(name) for name in NAMES if self.values.get(name) != found.get(name)}
        for machine in self.machines:
            if machine is not by:
                machine.missed |= set(changed)
        if not is_known:
            self.newest = None
        if not changed:
            return
        for name, former in changed.items():
            if is_known and former is not None:
                self.before[name] = former
            else:
                self.before.pop(name, None)
        if is_known:
            self.newest = changed
        self.values = found

    def found(self) -> State:
        """What the vault holds, for a machine without anything of its own."""
        reader = next(machine for machine in self.machines if not machine.pending)
        reader.missed = set()
        return reader.home.values()

    # What machines do

    def step(self) -> None:
        machine = self.random.choice(self.machines)
        operation = self.random.choices(
            (self.set, self.remove, self.read, self.restore, self.undo, self.upkeep, self.offline, self.copy),
            (6, 3, 3, 2, 2, 3, 3, 1))[0]
        operation(machine)

    def value(self) -> bytes:
        self.count += 1
        size = self.random.choice((0, 0, 0, 2_000, 400_000))
        return b"%d" % self.count + b"." * size

    def set(self, machine: Machine) -> None:
        name, value = self.random.choice(NAMES), self.value()
        self.change(machine, {name: {value}}, "set", "--exact", name, stdin=value)

    def remove(self, machine: Machine) -> None:
        present = [name for name in NAMES if name in self.values and name not in machine.pending]
        names = self.random.sample(present, min(len(present), self.random.randint(1, 2)))
        if names:
            self.change(machine, {name: {None} for name in names}, "rm", "--force", *names)

    def restore(self, machine: Machine) -> None:
        name = self.random.choice(NAMES)
        if name in self.before and not machine.pending:
            self.change(machine, {name: {self.before[name]}}, "restore", name)
            self.before.pop(name, None)

    def undo(self, machine: Machine) -> None:
        if self.newest is None or machine.pending:
            return
        newest = self.newest
        self.change(machine, {name: {value} for name, value in newest.items()}, "undo")
        for name in newest:
            self.before.pop(name, None)

    def upkeep(self, machine: Machine) -> None:
        self.change(machine, {}, *self.random.choice((("compact",), ("key", "rotate"), ("verify",))))

    def read(self, machine: Machine) -> None:
        """What is read is right, also by a machine that has changes of its own, which are merged by that."""
        name = self.random.choice(NAMES)
        allowed = self.merged(machine)[name]
        finished = self.run(machine, "get", name)
        if not is_surely_merged(finished):
            allowed = allowed | {self.values.get(name)}
        if finished.returncode in (0, 3):
            assert (finished.stdout if finished.returncode == 0 else None) in allowed, told(finished)
        else:
            assert finished.returncode in (IO, -9), told(finished)
        self.change(machine, {}, "ls")

    def offline(self, machine: Machine) -> None:
        """One machine stays online."""
        if sum(1 for other in self.machines if other.pending and other is not machine) == MACHINES - 1:
            return
        if not machine.pending:
            # Its copy is complete then, and as new as the vault.
            machine.home.output("verify")
            self.contact(machine)
        name, value = self.random.choice(NAMES), self.random.choice((None, self.value()))
        has_value = machine.pending.get(name, self.values.get(name) if name not in machine.missed else None) is not None
        if value is None and not has_value:
            return
        words = ("rm", "--offline", name) if value is None else ("set", "--exact", "--offline", name)
        machine.home.output(*words, stdin=value or b"")
        machine.pending[name] = value
        self.told.append(f"machine {self.machines.index(machine)}: {' '.join(words)} {value and value[:20]}")
        assert machine.home.output("get", "--offline", name) == value if value else True

    def copy(self, machine: Machine) -> None:
        """Clones the vault to a file, changes that, and merges it."""
        if machine.pending:
            return
        file = machine.home.folder / f"{self.count}.vault"
        machine.home.output("clone", machine.home.variables["VAULT_FILE"], str(file))
        # Without a memory: what was changed in the file is not yet in the database.
        clone = machine.home.without_memory().with_variables(VAULT_FILE=str(file))
        clone.output("verify")
        assert clone.values() == self.values
        name, value = self.random.choice(NAMES), self.value()
        clone.set(name, value)
        self.change(machine, {name: {value}}, "merge", str(file))
        self.before.pop(name, None)
        self.newest = None

    def end(self) -> None:
        """All that was done offline arrives, and all machines see the same."""
        for machine in self.machines:
            while machine.pending:
                self.change(machine, {}, "ls")
        for machine in self.machines:
            machine.home.output("verify")
            assert machine.home.values() == self.values


def is_surely_merged(finished: subprocess.CompletedProcess[bytes]) -> bool:
    return finished.returncode in (0, 3) and b"warning" not in finished.stderr


def fits(found: State, allowed: Change) -> bool:
    return all(found.get(name) in values for name, values in allowed.items())


def seeds() -> range:
    if one := os.environ.get("VAULT_HISTORY"):
        return range(int(one), int(one) + 1)
    return range(1, 1 + int(os.environ.get("VAULT_HISTORIES", "2")))


@pytest.mark.parametrize("seed", seeds())
def test_each_machine_sees_what_the_model_says(binary: str, tmp_path: Path, seed: int) -> None:
    world = World(binary, tmp_path, seed)
    try:
        for _ in range(STEPS):
            world.step()
        world.end()
    except BaseException:
        print("\n".join(world.told))
        raise
    finally:
        world.close()
