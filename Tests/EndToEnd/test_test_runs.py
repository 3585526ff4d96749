"""Tools/test: its modules, and tests of programs that are missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_an_unknown_module_is_a_usage_error_that_lists_the_modules() -> None:
    refused = subprocess.run([ROOT / "Tools/test", "Valut"], capture_output=True, text=True)
    assert refused.returncode == 2 and "there is no module 'Valut'" in refused.stderr
    listed = refused.stderr.split()
    assert all(path.name.removesuffix("Tests") in listed for path in (ROOT / "Tests").glob("*Tests"))


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.needs('mandoc')\ndef test_it(): pass",
        "def test_it(): subprocess.run(['mandoc'])",
    ],
)
def test_without_a_program_its_test_is_skipped_and_fails_in_the_full_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "Tests/conftest.py").read_text())
    (tmp_path / "programs.txt").write_text("mandoc mandoc-package\n")
    (tmp_path / "test_it.py").write_text(f"import subprocess, pytest\n{text}\n")
    words = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", tmp_path / "test_it.py"]
    for complete, code, outcome in [("0", 0, "1 skipped"), ("1", 1, "1 ")]:
        environment = os.environ | {"PATH": "/nowhere", "VAULT_TESTS_COMPLETE": complete}
        ran = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == code and outcome in ran.stdout and "mandoc-package" in ran.stdout, ran.stdout


def test_a_build_that_lacks_packages_says_how_they_are_installed(tmp_path: Path) -> None:
    script = f"source {ROOT}/Tools/lib/common.sh; source {ROOT}/Tools/lib/packages.sh; missing=(b a b); install_missing"
    environment = os.environ | {"VAULT_INSTALLS_PACKAGES": "false"}
    ran = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
    assert ran.returncode == 1 and "sudo apt-get install --no-install-recommends a b" in ran.stderr
