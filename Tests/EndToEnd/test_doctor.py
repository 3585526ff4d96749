"""`vault doctor`: what it notices, what it says, and how it ends."""

import json
import os
import subprocess
from pathlib import Path

from homes import Home
from key_slots import lose_key_file


def checks(home: Home, *words: str, code: int = 0) -> dict[str, dict]:
    """What it says of each thing. Of several checks of one name, the worst counts."""
    finished = home.run("doctor", "--json", *words)
    assert (finished.returncode, finished.stderr) == (code, b""), finished
    found = json.loads(finished.stdout)["checks"]
    states = ["ok", "warning", "problem"]
    return {check["name"]: check for check in sorted(found, key=lambda check: states.index(check["state"]))}


def warning(home: Home, name: str, *words: str) -> str:
    found = checks(home, *words)[name]
    assert found["state"] == "warning", found
    return f"{found['message']} {found['fix']}"


def test_a_sound_vault_is_fine_and_no_value_is_shown(home: Home) -> None:
    home.set("u.token", b"a-value")
    found = checks(home)
    for name in ("vault", "key", "opening", "rollback memory", "clock", "size"):
        assert found[name]["state"] == "ok" and found[name]["fix"] is None, found[name]
    assert found["vault"]["message"] == f"{home.vault} (at its standard path)"
    lines = home.output("doctor").decode().splitlines()
    assert all(line.split()[0] in ("ok", "warning") for line in lines) and "a-value" not in str(lines)
    assert home.files() == [".config/vault/default.key", ".local/share/vault/default.vault"]


def test_the_rule_that_found_the_vault_and_its_key_is_said(home: Home) -> None:
    home.set("a", b"tok")
    named = home.with_variables(VAULT_FILE=str(home.vault), VAULT_KEY_FILE=str(home.key))
    assert "(from $VAULT_FILE)" in checks(named)["vault"]["message"]
    assert "(from $VAULT_KEY_FILE)" in checks(named)["key"]["message"]
    assert "(from --vault)" in checks(home, "--vault", str(home.vault))["vault"]["message"]


def test_a_provided_key_is_said_to_be_provided(home: Home) -> None:
    home.set("a", b"tok")
    folder = home.folder / "credentials"
    folder.mkdir(mode=0o700)
    home.key.rename(folder / "vault.key")
    assert "(at its standard path)" in checks(home.with_variables(CREDENTIALS_DIRECTORY=str(folder)))["key"]["message"]


def test_without_a_vault_or_a_home_it_says_so_and_looks_at_the_rest(home: Home) -> None:
    assert "`vault init`" in warning(home, "vault") and home.files() == []
    finished = subprocess.run([home.binary, "doctor", "--json"], env={}, capture_output=True)
    found = {check["name"]: check["state"] for check in json.loads(finished.stdout)["checks"]}
    assert finished.returncode == 1 and found["locations"] == "problem" and found["core dumps"] == "ok"


def test_what_keeps_the_vault_from_opening_is_a_problem(home: Home) -> None:
    home.set("a", b"tok")
    home.key.chmod(0o644)
    found = checks(home, code=1)["opening"]
    assert found["state"] == "problem" and "chmod 600" in found["message"]
    home.key.chmod(0o600)
    contents = bytearray(home.vault.read_bytes())
    contents[100] ^= 1
    home.vault.write_bytes(contents)
    assert checks(home, code=1)["opening"]["state"] == "problem"
    assert home.run("doctor").returncode == 1
    lose_key_file(home)
    assert checks(home, code=1)["key"]["state"] == "warning"


def test_what_others_may_change_is_a_warning_with_its_fix(home: Home) -> None:
    home.set("a", b"tok")
    home.vault.chmod(0o660)
    assert f"`chmod go-w '{home.vault}'`" in warning(home, "vault")
    home.vault.parent.chmod(0o777)
    assert f"`chmod go-w '{home.vault.parent}'`" in warning(home, "folder")
    home.vault.parent.chmod(0o1777)
    assert "folder" not in checks(home), "in a sticky folder nobody exchanges the files of others"


def test_what_the_user_cannot_write_is_a_warning(ordinary: Home) -> None:
    ordinary.set("a", b"tok")
    found = checks(ordinary)
    assert found["vault"]["state"] == "ok" and "folder" not in found
    ordinary.vault.chmod(0o400)
    assert f"`chmod u+w '{ordinary.vault}'`" in warning(ordinary, "vault")
    ordinary.vault.chmod(0o600)
    ordinary.vault.parent.chmod(0o500)
    try:
        assert "cannot be compacted" in warning(ordinary, "folder")
        assert checks(ordinary)["vault"]["state"] == "ok"
    finally:
        ordinary.vault.parent.chmod(0o700)


def test_the_advice_names_the_section_of_the_vault(home: Home) -> None:
    (home.folder / ".config/vault").mkdir(parents=True)
    configuration = home.folder / ".config/vault/config"
    configuration.write_text("[work]\nvault = ~/work.vault\nkey-file = ~/work.key\n")
    assert "`vault --vault 'work' init`" in warning(home, "vault", "--vault", "work")
    home.output("init", "--vault", "work")
    assert "in the section [work] of the configuration" in warning(home, "key", "--vault", "work")
    assert "`vault --vault 'work' verify`" in checks(home, "--vault", "work")["opening"]["message"]


def test_a_key_beside_its_vault_is_a_warning(home: Home) -> None:
    paths = ("--vault", str(home.folder / "my.vault"), "--key-file", str(home.folder / "my.key"))
    home.output("init", *paths)
    assert "next to the vault" in warning(home, "key", *paths)


def test_a_memory_that_is_missing_torn_or_impossible_is_said(home: Home) -> None:
    home.set("a", b"tok")
    (seen,) = home.memory.glob("*.seen")
    seen.write_bytes(seen.read_bytes()[:50])
    assert "was damaged" in warning(home, "rollback memory")
    assert checks(home)["rollback memory"]["message"] == "kept"
    seen.unlink()
    assert "from now on" in checks(home)["rollback memory"]["message"]
    assert "XDG_STATE_HOME" not in warning(home.without_memory(), "rollback memory"), "it is set"
    home.memory.chmod(0o777)
    lines = home.output("doctor").decode()
    assert lines.count("others can write") == 1 and "XDG_STATE_HOME" not in lines


def test_another_vault_on_the_path_is_noticed(home: Home) -> None:
    folder = home.folder / "bin"
    folder.mkdir()
    path = f"{folder}:{os.environ['PATH']}"
    (folder / "vault").symlink_to(home.binary)
    assert checks(home.with_variables(PATH=path))["command"]["state"] == "ok"
    (folder / "vault").unlink()
    (folder / "vault").mkdir()
    assert "not in the PATH" in warning(home.with_variables(PATH=str(folder)), "command"), "a folder is no program"
    (folder / "vault").rmdir()
    other = folder / "vault"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    assert str(other) in warning(home.with_variables(PATH=path), "command")
    assert "not in the PATH" in warning(home.with_variables(PATH="/nowhere"), "command")
    hashicorp = home.with_variables(VAULT_ADDR="https://vault.example", VAULT_TOKEN="t")
    assert "VAULT_ADDR, VAULT_TOKEN" in checks(hashicorp)["environment"]["message"]


def test_locked_memory_and_file_systems_in_memory_are_looked_at(home: Home, tmp_path: Path) -> None:
    home.set("a", b"tok")
    limited = home.started_through("prlimit", "--memlock=65536:65536", "--")
    assert "64 KiB" in warning(limited, "locked memory") and "ulimit -l" in warning(limited, "locked memory")
    if Path("/dev/shm").is_dir():
        paths = ("--vault", f"/dev/shm/{tmp_path.parent.name}-{os.getpid()}.vault")
        home.output("init", *paths)
        try:
            assert "it will be lost at the next restart" in warning(home, "file system", *paths)
        finally:
            Path(paths[1]).unlink()


def test_none_of_our_variables_is_one_of_hashicorps(home: Home) -> None:
    """Both programs may be installed. The list is that of HashiCorp's documentation of its command."""
    theirs = {
        "VAULT_ADDR", "VAULT_AGENT_ADDR", "VAULT_CACERT", "VAULT_CACERT_BYTES", "VAULT_CAPATH", "VAULT_CLIENT_CERT",
        "VAULT_CLIENT_KEY", "VAULT_CLIENT_TIMEOUT", "VAULT_CLI_NO_COLOR", "VAULT_CLUSTER_ADDR", "VAULT_DISABLE_REDIRECTS",
        "VAULT_FORMAT", "VAULT_HEADERS", "VAULT_HTTP_PROXY", "VAULT_LICENSE", "VAULT_LICENSE_PATH", "VAULT_LOG_LEVEL",
        "VAULT_MAX_RETRIES", "VAULT_MFA", "VAULT_NAMESPACE", "VAULT_PROXY_ADDR", "VAULT_RATE_LIMIT",
        "VAULT_REDIRECT_ADDR", "VAULT_SKIP_VERIFY", "VAULT_SRV_LOOKUP", "VAULT_TLS_SERVER_NAME", "VAULT_TOKEN",
        "VAULT_UI", "VAULT_WRAP_TTL", "VAULT_API_ADDR", "VAULT_RAFT_NODE_ID", "VAULT_SKIP_DEFAULT_TOKEN_HELPER",
        "VAULT_CONFIG_PATH", "VAULT_TOKEN_HELPER", "VAULT_DETAILED", "VAULT_ADDR_FILE",
    }  # fmt: skip
    documented = {line.split()[0] for line in home.output("help", "environment").decode().splitlines() if line[2] != " "}
    assert {"VAULT_FILE", "VAULT_KEY_FILE"} <= documented and not documented & theirs
    sources = "".join(path.read_text() for path in Path(__file__).parents[2].glob("Sources/**/*.swift"))
    for variable in theirs & {word for word in sources.split('"') if word.startswith("VAULT_")}:
        assert variable in ("VAULT_ADDR", "VAULT_TOKEN", "VAULT_NAMESPACE"), "doctor alone looks whether it is set"
