"""The first vault and key: where they are made, in which order, and what is flushed before anyone is told."""

import re
from pathlib import Path

import pytest

from homes import VAULT_AND_KEY, Home
from tracing import trace


def test_the_key_is_on_the_disk_before_the_vault_gets_its_name(home: Home) -> None:
    calls = trace(
        home, "set", "u.token", stdin=b"tok", names=("fsync", "fdatasync", "renameat2", "rename"), strings=500
    )
    told = [re.sub(r"\d+ +", "", call.line, count=1) for call in calls]

    def index(pattern: str) -> int:
        return next(index for index, line in enumerate(told) if re.search(pattern, line))

    order = [
        index(r"^fsync\(.*default\.key"),
        index(r"^rename.*default\.key"),
        index(r"^fsync\(\d+<[^>]*/\.config/vault>"),
        index(r"^fsync\(.*default\.vault"),
        index(r"^rename.*default\.vault"),
        index(r"^fsync\(\d+<[^>]*/share/vault>"),
        index(r"^fdatasync\(.*default\.vault"),
    ]
    assert order == sorted(order), told


def test_every_folder_made_on_the_way_is_flushed(home: Home) -> None:
    """A folder's own name lies in its parent."""
    calls = trace(home, "set", "u.token", stdin=b"tok", names=("mkdir", "fsync"), strings=500)
    made = {Path(path) for call in calls for path in re.findall(r'mkdir\("(.*)", .*= 0$', call.line)}
    flushed = {Path(path) for call in calls for path in re.findall(r"fsync\(\d+<(.*)>\)", call.line)}
    for_secrets = {folder for folder in made if home.memory not in (folder, *folder.parents)} - {home.memory.parent}
    assert home.vault.parent in for_secrets and home.key.parent in for_secrets
    assert {folder.parent for folder in for_secrets} <= flushed


def test_no_file_is_open_to_others_at_any_time(home: Home) -> None:
    calls = trace(home, "set", "u.token", stdin=b"tok", names=("openat", "mkdir", "fchmod", "chmod"), strings=500)
    made = [call.line for call in calls if "O_CREAT" in call.line or call.name == "mkdir"]
    assert len(made) >= 4
    assert all(re.search(r", 0[67]00\) +=", line) for line in made), made
    assert not [call for call in calls if "chmod" in call.name]


def test_an_existing_key_is_used_and_kept(home: Home) -> None:
    home.set("u.token", b"tok")
    key = home.key.read_bytes()
    home.output("init", "--vault", "other.vault")
    assert home.key.read_bytes() == key


def test_any_other_file_serves_as_a_key_where_it_is_named_at_init(home: Home) -> None:
    secret = home.folder / "secret"
    secret.write_bytes(b"correct horse battery staple")
    secret.chmod(0o600)
    options = ("--vault", "my.vault", "--key-file", "secret")
    home.output("init", *options)
    home.output("set", "u.token", *options, stdin=b"tok")
    assert home.output("get", "u.token", *options) == b"tok"
    assert b"Argon2id" in home.output("info", *options)
    secret.write_bytes(b"correct horse battery stable")
    home.refusal(5, "get", "u.token", *options)


def test_an_empty_key_file_is_refused_and_nothing_is_made(home: Home) -> None:
    (home.folder / "secret").touch(mode=0o600)
    sentence = home.refusal(5, "init", "--key-file", "secret")
    assert "empty" in sentence and not home.vault.exists()


def test_an_existing_key_that_is_open_to_others_is_not_used_for_a_new_vault(home: Home) -> None:
    (home.folder / "secret").write_bytes(b"secret")
    (home.folder / "secret").chmod(0o644)
    assert "chmod 600" in home.refusal(5, "init", "--key-file", "secret")
    assert "chmod 600" in home.refusal(5, "set", "u.token", "--key-file", "secret", stdin=b"tok")
    assert not home.vault.exists()


def test_a_damaged_key_is_never_replaced_or_taken_for_another_kind(home: Home) -> None:
    home.set("u.token", b"tok")
    text = home.key.read_bytes()
    home.vault.unlink()
    home.memory.rename(home.folder / "aside")
    for damaged in (text[:-10], text.replace(b"vault-key-1-", b"vault-key-1-0"), text.splitlines()[0]):
        home.key.write_bytes(damaged)
        home.refusal(5, "set", "u.token", stdin=b"tok")
        assert home.key.read_bytes() == damaged and not home.vault.exists()


def test_the_key_says_what_it_is(home: Home) -> None:
    home.output("init")
    comment, key, end = home.key.read_text().split("\n")
    assert comment.startswith("# vault key file") and "backup" in comment
    assert re.fullmatch(r"vault-key-1-[0-9a-f]{64}-[0-9a-f]{8}", key) and end == ""


def test_two_vaults_never_have_the_same_key_or_id(binary: str, tmp_path: Path) -> None:
    homes = [Home(binary, tmp_path / name) for name in ("one", "two")]
    for home in homes:
        home.output("init")
    assert homes[0].key.read_bytes() != homes[1].key.read_bytes()
    assert homes[0].vault.read_bytes()[16:32] != homes[1].vault.read_bytes()[16:32]


def test_no_descriptor_is_handed_on(home: Home) -> None:
    calls = trace(home, "set", "u.token", stdin=b"tok", names=("openat", "open", "socket", "dup"), strings=500)
    assert all("O_CLOEXEC" in call.line for call in calls if str(home.folder) in call.line)
    assert not [call for call in calls if call.name == "socket"], "the tool has no network code"


@pytest.mark.parametrize("links", [True, False], ids=["with links", "without links"])
@pytest.mark.parametrize("error", ["EINVAL", "ENOSYS"])
def test_file_systems_that_know_no_exclusive_rename_will_do(home: Home, error: str, links: bool) -> None:
    """As NFS and FUSE answer; some of the latter have no links either."""
    faults = ["-e", f"inject=renameat2:error={error}", *([] if links else ["-e", "inject=link:error=EPERM"])]
    traced = home.started_through("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2,link", *faults)
    traced.output("set", "u.token", stdin=b"tok")
    assert home.get("u.token") == b"tok"
    assert home.files() == VAULT_AND_KEY
    # Neither replaces what is there.
    assert "already" in traced.refusal(4, "init")
