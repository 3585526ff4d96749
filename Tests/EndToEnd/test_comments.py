"""Tools/lib/comments.py finds comments without a subject."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKER = Path(__file__).resolve().parents[2] / "Tools/lib/comments.py"


def checked(folder: Path, text: str, file: str = "Module/File.swift") -> subprocess.CompletedProcess:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return subprocess.run([sys.executable, CHECKER, folder], capture_output=True, text=True)


@pytest.mark.parametrize(
    "comment",
    [
        "/// What the header holds.",
        "// What the header holds, over\n// two lines.",
        "    /// Of the whole record.",
        "/// Those that stay.",
        "/// Where it begins.",
        "/// As it is written.",
        "/// Whose key it is.",
        "/// That of the hash.",
        "/// For how many days it is kept.",
        "/// From when on it counts.",
        "/// When it was set.",
        "/// Returns the size.\n///\n/// What else there is.",
        "let a = 1\n// Of that.\nlet b = 2",
    ],
)
def test_a_comment_without_a_subject_is_found(tmp_path: Path, comment: str) -> None:
    result = checked(tmp_path, f"{comment}\nlet x = 1\n")
    assert result.returncode == 1 and result.stdout.count("the comment begins with") == 1


@pytest.mark.parametrize(
    "comment",
    [
        "/// Returns what the header holds.",
        "/// The size of the whole record.",
        "/// Returns the offset\n/// of the record.",
        "/// Whether it is a file.",
        "/// Asks the server.",
        "// When the process starts, it reads the file.",
        "/// Returns the size.\n///\n/// When the file is missing, this is 0.",
        'let text = "// What"',
        "let a = 1  // What follows code is not judged.",
        "//\tOften there is none.",
    ],
)
def test_a_whole_sentence_is_fine(tmp_path: Path, comment: str) -> None:
    result = checked(tmp_path, f"{comment}\nlet x = 1\n")
    assert result.returncode == 0 and result.stdout.startswith("every comment begins")


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("a.c", "int a;\n// Of a child.\n", 2),
        ("a.h", "\n\n/// What statx(2) tells.\nint a;\n", 3),
        ("a.py", "def f():\n    # Those alone.\n    pass\n", 2),
        ("a.py", 'def f():\n    """What it is."""\n', 2),
        ("a.py", '"""Checks something.\n\nOf all.\n"""\n', 3),
        ("a.sh", "#!/bin/sh\n# Where it is.\n", 2),
    ],
)
def test_each_language_is_read(tmp_path: Path, file: str, text: str, line: int) -> None:
    result = checked(tmp_path, text, file)
    assert result.returncode == 1 and f"{file}:{line}: " in result.stdout and result.stdout.count("\n") == 1


def test_each_folder_of_the_command_line_is_read(tmp_path: Path) -> None:
    for folder in ["A", "B", "C"]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "File.swift").write_text("// Of that.\n")
    command = [sys.executable, CHECKER, tmp_path / "A", tmp_path / "C"]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    assert "A/File" in output and "C/File" in output and "B/File" not in output
