"""What Package.swift asks of those who depend on the package."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from documents import ROOT

VARIABLE = "VAULT_WARNINGS_AS_ERRORS"


def targets_with_strict_warnings(scratch: Path, environment: dict[str, str]) -> tuple[set[str], set[str]]:
    """The targets with settings for Swift, and those of them whose warnings are errors."""
    dumped = subprocess.run(
        ["swift", "package", "--scratch-path", scratch, "dump-package"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    kinds = {
        target["name"]: {kind for setting in target["settings"] for kind in setting["kind"]}
        for target in json.loads(dumped.stdout)["targets"]
        if target["settings"]
    }
    return set(kinds), {name for name, set_kinds in kinds.items() if "treatAllWarnings" in set_kinds}


@pytest.mark.parametrize("is_asked_for", [False, True])
def test_warnings_are_errors_only_where_the_environment_asks_for_it(tmp_path: Path, is_asked_for: bool) -> None:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if is_asked_for:
        environment[VARIABLE] = "1"
    targets, strict = targets_with_strict_warnings(tmp_path, environment)
    assert {"Vault", "VaultAccount", "VaultTesting", "VaultCommand"} <= targets
    assert strict == (targets if is_asked_for else set())
