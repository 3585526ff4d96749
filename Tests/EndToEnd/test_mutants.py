"""The lists of mutants in Tests/Mutants fit the sources, SECURITY.md and the tests. Tools/mutate runs them."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tools/lib"))

from mutants import ListError, Mutants

ENTRY = {
    "name": "a-check-skipped",
    "file": "Module/File.swift",
    "original": "isSound",
    "replacement": "true",
    "reason": "Damage goes unnoticed.",
    "promise": "Damage is noticed.",
    "tests": "DamageTests",
}


def read(folder: Path, *entries: dict[str, str], source: str = "if isSound { use() }") -> Mutants:
    """The mutants of a project of one source file."""
    for path, text in {
        "Sources/Module/File.swift": source,
        "Tests/DamageTests.swift": "struct DamageTests { @Test func isNoticed() {} }",
        "SECURITY.md": "Damage is\nnoticed.",
        "Tests/Mutants/Module.toml": "\n".join(
            "\n".join(["[[mutant]]", *(f"{key} = '''{text}'''" for key, text in entry.items())]) for entry in entries
        ),
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return Mutants.read(folder)


def test_the_lists_fit_the_project() -> None:
    mutants = Mutants.read(ROOT)
    assert list(mutants.complaints()) == []
    assert len(mutants.all) >= 60
    assert len([mutant for mutant in mutants.all if mutant.simulator]) >= 10


def test_the_bugs_that_are_planted_in_the_models_are_mutants_of_the_code() -> None:
    lines = (ROOT / "Tests/Models/checks.txt").read_text().splitlines()
    planted = [line for line in lines if "PLANT_" in line and not line.startswith("#")]
    names = {mutant.name for mutant in Mutants.read(ROOT).all}
    assert [line for line in planted if line.partition(" = ")[2] not in names] == []
    assert len(planted) >= 25


def test_a_mutant_becomes_a_switch(tmp_path: Path) -> None:
    mutants = read(tmp_path, ENTRY)
    assert list(mutants.complaints()) == []
    number = mutants.all[0].number
    assert mutants.sources()["Module/File.swift"] == f"if (mutant({number}) ? (true) : (isSound)) {{ use() }}"
    mutants = read(tmp_path, ENTRY | {"kind": "statement", "original": "use()", "replacement": ""})
    assert mutants.sources()["Module/File.swift"] == f"if isSound {{ if mutant({number}) {{  }} else {{ use() }} }}"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"original": "isWhole"}, "has this text 0 times, not once"),
        ({"original": "i"}, "has this text 2 times, not once"),
        ({"around": "if isSound {", "original": "use()"}, "its `around` has this text 0 times, not once"),
        ({"file": "Module/Other.swift"}, "there is no file Sources/Module/Other.swift"),
        ({"kind": "statement", "original": "isSound"}, "a part of a statement"),
        ({"original": "if isSound"}, "no expression"),
        ({"original": "isSound {"}, "no expression"),
        ({"replacement": "? true : false"}, "no expression"),
        ({"replacement": "!"}, "no expression"),
        ({"promise": "Damage is repaired."}, "SECURITY.md does not say: Damage is repaired."),
        ({"tests": "DamageTests|OtherTests"}, "there is no test OtherTests"),
        ({"tests": "DamageTests/isRepaired"}, "there is no test DamageTests/isRepaired"),
    ],
)
def test_a_list_that_is_stale_is_told(tmp_path: Path, change: dict[str, str], complaint: str) -> None:
    (told,) = read(tmp_path, ENTRY | change).complaints()
    assert complaint in told


def test_mutants_that_overlap_are_told(tmp_path: Path) -> None:
    (told,) = read(tmp_path, ENTRY, ENTRY | {"name": "another", "original": "Sound"}).complaints()
    assert "overlaps" in told


@pytest.mark.parametrize(
    "change",
    [{"kind": "file"}, {"tests": ""}, {"reasons": "None."}, {"around": "// Unless it is sound.\nif isSound"}],
    ids=["kind", "no judge", "key", "comment"],
)
def test_an_entry_that_is_wrong_is_an_error(tmp_path: Path, change: dict[str, str]) -> None:
    with pytest.raises(ListError):
        read(tmp_path, ENTRY | change)
