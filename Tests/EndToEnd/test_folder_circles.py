"""The check that no circles of references lead from folder to folder."""

import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "Tools/lib"
sys.path.insert(0, str(LIBRARY))

from folders import circles, edges
from swift_index import Occurrence


def declares(name: str) -> Occurrence:
    return Occurrence(f"s:{name}", name, True)


def refers(name: str) -> Occurrence:
    return Occurrence(f"s:{name}", name, False)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], []),
        ([("A", "B"), ("B", "C"), ("A", "C")], []),
        ([("A", "B"), ("B", "A")], [("A", "B")]),
        ([("C", "A"), ("B", "C"), ("A", "B")], [("A", "B", "C")]),
        ([(".", "A"), ("A", "."), ("B", "A")], [(".", "A")]),
        ([("A", "A/B"), ("A/B", "A")], [("A", "A/B")]),
        ([("A", "B"), ("B", "A"), ("B", "C"), ("C", "A")], [("A", "B"), ("A", "B", "C")]),
        ([("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")], [("A", "B"), ("C", "D")]),
    ],
)
def test_each_edge_of_a_circle_is_reported_once(found, expected):
    assert circles(found) == expected


def test_only_references_to_declarations_in_other_folders_are_edges():
    found = edges(
        {
            Path("Root.swift"): [declares("root"), refers("system")],
            Path("A/One.swift"): [declares("one"), refers("two"), refers("root"), refers("three"), refers("three")],
            Path("A/Two.swift"): [declares("two")],
            Path("A/B/Three.swift"): [declares("three")],
        }
    )
    assert {edge: references.total() for edge, references in found.items()} == {("A", "."): 1, ("A", "A/B"): 2}


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A module with a circle: each folder uses what the other one declares."""
    module = tmp_path / "Sources/Module"
    for path, text in {
        "A/Thing.swift": "struct Thing { func first() { second() } }",
        "B/Thing+Second.swift": "extension Thing { func second() {} }",
        "B/Other.swift": "struct Other {}",
    }.items():
        (module / path).parent.mkdir(parents=True, exist_ok=True)
        (module / path).write_text(text)
    return module


def checked(module: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, LIBRARY / "folders.py", module.parent, module.parents[1] / "index"]
    return subprocess.run(command, capture_output=True, text=True)


def built_and_checked(module: Path) -> subprocess.CompletedProcess:
    files = sorted(module.rglob("*.swift"))
    command = ["swiftc", "-c", "-module-name", "Module", "-index-store-path", module.parents[1] / "index", *files]
    subprocess.run(command, cwd=module.parents[1], check=True)
    return checked(module)


def test_a_circle_in_a_built_module_fails_the_check(module: Path):
    result = built_and_checked(module)
    assert (result.returncode, result.stdout) == (
        1,
        "Module: A -> B -> A: A/Thing.swift refers to second() in B/Thing+Second.swift (1 of 1); "
        "B/Thing+Second.swift refers to Thing in A/Thing.swift (1 of 1).\n",
    )


def test_the_check_passes_once_the_circle_is_broken(module: Path):
    built_and_checked(module)
    (module / "B/Thing+Second.swift").rename(module / "A/Thing+Second.swift")
    result = built_and_checked(module)
    assert (result.returncode, result.stdout) == (0, "no circles between the folders of a module\n")


def test_a_file_that_changed_since_the_build_fails_the_check(module: Path):
    built_and_checked(module)
    (module / "B/Other.swift").write_text("struct Another {}")
    result = checked(module)
    assert result.returncode == 1
    assert f"{module / 'B/Other.swift'}: the index is older; run `swift build`\n" in result.stdout


def test_an_index_that_has_lost_a_record_fails_the_check(module: Path):
    built_and_checked(module)
    for record in (module.parents[1] / "index").rglob("Thing.swift-*"):
        if "records" in record.parts:
            record.unlink()
    result = checked(module)
    assert result.returncode == 1
    assert "the index cannot be read" in result.stderr


def test_a_missing_index_fails_the_check(module: Path):
    result = checked(module)
    assert result.returncode == 1
    assert "there is no index" in result.stderr
