"""The commands that the page on backups shows: a copy, and the way back."""

import os
import subprocess
from pathlib import Path

import pytest

from documents import ROOT, blocks
from homes import Home

PAGE = ROOT / "Sources/Vault/Vault.docc/Articles/RestoringFromBackups.md"
BACK_UP, RESTORE = (block.code for block in blocks("sh", PAGE))

@pytest.fixture
def programs(home: Home, tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "vault").symlink_to(home.binary)
    return folder


def run(home: Home, code: str, programs: Path) -> None:
    environment = home.environment | {"PATH": f"{programs}:{os.environ['PATH']}"}
    ran = subprocess.run(["sh", "-eu", "-c", code], env=environment, cwd=home.folder, capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()


def test_a_vault_is_restored_and_accepted_once(home: Home, programs: Path) -> None:
    home.set("u.token", b"old")
    run(home, BACK_UP, programs)
    home.set("u.token", b"new")
    run(home, RESTORE, programs)
    assert home.get("u.token") == b"old"


def test_a_lost_vault_is_restored(home: Home, programs: Path) -> None:
    home.set("u.token", b"old")
    run(home, BACK_UP, programs)
    home.vault.unlink()
    assert "is gone" in home.refusal(4, "get", "u.token")
    run(home, RESTORE, programs)
    assert home.get("u.token") == b"old"


def test_a_machine_that_has_seen_nothing_takes_a_backup(home: Home, programs: Path, tmp_path: Path) -> None:
    home.set("u.token", b"old")
    run(home, BACK_UP, programs)
    other = Home(home.binary, tmp_path / "other")
    (other.folder / "vault.backup").write_bytes((home.folder / "vault.backup").read_bytes())
    other.key.parent.mkdir(parents=True)
    other.key.write_bytes(home.key.read_bytes())
    other.key.chmod(0o600)
    run(other, RESTORE, programs)
    assert other.get("u.token") == b"old"
