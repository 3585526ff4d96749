"""What README, SECURITY, the articles and the doc comments show and name is what the tests run."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from documents import ARTICLES, README, ROOT, SECURITY, SNIPPETS, SOURCES, Block, blocks, named_tests, occurs
from homes import Home

SWIFT = [block for block in blocks("swift", README, *ARTICLES, *SOURCES) if not block.is_manifest]
MANIFESTS = [block for block in blocks("swift", README, *ARTICLES) if block.is_manifest]
COMMANDS = [block for block in blocks("sh", README, *ARTICLES) if re.search(r"\bvault \w", block.code)]

# What the README's commands meet on a developer's machine. What they print here is no secret.
STAND_INS = {
    "gh": "#!/bin/sh\necho a-token-of-tests\n",
    "zbarimg": "#!/bin/sh\necho 'otpauth://totp/mia?secret=GEZDGNBVGY3TQOJQ'\n",
    "ssh-add": "#!/bin/sh\ngrep -q 'OPENSSH PRIVATE KEY' || exit 1\n",
}


def test_there_are_snippets_in_the_readme_and_in_every_article() -> None:
    shown = {block.file for block in SWIFT}
    articles = {path for path in ARTICLES if path.parent.name == "Articles"}
    assert articles and README in shown
    assert not articles - shown, "an article without a snippet"
    assert shown & set(SOURCES), "no doc comment has a snippet"


def test_each_article_is_listed_in_the_readme_and_on_its_modules_page() -> None:
    for path in (path for path in ARTICLES if path.parent.name == "Articles"):
        catalogue = path.parent.parent
        assert f"- <doc:{path.stem}>" in (catalogue / f"{catalogue.stem}.md").read_text()
        assert f"]({path.relative_to(ROOT)})" in README.read_text()


def test_each_block_names_its_language() -> None:
    """One that names none would be checked by nobody."""
    assert not [str(block) for block in blocks("", README, *ARTICLES, *SOURCES)]


@pytest.mark.parametrize("block", SWIFT, ids=str)
def test_a_swift_snippet_is_one_that_the_tests_compile_and_run(block: Block) -> None:
    files = [path.read_text().split("\n") for path in SNIPPETS]
    assert any(occurs(block.code, lines) for lines in files), (
        f"{block} is not code that the tests compile and run, as it stands:\n{block.code}"
    )


@pytest.mark.parametrize("block", MANIFESTS, ids=str)
def test_a_manifest_names_products_that_there_are(block: Block) -> None:
    named = re.findall(r'\.product\(name: "(\w+)", package: "vault"\)', block.code)
    products = re.findall(r'\.library\(name: "(\w+)"', (ROOT / "Package.swift").read_text())
    assert named and set(named) <= set(products)


def test_there_are_commands_in_the_readme() -> None:
    assert len(COMMANDS) >= 2


@pytest.mark.parametrize("block", COMMANDS, ids=str)
def test_the_commands_of_a_block_run(block: Block, home: Home, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "vault").symlink_to(home.binary)
    for name, script in STAND_INS.items():
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    # The block may call the command as Tools/vault; the script would look for a build first.
    (home.folder / "Tools").symlink_to(programs)
    (home.folder / ".ssh").mkdir()
    key = home.folder / ".ssh/id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    shutil.copy(ROOT / "Tests/EndToEnd/imports/bitwarden.json", home.folder / "export.json")
    environment = home.environment | {"PATH": f"{programs}:{os.environ['PATH']}"}
    if not re.search(r"vault (set|init)", block.code):
        home.set("u.token", b"a-token")
    # What is asked for at a terminal comes through a pipe.
    ran = subprocess.run(
        ["sh", "-eu", "-c", block.code], input=b"a-token\n", env=environment, cwd=home.folder, capture_output=True
    )
    assert ran.returncode == 0, f"{block}: {ran.stderr.decode()}"


def test_the_tests_that_security_names_exist() -> None:
    named = list(named_tests(SECURITY.read_text()))
    assert len(named) > 20
    files = {path.name: path.read_text() for path in (ROOT / "Tests").rglob("*") if path.suffix in (".py", ".swift")}
    for file, test in named:
        assert file in files, f"SECURITY.md names {file}, which there is not"
        assert not test or re.search(rf"\b(def|func) {test}\b", files[file]), f"SECURITY.md names {file}::{test}"


def test_each_error_code_is_on_its_page() -> None:
    codes = re.findall(r"public static let (\w+) = Code\(", (ROOT / "Sources/PlainStores/VaultError.swift").read_text())
    page = (ROOT / "Sources/Vault/Vault.docc/Articles/ErrorCodes.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert codes and sorted(listed) == sorted(codes)
