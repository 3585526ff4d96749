"""Tools/lib/stages.sh keeps the seconds of each stage from run to run, and shows why one failed."""

import subprocess
from pathlib import Path

import pytest

STAGES = Path(__file__).resolve().parents[2] / "Tools/lib/stages.sh"


def closing(root: Path, *stages: str) -> str:
    """What is printed after the last stage."""
    script = "\n".join([f"root={root}", f"source {STAGES}", "start_stages", *stages, "echo closing", "end_stages"])
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.split("\nclosing\n")[1]


def summary(root: Path, *stages: str) -> list[str]:
    return closing(root, *stages).split("=== summary ===\n")[1].splitlines()


def test_the_seconds_of_the_former_run_stand_beside_the_new_ones(tmp_path: Path) -> None:
    (tmp_path / ".build").mkdir()
    assert "was" not in summary(tmp_path, "stage slow echo a", "stage 'slow too' sleep 1")[0]
    (tmp_path / ".build/test-seconds").write_text("71 slow\n72 slow too\n")
    slow, too, _ = summary(tmp_path, "stage slow echo a", "stage 'slow too' echo b")
    assert "(was 71)" in slow and "(was 72)" in too
    assert summary(tmp_path, "stage slow echo a")[0].split()[:6] == ["ok", "slow", "0", "s", "(was", "0)"]


def test_a_stage_that_failed_leaves_the_seconds_of_the_run_that_passed(tmp_path: Path) -> None:
    (tmp_path / ".build").mkdir()
    (tmp_path / ".build/test-seconds").write_text("71 slow\n")
    for _ in range(2):
        assert "(was 71)" in summary(tmp_path, "stage slow false")[0]


@pytest.mark.parametrize("last", [9, 400])
@pytest.mark.parametrize("report", ["ERROR: it broke", "no known word"])
def test_a_stage_that_failed_is_shown_by_its_reports_or_by_its_end(tmp_path: Path, report: str, last: int) -> None:
    (tmp_path / ".build").mkdir()
    fails = f"fails() {{ seq 1 300; echo '{report}'; seq 301 {300 + last}; return 1; }}"
    shown = closing(tmp_path, fails, "stage sweeps fails", "stage other echo passed").split("=== summary ===")[0]
    assert (report in shown) == (report.startswith("ERROR") or last < 20)
    assert "280\n" not in shown and "passed" not in shown and len(shown.splitlines()) <= 62
    assert shown.startswith("\n=== failures in .build/test-logs/sweeps.log ===\n")


@pytest.mark.parametrize(("installs", "outcome"), [("false", "skipped"), ("true", "ok")])
def test_a_stage_whose_packages_are_missing_is_skipped_unless_the_run_installs_them(
    tmp_path: Path, installs: str, outcome: str
) -> None:
    (tmp_path / ".build").mkdir()
    needs = f"source {STAGES.parent}/packages.sh; need_it() {{ need_command no-such-program its-package; }}"
    line, _ = summary(tmp_path, needs, f"VAULT_INSTALLS_PACKAGES={installs}", "stage_needing need_it sweeps true")
    assert line.split()[:2] == [outcome, "sweeps"] and ("its-package" in line) == (outcome == "skipped")
