"""What a release build links: the newest revisions, asked for at most once a day, and named by the executable."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from documents import ROOT
from homes import Home
from json_shapes import is_documented

needs_dpkg = pytest.mark.skipif(not shutil.which("dpkg-query"), reason="there is no dpkg")


class Build:
    """The scripts with a root folder of their own, and an apt-get that only says what it was asked for."""

    def __init__(self, folder: Path, *, is_offline: bool = False) -> None:
        self.folder, self.said = folder, folder / "apt"
        (folder / "bin").mkdir()
        (folder / ".build").mkdir()
        program = folder / "bin/apt-get"
        program.write_text(f'#!/bin/sh\necho "$*" >>{self.said}\nexit {100 if is_offline else 0}\n')
        program.chmod(0o755)

    def run(self, line: str) -> subprocess.CompletedProcess:
        script = f'source "{ROOT}/Tools/lib/build.sh"; asked={self.folder}/.build/libraries.asked; root={self.folder}\n{line}'
        environment = os.environ | {"PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        words = ["bash", "-euo", "pipefail", "-c", script, "Tools/vault"]
        return subprocess.run(words, env=environment, capture_output=True, text=True)

    @property
    def questions(self) -> list[str]:
        return self.said.read_text().splitlines() if self.said.exists() else []


@needs_dpkg
def test_newer_revisions_are_asked_for_once_a_day(tmp_path: Path) -> None:
    build = Build(tmp_path)
    first = build.run("ask_for_newer_libraries vault")
    assert first.returncode == 0 and "Asking for newer revisions of" in first.stderr and "libexpat1-dev" in first.stderr
    update, upgrade = build.questions
    assert update.endswith("update") and "--only-upgrade" in upgrade
    for package in ("libsodium-dev", "libexpat1-dev", "nettle-dev", "libc6-dev"):
        assert package in upgrade.split()
    again = build.run("ask_for_newer_libraries vault")
    assert (again.returncode, again.stderr, len(build.questions)) == (0, "", 2)
    os.utime(tmp_path / ".build/libraries.asked", (0, 0))
    assert build.run("ask_for_newer_libraries vault").returncode == 0 and len(build.questions) == 4


@needs_dpkg
def test_a_quick_run_asks_nothing(tmp_path: Path) -> None:
    build = Build(tmp_path)
    assert build.run("asks_for_libraries=false; ask_for_newer_libraries vault").returncode == 0
    assert build.questions == []
    assert "! $quick || asks_for_libraries=false" in (ROOT / "Tools/test").read_text()


@needs_dpkg
def test_without_the_archives_what_is_here_is_linked_and_that_is_said(tmp_path: Path) -> None:
    build = Build(tmp_path, is_offline=True)
    finished = build.run("ask_for_newer_libraries vault")
    assert finished.returncode == 0 and "Warning: that was not possible here" in finished.stderr
    assert len(build.questions) == 1


@needs_dpkg
def test_an_archive_that_nobody_names_ends_the_build(tmp_path: Path) -> None:
    """The linker's own list of what it has read counts."""
    build = Build(tmp_path)
    (tmp_path / "inputs").write_text("out: \\\n  /nowhere/a.o \\\n  {} \\\n\n{}:\n".format(*2 * (archive("expat"),)))
    assert build.run(f"check_linked vault {tmp_path}/inputs").returncode == 0
    finished = build.run(f"linked_archives() {{ gcc -print-file-name=libc.a; }}; check_linked vault {tmp_path}/inputs")
    assert finished.returncode == 1 and "libexpat1-dev" in finished.stderr


def archive(name: str) -> str:
    folder = subprocess.run(["pkg-config", "--variable=libdir", name], capture_output=True, text=True, check=True)
    return f"{folder.stdout.strip()}/lib{name}.a"


@needs_dpkg
@pytest.mark.parametrize("product", ["vault", "vault-shared"])
def test_the_table_has_the_revision_of_each_package(tmp_path: Path, product: str) -> None:
    rows = [line.split() for line in Build(tmp_path).run(f"library_table {product}").stdout.splitlines()]
    assert {row[2] for row in rows} >= {"expat", "libsodium", "nettle", "glibc"}
    assert ({"openssl"} <= {row[2] for row in rows}) == (product == "vault-shared")
    for package, version, *_ in rows:
        shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", package], capture_output=True, text=True)
        assert version in shown.stdout.split()


def libraries(home: Home) -> list[dict[str, str]] | None:
    report = json.loads(home.output("version", "--json"))
    assert is_documented(report, "version", home)
    return report["libraries"]


@needs_dpkg
def test_the_executable_names_what_it_is_linked_from(home: Home) -> None:
    found = libraries(home)
    program = subprocess.run(["readelf", "--program-headers", home.binary], capture_output=True, text=True)
    assert (found is None) == ("INTERP" in program.stdout), "a plain `swift build` does not know it"
    if found is None:
        return
    assert {library["source"] for library in found} >= {"expat", "libsodium", "nettle", "glibc"}
    for library in found:
        assert re.fullmatch(r"(\d+:)?[\w.+~-]+", library["version"]), library
    assert home.output("version") == home.output("version").splitlines()[0] + b"\n"


@needs_dpkg
def test_the_package_names_the_sources(home: Home, tmp_path: Path) -> None:
    variables = {"VAULT_BINARY": home.binary, "DPKG_DEB_COMPRESSOR_LEVEL": "0"}
    made = subprocess.run([ROOT / "Tools/package"], env=os.environ | variables, capture_output=True, text=True, check=True)
    package = ROOT / made.stderr.strip().removeprefix("Made ").removesuffix(".")
    field = subprocess.run(
        ["dpkg-deb", "--field", package, "Static-Built-Using"], capture_output=True, text=True, check=True
    )
    expected = sorted({f"{one['source']} (= {one['source_version']})" for one in libraries(home) or []})
    assert field.stdout.strip() == ", ".join(expected)
