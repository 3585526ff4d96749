"""`vault git-credential`: git clones with credentials of the vault, stores those that work and erases the others."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients import Handler, Server, installed, output, run, serving, traced
from homes import Home

pytestmark = pytest.mark.both_paths_in_full

CANARY = "canary-5d1c"
LOCKED, OTHER, USAGE = 5, 1, 2
SITE = "protocol=https\nhost=example.org\n"
MIA = SITE + "username=mia\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare repository that a server of plain files can offer."""
    folder = tmp_path_factory.mktemp("repositories")
    person = {f"GIT_{role}_{what}": "mia@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    home = Home("", folder / "home").with_variables(**person)
    output(home, "git", "init", "--quiet", "--initial-branch=main", "work")
    output(home, "git", "-C", "work", "commit", "--quiet", "--allow-empty", "--message=first")
    output(home, "git", "clone", "--quiet", "--bare", "work", str(folder / "team.git"))
    output(home, "git", "-C", str(folder / "team.git"), "update-server-info")
    return folder


@pytest.fixture
def server(repository: Path) -> Iterator[Server]:
    class Files(Handler):
        def serve(self, user: str) -> None:
            path = repository / self.path.partition("?")[0].lstrip("/")
            # `/mia/team.git` is the same repository.
            path = path if path.exists() else repository / Path(*path.relative_to(repository).parts[1:])
            self.answer(200, path.read_bytes()) if path.is_file() else self.answer(404, b"")

    with serving(Files) as server:
        server.passwords = {"mia": CANARY, "noa": CANARY + "-of-noa"}
        yield server


@pytest.fixture
def home(fresh_home: Home) -> Home:
    """git asks the vault, and an empty vault is there."""
    home = installed(fresh_home)
    home.output("init")
    home.output("setup", "git")
    return home


def helper(home: Home, operation: str, lines: str, *options: str) -> str:
    """What the helper answers to lines that git would send."""
    finished = run(home, "git-credential-vault", *options, operation, stdin=lines + "\n")
    assert (finished.returncode, finished.stderr) == (0, ""), finished
    return finished.stdout


def git(home: Home, operation: str, lines: str) -> subprocess.CompletedProcess[str]:
    return run(home, "git", "credential", operation, stdin=lines + "\n")


def clone(home: Home, address: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    run(home, "rm", "-rf", "copy")
    return run(home, "git", *options, "clone", "--quiet", address, "copy", **variables)


def asked(home: Home, user: str, password: str) -> dict[str, str]:
    """The environment of a person who types these when git asks."""
    script = home.folder / "bin/asked"
    script.write_text(f'#!/bin/sh\ncase $1 in Username*) echo {user};; *) echo {password};; esac\n')
    script.chmod(0o700)
    return {"GIT_ASKPASS": str(script)}


def attributes(home: Home, name: str) -> dict[str, str]:
    (item,) = json.loads(home.output("find", name, "--json"))["items"]
    return item["attributes"]


# With a server


def test_what_worked_once_is_stored_and_used_from_then_on(home: Home, server: Server) -> None:
    address = f"http://{server.address}/team.git"
    assert clone(home, address).returncode != 0 and not home.names()
    assert clone(home, address, **asked(home, "mia", CANARY)).returncode == 0
    name = f"git/http://{server.address}/mia"
    assert home.values() == {name: CANARY.encode()}
    assert attributes(home, name) == {"protocol": "http", "host": server.address, "username": "mia"}
    before = home.vault.read_bytes()
    assert clone(home, address).returncode == 0
    assert home.vault.read_bytes() == before, "git stores it again each time, and nothing is written"


def test_a_rejected_password_is_erased_and_replaced_by_a_new_one(home: Home, server: Server) -> None:
    address = f"http://{server.address}/team.git"
    clone(home, address, **asked(home, "mia", CANARY))
    server.passwords["mia"] = CANARY + "-2"
    finished = clone(home, address)
    assert finished.returncode != 0 and CANARY not in finished.stdout + finished.stderr
    assert not home.names()
    clone(home, address, **asked(home, "mia", CANARY + "-2"))
    assert clone(home, address).returncode == 0 and list(home.values().values()) == [(CANARY + "-2").encode()]


def test_each_user_of_a_host_has_a_password(home: Home, server: Server) -> None:
    for user in ("mia", "noa"):
        address = f"http://{user}@{server.address}/team.git"
        assert clone(home, address, **asked(home, user, server.passwords[user])).returncode == 0
        server.requests.clear()
        assert clone(home, address).returncode == 0 and server.users == {user}
    assert home.names() == [f"git/http://{server.address}/{user}" for user in ("mia", "noa")]
    server.requests.clear()
    assert clone(home, f"http://{server.address}/team.git").returncode == 0 and server.users == {"noa"}, "the newest"


def test_with_usehttppath_each_repository_has_a_password(home: Home, server: Server) -> None:
    use_path = ("-c", "credential.useHttpPath=true")
    for user in ("mia", "noa"):
        address = f"http://{server.address}/{user}/team.git"
        assert clone(home, address, *use_path, **asked(home, user, server.passwords[user])).returncode == 0
        assert f"git/http://{server.address}/{user}/team.git/{user}" in home.names()
    for user in ("mia", "noa"):
        server.requests.clear()
        assert clone(home, f"http://{server.address}/{user}/team.git", *use_path).returncode == 0
        assert server.users == {user}


def test_no_program_that_git_starts_sees_the_password_in_its_words_or_variables(home: Home, server: Server) -> None:
    address = f"http://{server.address}/team.git"
    clone(home, address, **asked(home, "mia", CANARY))
    _, seen = traced(home, "git", "clone", "--quiet", address, "again")
    assert "git-credential" in seen and CANARY not in seen


# git's own plumbing


def test_git_fills_approves_and_rejects(home: Home) -> None:
    assert git(home, "fill", SITE).returncode != 0
    assert git(home, "approve", MIA + f"password={CANARY}\n").returncode == 0
    assert git(home, "fill", SITE).stdout == MIA + f"password={CANARY}\n"
    assert git(home, "fill", SITE + "username=noa\n").returncode != 0
    git(home, "reject", MIA + "password=another\n")
    assert home.names() == ["git/example.org/mia"], "another password is not this one"
    git(home, "reject", MIA + f"password={CANARY}\n")
    assert not home.names()


def test_another_vault_serves_when_the_helper_names_it(home: Home) -> None:
    other = home.folder / "other.vault"
    home.output("setup", "git", "--undo")
    home.output("init", "--vault", str(other))
    output(home, "git", "config", "--global", "credential.helper", f"vault --vault {other}")
    git(home, "approve", MIA + f"password={CANARY}\n")
    assert git(home, "fill", SITE).stdout.endswith(f"password={CANARY}\n")
    assert not home.names() and home.output("ls", "--vault", str(other)) == b"git/example.org/mia\n"


def test_a_locked_vault_is_one_line_and_git_asks_the_next_helper(home: Home) -> None:
    git(home, "approve", MIA + f"password={CANARY}\n")
    home.key.rename(home.key.with_name("away.key"))
    finished = run(home, "git-credential-vault", "get", stdin=SITE + "\n")
    assert (finished.returncode, finished.stdout) == (LOCKED, "") and finished.stderr.count("\n") == 1
    output(home, "git", "config", "--global", "--add", "credential.helper", "store")
    (home.folder / ".git-credentials").write_text("https://noa:of-the-next@example.org\n")
    filled = git(home, "fill", SITE)
    assert filled.returncode == 0 and "password=of-the-next" in filled.stdout and str(home.key) in filled.stderr


def test_without_a_vault_get_and_erase_are_silent_and_store_creates_one(fresh_home: Home) -> None:
    home = installed(fresh_home)
    assert helper(home, "get", SITE) == helper(home, "erase", MIA) == ""
    assert not home.vault.exists()
    finished = run(home, "git-credential-vault", "store", stdin=MIA + f"password={CANARY}\n")
    assert finished.returncode == 0 and str(home.key) in finished.stderr and home.names() == ["git/example.org/mia"]


# What git sends


def test_an_unknown_operation_is_ignored(home: Home) -> None:
    assert helper(home, "fetch", SITE) == ""
    assert helper(home, "capability", "") == "version 0\ncapability authtype\n"


def test_the_program_may_keep_its_end_open_while_it_waits(home: Home) -> None:
    helper(home, "store", MIA + f"password={CANARY}\n")
    with home.start("git-credential", "get") as process:
        process.stdin.write(SITE.encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.read() == f"username=mia\npassword={CANARY}\n".encode()


def test_keys_that_it_does_not_know_and_lists_are_passed_over(home: Home) -> None:
    helper(home, "store", "wwwauth[]=Basic\nlater=x\nstate[]=other:1\n" + MIA + f"password={CANARY}\n")
    assert helper(home, "get", "later[]=\n" + SITE) == f"username=mia\npassword={CANARY}\n"


def test_a_credential_without_user_name_goes_only_to_a_git_that_knows_it(home: Home) -> None:
    knows = "capability[]=authtype\ncapability[]=state\n"
    helper(home, "store", knows + SITE + f"authtype=Bearer\ncredential={CANARY}\n")
    assert home.values() == {"git/example.org": CANARY.encode()}
    answer = f"capability[]=authtype\nauthtype=Bearer\ncredential={CANARY}\n"
    assert helper(home, "get", knows + SITE) == answer
    assert helper(home, "get", SITE) == ""
    assert helper(home, "get", "capability[]=authtype\ncapability[]=\n" + SITE) == "", "an empty one clears the list"
    helper(home, "erase", SITE + f"password={CANARY}\n")
    helper(home, "erase", SITE + "authtype=Bearer\ncredential=another\n")
    assert helper(home, "get", knows + SITE) == answer
    helper(home, "erase", SITE + f"authtype=Bearer\ncredential={CANARY}\n")
    assert not home.names()


def test_what_is_ephemeral_or_has_expired_is_not_kept(home: Home) -> None:
    helper(home, "store", MIA + f"password={CANARY}\nephemeral=1\n")
    helper(home, "store", MIA + f"password={CANARY}\npassword_expiry_utc=1700000000\n")
    helper(home, "store", MIA)
    helper(home, "store", f"username=mia\npassword={CANARY}\n")
    assert not home.names()


def test_an_expiry_and_a_refresh_token_come_back(home: Home) -> None:
    lines = f"password={CANARY}\npassword_expiry_utc=4000000000\noauth_refresh_token=refresh\n"
    helper(home, "store", MIA + lines)
    assert helper(home, "get", SITE) == "username=mia\n" + lines
    assert home.values() == {"git/example.org/mia": CANARY.encode(), "git/example.org/mia.refresh-token": b"refresh"}
    before = home.vault.read_bytes()
    helper(home, "store", MIA + f"password={CANARY}\n")
    assert home.vault.read_bytes() == before, "a git that knows of neither leaves them as they are"
    helper(home, "store", MIA + "password=another\n")
    assert helper(home, "get", SITE) == "username=mia\npassword=another\n"


def test_of_an_expired_password_the_refresh_token_is_left(home: Home) -> None:
    helper(home, "store", MIA + f"password={CANARY}\noauth_refresh_token=refresh\n")
    # As time does.
    home.output("rm", "git/example.org/mia")
    assert helper(home, "get", SITE) == "username=mia\noauth_refresh_token=refresh\n"
    helper(home, "erase", MIA + f"password={CANARY}\n")
    assert home.names() == ["git/example.org/mia.refresh-token"]
    helper(home, "store", MIA + f"password={CANARY}\noauth_refresh_token=refresh\n")
    assert home.names() == ["git/example.org/mia", "git/example.org/mia.refresh-token"]
    helper(home, "erase", MIA + f"password={CANARY}\n")
    assert not home.names()


def test_an_entry_may_have_another_name_and_attributes_of_its_own(home: Home) -> None:
    home.set("git/mine", CANARY.encode(), "-a", "protocol=https", "-a", "host=example.org", "-a", "username=mia",
             "-a", "team=blue")  # fmt: skip
    assert helper(home, "get", SITE) == f"username=mia\npassword={CANARY}\n"
    helper(home, "store", MIA + "password=new\n")
    assert home.values() == {"git/mine": b"new"} and attributes(home, "git/mine")["team"] == "blue"


def test_a_name_that_is_taken_is_not_overwritten(home: Home) -> None:
    home.set("git/example.org/mia", b"of something else")
    helper(home, "store", MIA + f"password={CANARY}\n")
    assert home.values() == {"git/example.org/mia": b"of something else", "git/example.org/mia~2": CANARY.encode()}


def test_protocol_host_port_and_path_have_to_match(home: Home) -> None:
    helper(home, "store", MIA + f"path=a/b.git\npassword={CANARY}\n")
    for other in ("protocol=http\nhost=example.org\n", "protocol=https\nhost=example.org:8443\n", SITE + "path=a\n"):
        assert helper(home, "get", other) == helper(home, "erase", other) == ""
    assert helper(home, "get", SITE + "path=a/b.git\n") and helper(home, "get", SITE)
    helper(home, "store", MIA + "password=of the host\n")
    assert "of the host" in helper(home, "get", SITE) and CANARY in helper(home, "get", SITE + "path=a/b.git\n")


@pytest.mark.parametrize(
    "lines", [MIA + "password=a\rb\n", MIA + "password=a\0b\n", "no equals sign\n", "password=" + "x" * 70_000 + "\n"]
)
def test_what_no_git_may_send_is_refused_and_not_repeated(home: Home, lines: str) -> None:
    for operation in ("get", "store", "erase"):
        sentence = home.refusal(USAGE, "git-credential", operation, stdin=lines.encode())
        assert "line" in sentence and "equals sign\n" not in sentence.replace("has no equals sign", "")
    assert not home.names()


@pytest.mark.parametrize("value", [b"a\nb", b"a\rb", b"a\0b"])
def test_a_value_that_no_line_can_hold_is_not_handed_out(home: Home, value: bytes) -> None:
    home.set("git/mine", value, "-a", "protocol=https", "-a", "host=example.org", "-a", "username=mia")
    assert "line break" in home.refusal(USAGE, "git-credential", "get", stdin=SITE.encode())


# Setting up


@pytest.mark.in_a_file
def test_the_setup_is_said_before_written_once_and_undone(home: Home) -> None:
    configuration = home.folder / ".gitconfig"
    home.output("setup", "git", "--undo")
    former = "# mine\n[user]\n\tname = Mia\n[credential]\n\thelper = cache --timeout=60\n"
    configuration.write_text(former)
    told = home.output("setup", "git", "--dry-run")
    assert configuration.read_text() == former
    assert home.output("setup", "git") == home.output("setup", "git") == told
    listed = output(home, "git", "config", "--get-all", "credential.helper")
    assert listed == "cache --timeout=60\n!vault git-credential\n"
    home.output("setup", "git", "--undo")
    assert configuration.read_text() == former
    home.output("setup", "git", "--undo")
    assert configuration.read_text() == former


def test_a_repository_may_have_a_vault_of_its_own(home: Home) -> None:
    output(home, "git", "init", "--quiet", "it's here")
    work = Home(home.binary, home.folder / "it's here", home.variables | {"HOME": str(home.folder)})
    work.output("init", "--vault", "a b.vault")
    work.output("setup", "git", "--local", "--vault", "a b.vault")
    home.output("setup", "git", "--undo")
    assert git(work, "approve", MIA + f"password={CANARY}\n").returncode == 0
    assert CANARY in git(work, "fill", SITE).stdout and git(home, "fill", SITE).returncode != 0
    assert work.output("ls", "--vault", "a b.vault") == b"git/example.org/mia\n" and not home.names()


def test_a_descriptor_is_no_key_that_git_can_hand_on(home: Home) -> None:
    assert "--key-file" in home.refusal(USAGE, "setup", "git", "--key-fd", "0")


def test_without_git_it_is_exit_1(home: Home) -> None:
    assert "git cannot be started" in home.with_variables(PATH="/nowhere").refusal(OTHER, "setup", "git")


# Texts that Swift takes for equal


@pytest.mark.parametrize(("stored", "asked"), [("K.example", "\u212a.example"), ("a;b", "a\u037eb"), ("e\u0301.org", "\u00e9.org")])
def test_hosts_paths_and_users_are_compared_by_bytes(home: Home, stored: str, asked: str) -> None:
    """Who asks for another host, however it looks, gets nothing of this one."""
    helper(home, "store", f"protocol=https\nhost={stored}\nusername={stored}\npassword={CANARY}\n")
    for lines in (f"host={asked}\n", f"host={asked}\nusername={stored}\n", f"host={stored}\nusername={asked}\n"):
        assert helper(home, "get", f"protocol=https\n{lines}") == ""
        helper(home, "erase", f"protocol=https\n{lines}")
    assert CANARY in helper(home, "get", f"protocol=https\nhost={stored}\n")
    # It is another one's, and stored beside it.
    helper(home, "store", f"protocol=https\nhost={stored}\nusername={asked}\npassword=other\n")
    assert CANARY in helper(home, "get", f"protocol=https\nhost={stored}\nusername={stored}\n")
    assert "password=other" in helper(home, "get", f"protocol=https\nhost={stored}\nusername={asked}\n")


def test_a_request_without_a_host_gets_and_erases_nothing(home: Home) -> None:
    """It would be about that path on all hosts."""
    helper(home, "store", f"{MIA}path=team.git\npassword={CANARY}\n")
    for lines in ("protocol=https\npath=team.git\n", "protocol=https\npath=team.git\nusername=mia\n"):
        assert helper(home, "get", lines) == ""
        helper(home, "erase", lines)
        helper(home, "store", lines + "password=other\n")
    assert CANARY in helper(home, "get", f"{SITE}path=team.git\n")
    assert len(home.names()) == 1
    # git itself names an empty one, for what has none.
    helper(home, "store", f"protocol=cert\nhost=\npath=/key.pem\nusername=\npassword={CANARY}\n")
    assert CANARY in helper(home, "get", "protocol=cert\nhost=\npath=/key.pem\nusername=\n")
