"""Key files that people and clusters bring: what a guess at them costs, who may read them, what is said of them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from homes import Home
from volumes import remount, volume

PASSPHRASE = b"correct horse battery staple\n"


def key_file(home: Home, content: bytes, folder: Path | None = None) -> tuple[str, str]:
    path = (folder or home.folder) / "my.key"
    path.write_bytes(content)
    path.chmod(0o600)
    return "--key-file", str(path)


def cost(home: Home, *options: str) -> dict[str, int] | None:
    (key,) = json.loads(home.output("info", "--json", *options))["keys"]
    return key["cost"]


def test_a_cost_is_chosen_at_init_and_raised_later(home: Home) -> None:
    options = key_file(home, PASSPHRASE)
    home.output("init", "--argon2id", "1,8", *options)
    assert cost(home, *options) == {"passes": 1, "memory": 8 << 20}
    home.output("set", "a", *options, stdin=b"tok")
    home.output("compact", "--argon2id=2,16", *options)
    assert cost(home, *options) == {"passes": 2, "memory": 16 << 20}
    assert home.output("get", "a", *options) == b"tok"
    assert "2 passes, 16 MiB" in home.output("info", *options).decode()
    # Never lowered by mistake.
    assert "only be raised" in home.refusal(2, "compact", "--argon2id", "1,8", *options)
    assert cost(home, *options) == {"passes": 2, "memory": 16 << 20}


def test_the_cost_is_rfc_9106s_second_recommendation_unless_it_is_chosen(home: Home) -> None:
    options = key_file(home, PASSPHRASE)
    home.output("init", *options)
    assert cost(home, *options) == {"passes": 3, "memory": 64 << 20}


@pytest.mark.parametrize("text", ["3", "3,", ",64", "x,64", "3,64,1", "-1,64", "3,0", "0,64", "11,64", "3,9999999999999"])
def test_a_cost_that_is_none_is_refused_before_anything_is_made(home: Home, text: str) -> None:
    options = key_file(home, PASSPHRASE)
    home.refusal(2, "init", f"--argon2id={text}", *options)
    assert home.files() == ["my.key"]


def test_a_generated_key_file_has_no_cost(home: Home) -> None:
    home.set("a", b"tok")
    assert cost(home) is None
    home.refusal(2, "compact", "--argon2id", "3,64")
    assert home.get("a") == b"tok"


def test_what_a_person_should_know_of_a_key_file_is_said_when_a_vault_is_made(home: Home) -> None:
    said = home.run("init").stderr.decode()
    assert "Never change the key file." in said and "beside" not in said
    options = key_file(home, b"123456789012345")
    said = home.run("init", "--vault", "x/my.vault", *options).stderr.decode()
    assert "fewer than 16 bytes" in said and "It is next to" not in said
    said = home.run("init", "--vault", "y.vault", "--key-file", "y.key").stderr.decode()
    assert "It is next to the vault" in said and "fewer" not in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of root's")
def test_roots_key_file_that_others_can_read_serves_where_nobody_else_can_have_put_it(
    ordinary: Home,
) -> None:
    def options(folder: Path, bits: int) -> tuple[str, str]:
        named = key_file(ordinary, PASSPHRASE, folder)
        Path(named[1]).chmod(bits)
        os.chown(named[1], 0, 0)
        return named

    folder = ordinary.folder.parent
    with volume(folder / "mount", "1m") as mount:
        mount.chmod(0o755)
        named = options(mount, 0o644)
        ordinary.output("set", "a", *named, stdin=b"tok")
        assert "in memory" in ordinary.output("info", *named).decode()
        # From a folder of another user, who may lead us to any public file.
        theirs = folder / "theirs"
        theirs.mkdir()
        (theirs / "link.key").symlink_to(named[1])
        ordinary.output("init", "--vault", "x", "--key-file", str(theirs / "link.key"))
        os.chown(theirs, 1234, 1234)
        assert "--accept-shared-key" in ordinary.refusal(5, "init", "--vault", "y", "--key-file", str(theirs / "link.key"))
        Path(named[1]).chmod(0o646)
        ordinary.refusal(5, "get", "a", *named)
        Path(named[1]).chmod(0o644)
        remount(mount, "ro")
        assert ordinary.output("get", "a", *named) == b"tok"
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    named = options(elsewhere, 0o644)
    assert "--accept-shared-key" in ordinary.refusal(5, "get", "a", *named)
    subprocess.run(["mount", "--bind", elsewhere, elsewhere], check=True)
    try:
        remount(elsewhere, "bind,ro")
        assert "read-only" in ordinary.output("info", *named).decode()
    finally:
        subprocess.run(["umount", "--lazy", elsewhere], check=True)
    accepting = (*named, "--accept-shared-key")
    assert ordinary.output("get", "a", *accepting) == b"tok"
    assert json.loads(ordinary.output("info", "--json", *accepting))["key_file_sharing"] == "owned by root, accepted as it is"
    # Root's alone, and nobody may write it.
    os.chown(named[1], 65534, 65534)
    ordinary.refusal(5, "get", "a", *accepting)
    os.chown(named[1], 0, 0)
    Path(named[1]).chmod(0o664)
    ordinary.refusal(5, "get", "a", *accepting)
