"""Mistakes that the compiler finds: each file here compiles with CONTROL defined, and without it fails as it says."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNIPPETS = sorted((Path(__file__).parent / "must_not_compile").glob("*.swift"))
EXPECTED = re.compile(r"^// error: (.+)$", re.MULTILINE)


@pytest.fixture(scope="session")
def compiler() -> list[str]:
    """The words that check a file against the modules of the debug build, as SwiftPM has them."""
    shown = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, capture_output=True, text=True, check=True)
    built = Path(shown.stdout.strip())
    if not (built / "Modules/Vault.swiftmodule").is_file():
        pytest.fail(f"there is no debug build in {built}; `swift build` makes it", pytrace=False)
    maps = [*(ROOT / "Sources").glob("*/module.modulemap"), built / "CLinux.build/module.modulemap"]
    headers = subprocess.run(["pkg-config", "--cflags", "libpq"], capture_output=True, text=True, check=True)
    return [
        # Not -typecheck: what must not be copied is found after it.
        *("swiftc", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-parse-as-library"),
        *("-I", str(built / "Modules")),
        *(word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")),
        *("-Xcc", f"-I{ROOT / 'Sources/CLinux/include'}"),
        *(word for option in headers.stdout.split() for word in ("-Xcc", option)),
    ]


def errors(compiler: list[str], snippet: Path, *options: str) -> list[str]:
    finished = subprocess.run([*compiler, *options, str(snippet)], capture_output=True, text=True, timeout=300)
    found = re.findall(r"error: (.*)$", finished.stderr, re.MULTILINE)
    assert bool(found) == (finished.returncode != 0), finished.stderr
    return found


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.stem)
def test_the_mistake_is_an_error_and_its_mended_form_is_none(compiler: list[str], snippet: Path) -> None:
    expected = EXPECTED.findall(snippet.read_text())
    assert expected, "the file has to say the error that it expects"
    assert errors(compiler, snippet, "-D", "CONTROL") == []
    found = errors(compiler, snippet)
    for text in expected:
        assert any(text in error for error in found), found


def test_there_are_mistakes_to_check() -> None:
    assert len(SNIPPETS) >= 5
