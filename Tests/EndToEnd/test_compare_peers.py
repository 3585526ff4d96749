"""Tools/compare-peers: its attacks succeed on a plain file, and its table is compared by outcome."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "Tools/ComparePeers"
sys.path.append(str(TOOL))

from table import BEGIN, END, Column, differences, placed, table

ATTACKS = ["One byte changed", "Truncated"]
DOCUMENT = f"# Before\n\n{BEGIN}\n{END}\n\nafter\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
@pytest.mark.needs("strace")
def test_every_attack_does_harm_to_a_plain_file() -> None:
    """An attack without harm to the control is a failure of the tool."""
    command = [sys.executable, str(TOOL / "compare.py"), "--only", "plain", "--samples", "8"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert finished.returncode == 0, finished.stderr
    assert "not measured" not in finished.stdout


def measured(*cells: str) -> str:
    return table(ATTACKS, [Column("pass", "pass<br>1.7.4", dict(zip(ATTACKS, cells)))])


def test_the_table_stands_between_its_two_lines() -> None:
    text = measured("20 noticed", "5 **wrong value**")
    written = placed(DOCUMENT, text)
    assert written == DOCUMENT.replace(END, f"{text}\n{END}")
    assert placed(written, text) == written
    with pytest.raises(ValueError):
        placed("# Before\n", text)


@pytest.mark.parametrize(
    ("cells", "different"),
    [
        (("20 noticed", "5 **wrong value**"), []),
        (("19 noticed, 1 harmless", "4 **wrong value**"), []),
        (("19 noticed, 1 **wrong value**", "5 **wrong value**"), ["One byte changed"]),
        (("20 noticed", "5 noticed"), ["Truncated"]),
        (("20 noticed",), ["Truncated"]),
    ],
)
def test_a_table_differs_where_an_outcome_does_and_not_where_a_count_does(
    cells: tuple[str, ...], different: list[str]
) -> None:
    document = placed(DOCUMENT, measured("20 noticed", "5 **wrong value**"))
    assert [line.split(",")[0] for line in differences(document, measured(*cells))] == different


def test_what_was_not_measured_is_told_with_its_reason() -> None:
    text = table(ATTACKS, [Column("gopass", "gopass", reasons=["there is no such package"])])
    assert text.count("| not measured") == len(ATTACKS) and "there is no such package" in text
