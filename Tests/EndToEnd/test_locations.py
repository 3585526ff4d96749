"""Where vault and key are looked for, and what links, folders and modes on the way mean."""

import os

import pytest

from homes import VAULT_AND_KEY, Home, mode


def test_options_come_before_variables_and_variables_before_the_standard_paths(home: Home) -> None:
    named = home.with_variables(VAULT_FILE=str(home.folder / "v.vault"), VAULT_KEY_FILE=str(home.folder / "v.key"))
    named.output("set", "a", stdin=b"by variable")
    assert home.files() == ["v.key", "v.vault"]
    named.output("set", "a", "--vault", "o.vault", "--key-file", "o.key", stdin=b"by option")
    home.set("a", b"standard")
    assert home.files() == sorted([*VAULT_AND_KEY, "o.key", "o.vault", "v.key", "v.vault"])
    assert named.get("a") == b"by variable" and home.get("a") == b"standard"
    assert named.output("get", "a", "--vault", "o.vault", "--key-file", "o.key") == b"by option"


def test_the_xdg_variables_are_followed_and_empty_or_relative_ones_ignored(home: Home) -> None:
    folders = {f"XDG_{name}_HOME": str(home.folder / name) for name in ("DATA", "CONFIG", "STATE")}
    home.with_variables(**folders).set("a", b"tok")
    assert sorted(path.name for path in home.folder.iterdir()) == ["CONFIG", "DATA", "STATE"]
    assert (home.folder / "DATA/vault/default.vault").is_file()
    home.with_variables(**{name: "" for name in folders}).set("a", b"tok")
    home.with_variables(**{name: "relative" for name in folders}).output("get", "a")
    assert home.vault.is_file() and not (home.folder / "relative").exists()


def test_without_a_home_it_works_with_named_paths_and_says_so_otherwise(home: Home) -> None:
    homeless = home.with_variables(HOME="")
    for words in (("set", "a"), ("get", "a"), ("init",)):
        sentence = homeless.refusal(8, *words, stdin=b"tok")
        assert "--vault" in sentence and "HOME" in sentence
    assert "--key-file" in homeless.refusal(8, "get", "a", "--vault", "my.vault")
    options = ("--vault", str(home.folder / "my.vault"), "--key-file", str(home.folder / "my.key"))
    homeless.output("set", "a", *options, stdin=b"tok")
    assert homeless.output("get", "a", *options) == b"tok"
    assert b"not kept" in homeless.output("info", *options)
    assert home.files() == ["my.key", "my.vault"]


def test_relative_paths_and_bare_names_work(home: Home) -> None:
    (home.folder / "sub").mkdir()
    for vault, key in (
        ("my.vault", "my.key"),
        ("./sub/my.vault", "sub/../sub/my.key"),
        ("new/one/my.vault", "new/my.key"),
    ):
        options = ("--vault", vault, "--key-file", key)
        home.output("set", "a", *options, stdin=b"tok")
        assert home.output("get", "a", *options) == b"tok"
        assert (home.folder / vault).is_file() and (home.folder / key).is_file()


@pytest.mark.parametrize("key", ["one", "./one", "sub/../one", "link"])
def test_vault_and_key_at_one_path_is_an_error(home: Home, key: str) -> None:
    (home.folder / "link").symlink_to("one")
    for words in (("set", "a"), ("init",), ("get", "a")):
        sentence = home.refusal(2, *words, "--vault", "one", "--key-file", key, stdin=b"tok")
        assert "cannot be the same file" in sentence and "--key-file" in sentence
    assert home.files() == []


@pytest.mark.parametrize("path", ["~", "~/x", "~/sub/x", "~ann/x"])
def test_a_tilde_that_the_shell_did_not_expand_is_refused(home: Home, path: str) -> None:
    for option, variable in (("--vault", "VAULT_FILE"), ("--key-file", "VAULT_KEY_FILE")):
        for here, words in ((home, (f"{option}={path}",)), (home.with_variables(**{variable: path}), ())):
            for command in (("set", "a"), ("init",), ("get", "a")):
                sentence = here.refusal(2, *command, *words, stdin=b"tok")
                assert "shell" in sentence and f"{option} {path}" in sentence
                assert "$HOME/x" in sentence and f"./{path}" in sentence
    assert list(home.folder.iterdir()) == []


def test_a_folder_that_is_really_named_so_can_be_written(home: Home) -> None:
    options = ("--vault=./~/x", "--key-file", "~key")
    home.output("set", "a", *options, stdin=b"tok")
    assert home.output("get", "a", *options) == b"tok" and home.files() == ["~/x", "~key"]


@pytest.mark.parametrize("path", ["new/", "new//", "new/.", "new/..", "there/"])
def test_a_path_that_names_a_folder_is_refused(home: Home, path: str) -> None:
    (home.folder / "there").mkdir()
    for option, other in (("--vault", "--key-file"), ("--key-file", "--vault")):
        for command in (("set", "a"), ("init",), ("get", "a")):
            sentence = home.refusal(2, *command, option, path, other, "file", stdin=b"tok")
            assert "folder" in sentence and path in sentence
    assert [path.name for path in home.folder.iterdir()] == ["there"]


def test_a_vault_behind_a_symbolic_link_stays_one(home: Home) -> None:
    home.set("u.token", b"tok")
    real = home.folder / "real.vault"
    home.vault.rename(real)
    home.vault.symlink_to(real)
    inode = real.stat().st_ino
    home.set("u.token", b"new")
    home.output("compact")
    assert home.vault.is_symlink() and real.stat().st_ino != inode, "the file behind the link was compacted"
    home.set("u.token", b"newer")
    assert home.get("u.token") == b"newer"
    home.output("verify", "--vault", str(real))
    assert sorted(path.name for path in home.vault.parent.iterdir()) == ["default.vault"]


@pytest.mark.parametrize("target", ["real.vault", "folder/that/is/missing/real.vault"])
def test_a_first_vault_behind_a_symbolic_link_is_made_where_it_leads(home: Home, target: str) -> None:
    home.vault.parent.mkdir(parents=True)
    home.vault.symlink_to(home.folder / target)
    home.set("u.token", b"tok")
    assert home.vault.is_symlink() and (home.folder / target).is_file()
    assert home.get("u.token") == b"tok"


def test_a_folder_behind_a_symbolic_link_works(home: Home) -> None:
    (home.folder / "elsewhere").mkdir()
    (home.folder / ".local").symlink_to(home.folder / "elsewhere")
    home.set("u.token", b"tok")
    home.output("compact")
    assert home.get("u.token") == b"tok" and (home.folder / ".local").is_symlink()


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o660, 0o644, 0o400])
def test_compaction_keeps_the_mode_of_the_vault(home: Home, bits: int) -> None:
    home.set("u.token", b"tok")
    home.vault.chmod(bits)
    inode = home.vault.stat().st_ino
    home.run("compact")
    assert mode(home.vault) == bits and home.get("u.token") == b"tok"
    assert (home.vault.stat().st_ino != inode) or bits == 0o400


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_compaction_by_root_keeps_the_owner_of_the_vault(home: Home) -> None:
    home.set("u.token", b"tok")
    os.chown(home.vault, 1234, 2345)
    inode = home.vault.stat().st_ino
    home.output("compact")
    status = home.vault.stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345) and status.st_ino != inode


# Places below folders that are yet to be made


def named(home: Home, vault: str, key: str | None = None) -> Home:
    return home.with_variables(VAULT_FILE=vault, VAULT_KEY_FILE=key or str(home.folder / "keys/my.key"))


@pytest.mark.parametrize("folder", ["new", "link/new"])
def test_vault_and_key_may_lie_in_one_folder_that_is_yet_to_be_made(home: Home, folder: str) -> None:
    (home.folder / "real").mkdir()
    (home.folder / "link").symlink_to("real")
    here = named(home, f"{folder}/my.vault", f"{folder}/my.key")
    here.set("a", b"tok")
    assert here.get("a") == b"tok"


def test_a_vault_that_is_gone_is_missed_also_behind_a_link(home: Home) -> None:
    (home.folder / "mounted/vault").mkdir(parents=True)
    (home.folder / "data").symlink_to("mounted")
    here = named(home, str(home.folder / "data/vault/my.vault"))
    here.set("a", b"tok")
    (home.folder / "mounted/vault").rename(home.folder / "away")
    assert "is gone" in here.refusal(4, "set", "a", stdin=b"other")
    (home.folder / "away").rename(home.folder / "mounted/vault")
    assert here.get("a") == b"tok"


def test_one_relative_path_in_two_folders_is_two_vaults(home: Home) -> None:
    here = named(home, "vault/my.vault")
    for project in ("one", "two"):
        (home.folder / project).mkdir()
        inside = here.started_through("env", "-C", project)
        inside.set("a", project.encode())
        assert inside.get("a") == project.encode()


def test_a_variable_that_is_not_utf8_is_refused_instead_of_mended(home: Home) -> None:
    for name in ("VAULT_FILE", "VAULT_KEY_FILE", "HOME"):
        path = os.fsdecode(os.fsencode(home.folder / "x") + b"\xff")
        sentence = home.with_variables(**{name: path}).refusal(2, "set", "a", stdin=b"tok")
        assert name in sentence and "UTF-8" in sentence
    assert home.files() == []


def test_files_of_a_persons_own_beside_vault_and_key_are_left_alone(home: Home) -> None:
    home.key.parent.mkdir(parents=True)
    own = [home.vault.with_name("default.vault.new"), home.key.with_name("default.key.new")]
    home.vault.parent.mkdir(parents=True)
    for path in own:
        path.write_bytes(b"precious")
    home.set("a", b"tok")
    home.output("compact")
    assert [path.read_bytes() for path in own] == [b"precious", b"precious"]
