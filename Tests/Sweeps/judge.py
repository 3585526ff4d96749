"""What must hold after a fault: the old state or the new one, and the vault goes on."""

import signal
import subprocess
from dataclasses import dataclass

from cases import require
from homes import VAULT_AND_KEY, Home
from layout import KEY_SLOTS
from scenarios import Scenario, State
from tracing import Call

EXIT_LOCKED, EXIT_IO, EXIT_ALARM = 5, 8, 9
MEMORY_FILES = {".seen", ".path", ".upkeep"}


def state_of(home: Home) -> State:
    """What a vault holds that has to be intact."""
    if not home.vault.exists():
        return None
    home.output("verify")
    return home.values()


def files(home: Home, scenario: Scenario) -> list[str]:
    if scenario.is_shared:
        return VAULT_AND_KEY[:1]
    own = VAULT_AND_KEY[1:] if "VAULT_KEY_FILE" in home.variables else VAULT_AND_KEY
    return sorted([*own, *scenario.files])


@dataclass
class Ready:
    """A scenario in a home, to be run again and again from the state of its template."""

    home: Home
    template: Home
    old: State
    # The old vault; None if there is none.
    image: bytes | None
    # Of a run without a fault.
    calls: list[Call]
    output: bytes


def judge(
    ready: Ready, scenario: Scenario, finished: subprocess.CompletedProcess[bytes], is_output: bool, is_flushed: bool
) -> None:
    """The state after a run into which a fault was put: where the run tells its result (`is_output`), or after what it
    changed was flushed."""
    home, old = ready.home, ready.old
    if scenario.name == "salvage":
        return judge_salvage(home, ready.template, finished)
    new = scenario.change(old or {})
    killed = finished.returncode == -signal.SIGKILL
    require(killed or finished.returncode in (0, EXIT_LOCKED, EXIT_IO), "it ended with", finished)
    require(killed or is_output or finished.returncode == 0 or finished.stderr != b"", "no word on the error", finished)
    acknowledged = finished.returncode == 0 or is_flushed or (finished.stdout != b"" and not is_output)
    whole = finished.stdout == ready.output if finished.returncode == 0 else finished.stdout in (b"", ready.output)
    require(whole or is_output or old is None, "a wrong output", finished)
    unknown = killed or is_output or b"may or may not" in finished.stderr
    allowed = [new] if acknowledged else [old, new, scenario.between] if unknown else [old, scenario.between]
    if scenario.name == "database-key-rotate" and not killed:
        before, after = (image[KEY_SLOTS.start : KEY_SLOTS.stop] for image in (ready.image, home.vault.read_bytes()))
        require((before != after) == (finished.returncode == 0) or unknown, "the exit code does not tell", finished)
    if scenario.accepting:
        home.output(*scenario.accepting)
    found = state_of(home)
    require(found in allowed, f"neither old nor new: {found and sorted(found)}", finished)
    if finished.returncode == 0 and old is not None and new != old and b"warning" not in finished.stderr:
        rollback_is_noticed(home, ready.image)
    goes_on(home, found, files(home, scenario))


def rollback_is_noticed(home: Home, older: bytes) -> None:
    newer = home.vault.read_bytes()
    home.vault.write_bytes(older)
    code = home.run("ls").returncode
    home.vault.write_bytes(newer)
    require(code == EXIT_ALARM, f"what was acknowledged can be taken back unnoticed: exit {code}")


def goes_on(home: Home, found: State, expected: list[str]) -> None:
    """The vault takes another value, nothing is left behind, and it can be compacted."""
    home.set("afterwards", b"kept")
    require(home.files() == expected, "something is left behind:", home.files())
    others = {path.name for path in home.memory.iterdir() if path.suffix not in MEMORY_FILES}
    require(not others, "something is left in the memory's folder:", others)
    home.output("compact")
    home.output("verify")
    require(home.values() == (found or {}) | {"afterwards": b"kept"}, "a value is lost or changed afterwards")


def judge_salvage(home: Home, template: Home, finished: subprocess.CompletedProcess[bytes]) -> None:
    """The damaged vault is left alone, and the new one is whole or not there."""
    require(home.vault.read_bytes() == template.vault.read_bytes(), "the damaged vault was written to")
    out = home.folder / "out.vault"
    require(finished.returncode != 0 or out.exists(), "acknowledged, and no vault", finished)
    if not out.exists():
        home.output("salvage", "out.vault")
    require(home.files() == sorted([*VAULT_AND_KEY, "out.vault"]), "something is left behind:", home.files())
    salvaged = home.with_variables(VAULT_FILE=str(out))
    salvaged.output("verify")
    names = salvaged.names()
    require(names == ["alpha", "beta", "delta", "epsilon", "gamma"], "a name is missing:", names)
    salvaged.set("afterwards", b"kept")
    out.unlink()
