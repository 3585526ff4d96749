"""The Debian package: made, installed into a root of its own beside HashiCorp's, used, and removed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from homes import Home

PROJECT = Path(__file__).parents[2]
NAME = "vault-keychain"


def make(binary: str) -> subprocess.CompletedProcess:
    """Compressing takes most of the time."""
    environment = os.environ | {"VAULT_BINARY": binary, "DPKG_DEB_COMPRESSOR_LEVEL": "0"}
    return subprocess.run([PROJECT / "Tools/package"], env=environment, capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def package(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make(binary)
    path = made.stderr.strip().removeprefix("Made ").removesuffix(".")
    return Path(shutil.copy(PROJECT / path, tmp_path_factory.mktemp("package")))


@pytest.fixture(scope="module")
def hashicorp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with the name and the one file that HashiCorp's has."""
    tree = tmp_path_factory.mktemp("hashicorp")
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/vault").write_text("#!/bin/sh\necho HashiCorp\n")
    (tree / "usr/bin/vault").chmod(0o755)
    (tree / "DEBIAN").mkdir()
    control = "Package: vault\nVersion: 1.0\nArchitecture: all\nMaintainer: x <x@localhost>\nDescription: x\n"
    (tree / "DEBIAN/control").write_text(control)
    made = tree.with_suffix(".deb")
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, made], check=True, capture_output=True)
    return made


class Root:
    """A root folder in which dpkg has installed nothing yet. The maintainer's scripts run outside of it, on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/alternatives", "etc/alternatives"):
            (folder / name).mkdir(parents=True)
        for name in ("status", "available"):
            (folder / "var/lib/dpkg" / name).touch()

    def dpkg(self, *words: str | Path) -> None:
        options = (f"--root={self.folder}", "--force-script-chrootless", "--force-not-root", f"--log={os.devnull}")
        finished = subprocess.run(["dpkg", *options, *words], capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr

    def files(self) -> list[str]:
        found = [path for path in self.folder.rglob("*") if path.is_symlink() or path.is_file()]
        return sorted(str(path.relative_to(self.folder)) for path in found if "var/" not in str(path))

    def run(self, command: str, *words: str) -> bytes:
        path = self.folder / "usr/bin" / command
        # The alternative's link is meant for the root of the system.
        while path.is_symlink():
            target = os.readlink(path)
            path = self.folder / target.lstrip("/") if target.startswith("/") else path.parent / target
        return subprocess.run([path, *words], capture_output=True, env={}, check=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Root:
    if os.geteuid() != 0:
        pytest.skip("only root can install packages")
    return Root(tmp_path / "root")


def test_it_installs_what_it_lists_and_removes_all_of_it(root: Root, package: Path, home: Home) -> None:
    root.dpkg("-i", package)
    assert root.run("svault", "version") == root.run("vault", "version") == home.output("version")
    for path in (
        "usr/bin/git-credential-vault", "usr/share/man/man1/vault.1.gz",
        "usr/share/bash-completion/completions/vault", "usr/share/zsh/vendor-completions/_vault",
        "usr/share/fish/vendor_completions.d/vault.fish", f"usr/share/doc/{NAME}/copyright",
    ):  # fmt: skip
        assert path in root.files()
    root.dpkg("-i", package)
    root.dpkg("--purge", NAME)
    assert root.files() == []


@pytest.mark.parametrize("ours_first", [True, False], ids=["before HashiCorp's", "after HashiCorp's"])
def test_it_leaves_hashicorps_vault_alone(root: Root, package: Path, hashicorp: Path, ours_first: bool) -> None:
    for made in (package, hashicorp) if ours_first else (hashicorp, package):
        root.dpkg("-i", made)
    assert root.run("vault") == b"HashiCorp\n" and root.run("svault", "version").startswith(b"vault ")
    root.dpkg("--purge", NAME)
    assert root.files() == ["usr/bin/vault"] and root.run("vault") == b"HashiCorp\n"


def test_the_same_executable_makes_the_same_package(package: Path, binary: str) -> None:
    make(binary)
    assert (PROJECT / ".build/packages" / package.name).read_bytes() == package.read_bytes()
