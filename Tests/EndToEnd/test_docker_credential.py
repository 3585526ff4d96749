"""`vault docker-credential`: docker's client and skopeo keep their logins in the vault."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients import Handler, Server, installed, output, run, serving, traced
from homes import Home, mode

pytestmark = pytest.mark.both_paths_in_full

CANARY = "canary-2e90"
OTHER, USAGE, REFUSED = 1, 2, 4
REGISTRY = "registry.example.org"
MANIFEST = b'{"schemaVersion":2,"config":{},"layers":[]}'
NOT_FOUND = (OTHER, "credentials not found in native keychain\n")


class Registry(Handler):
    def serve(self, user: str) -> None:
        kind = {"Content-Type": "application/vnd.docker.distribution.manifest.v2+json"}
        self.answer(200, MANIFEST if "manifests" in self.path else b"", kind)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(Registry) as server:
        server.passwords["mia"] = CANARY
        yield server


@pytest.fixture
def home(fresh_home: Home) -> Home:
    # There is no engine: the client asks the registry itself.
    home = installed(fresh_home).with_variables(DOCKER_HOST="unix:///nowhere/docker.sock")
    home.output("init")
    return home


def helper(home: Home, action: str, stdin: str = "") -> tuple[int, str]:
    finished = run(home, "docker-credential-vault", *action.split(), stdin=stdin)
    assert finished.stderr == "", finished
    return finished.returncode, finished.stdout


def login(server: str, username: str, secret: str) -> str:
    return json.dumps({"ServerURL": server, "Username": username, "Secret": secret}) + "\n"


def configuration(home: Home) -> Path:
    return home.folder / ".docker/config.json"


# Clients


@pytest.mark.needs("docker")
def test_docker_logs_in_and_out(home: Home, server: Server) -> None:
    home.output("setup", "docker")
    words = ("docker", "login", server.address, "--username=mia", "--password-stdin")
    _, seen = traced(home, *words, stdin=CANARY)
    assert "docker-credential-vault" in seen and CANARY not in seen
    assert home.values() == {f"docker/{server.address}": CANARY.encode()}
    assert json.loads(configuration(home).read_text()) == {"auths": {server.address: {}}, "credsStore": "vault"}
    output(home, "docker", "logout", server.address)
    assert not home.names()


def test_skopeo_logs_in_and_reads_an_image(home: Home, server: Server) -> None:
    home.output("setup", "docker", server.address)
    address = ("--tls-verify=false", server.address)
    where = ("--authfile", str(configuration(home)))
    output(home, "skopeo", "login", *where, "--username=mia", "--password-stdin", *address, stdin=CANARY)
    assert home.values() == {f"docker/{server.address}": CANARY.encode()}
    image = f"docker://{server.address}/team/image:latest"
    inspect = ("skopeo", "inspect", "--raw", "--tls-verify=false", *where, image)
    assert output(home, *inspect).encode() == MANIFEST
    output(home, "skopeo", "logout", *where, server.address)
    assert not home.names() and run(home, *inspect).returncode != 0


# The protocol


def test_what_is_stored_is_given_listed_and_erased(home: Home) -> None:
    secret = CANARY + ' "ü🔑\\\u2028'
    assert helper(home, "store", login(REGISTRY, "mia", "former")) == (0, "")
    assert helper(home, "store", login(REGISTRY, "<token>", secret)) == (0, "")
    before = home.vault.read_bytes()
    assert helper(home, "store", login(REGISTRY, "<token>", secret)) == (0, "")
    assert home.vault.read_bytes() == before, "one that is there already is not written again"
    code, answer = helper(home, "get", REGISTRY + "\n")
    assert code == 0 and json.loads(answer) == {"ServerURL": REGISTRY, "Username": "<token>", "Secret": secret}
    code, answer = helper(home, "list", "unused")
    assert code == 0 and json.loads(answer) == {REGISTRY: "<token>"} and CANARY not in answer
    assert helper(home, "erase", REGISTRY) == (0, "")
    assert helper(home, "erase", REGISTRY) == helper(home, "get", REGISTRY) == NOT_FOUND


def test_the_name_is_the_registry_and_the_hub_is_one_of_them(home: Home) -> None:
    hub = "https://index.docker.io/v1/"
    helper(home, "store", login(hub, "mia", CANARY))
    helper(home, "store", login("index.docker.io/v1", "noa", "another"))
    assert home.names() == ["docker/index.docker.io/v1", "docker/index.docker.io/v1~2"]
    assert json.loads(helper(home, "get", hub)[1])["Username"] == "mia"


def test_of_several_logins_of_a_registry_the_newest_counts(home: Home) -> None:
    helper(home, "store", login(REGISTRY, "mia", CANARY))
    home.output("cp", f"docker/{REGISTRY}", "docker/zz")
    home.output("set", "docker/zz", "-a", f"docker={REGISTRY}", "-a", "username=noa", stdin=b"newer")
    assert json.loads(helper(home, "list")[1]) == {REGISTRY: "noa"}
    assert json.loads(helper(home, "get", REGISTRY)[1])["Username"] == "noa"
    helper(home, "store", login(REGISTRY, "mia", CANARY))
    assert json.loads(helper(home, "get", REGISTRY)[1]) == {
        "ServerURL": REGISTRY, "Username": "mia", "Secret": CANARY
    }  # fmt: skip


def test_errors_are_on_standard_output_in_the_words_of_the_protocol(home: Home) -> None:
    assert helper(home, "get", REGISTRY) == helper(home, "erase", REGISTRY) == NOT_FOUND
    for action in ("get", "erase"):
        assert helper(home, action, " \n") == (OTHER, "no credentials server URL\n")
    assert helper(home, "store", login("", "mia", CANARY)) == (OTHER, "no credentials server URL\n")
    assert helper(home, "store", login(REGISTRY, "", CANARY)) == (OTHER, "no credentials username\n")
    assert helper(home, "fetch") == (OTHER, "Unknown credential action `fetch`\n")
    code, usage = helper(home, "")
    assert code == OTHER and "<store|get|erase|list|version>" in usage
    code, version = helper(home, "version")
    assert code == 0 and version.startswith("docker-credential-vault (vault) ")
    for wrong in (CANARY, f'{{"Secret": "{CANARY}"', f'["{CANARY}"]', '{"ServerURL": 1}', ""):
        code, sentence = helper(home, "store", wrong)
        assert code == OTHER and "JSON" in sentence and CANARY not in sentence
    assert not home.names()


def test_a_locked_vault_says_so_and_no_vault_is_no_login(home: Home) -> None:
    helper(home, "store", login(REGISTRY, "mia", CANARY))
    home.key.rename(home.key.with_name("away.key"))
    for action in ("get", "erase", "list"):
        code, sentence = helper(home, action, REGISTRY)
        assert code == OTHER and str(home.key) in sentence
    home.vault.unlink()
    for path in home.memory.iterdir():
        path.unlink()
    assert helper(home, "get", REGISTRY) == NOT_FOUND and helper(home, "list") == (0, "{}\n")


def test_a_value_that_json_cannot_hold_is_an_error(home: Home) -> None:
    home.set("docker/mine", b"\xff", "-a", f"docker={REGISTRY}", "-a", "username=mia")
    code, sentence = helper(home, "get", REGISTRY)
    assert code == OTHER and "UTF-8" in sentence


# Setting up


def test_the_setup_keeps_the_other_keys_and_is_undone(home: Home) -> None:
    path = configuration(home)
    path.parent.mkdir()
    former = {"auths": {"a": {"auth": "x"}}, "psFormat": "table {{.ID}}\t{{.Names}}", "later": [1, 2.5, None, True]}
    path.write_text(json.dumps(former))
    path.chmod(0o640)
    for words, added in (
        (("setup", "docker"), {"credsStore": "vault"}),
        (("setup", "docker", REGISTRY), {"credHelpers": {REGISTRY: "vault"}}),
    ):
        told = home.output(*words, "--dry-run").decode()
        assert json.loads(path.read_text()) == former and str(path) in told
        assert home.output(*words).decode() == told
        written = path.read_text()
        assert json.loads(written) == former | added and mode(path) == 0o640
        home.output(*words)
        assert path.read_text() == written
        home.output(*words, "--undo")
        assert json.loads(path.read_text()) == former


def test_the_setup_follows_a_link_and_makes_a_private_file(home: Home) -> None:
    path = configuration(home)
    path.parent.mkdir()
    path.symlink_to(home.folder / "dotfiles/docker.json")
    home.output("setup", "docker")
    assert path.is_symlink() and json.loads(path.read_text()) == {"credsStore": "vault"} and mode(path) == 0o600


@pytest.mark.parametrize(
    "former",
    ['{"credsStore": "pass"}', f'{{"credHelpers": {{"{REGISTRY}": "ecr-login"}}}}', "[]", "{", '{"a": 1, "a": 2}',
     '{"credHelpers": ["x"]}', '{"a": 12345678901234567890123456789012345678901}'],  # fmt: skip
)
def test_another_helper_and_a_file_that_is_not_understood_stay(home: Home, former: str) -> None:
    path = configuration(home)
    path.parent.mkdir()
    path.write_text(former)
    words = ("setup", "docker", REGISTRY) if "credHelpers" in former else ("setup", "docker")
    assert str(path) in home.refusal(REFUSED, *words)
    assert path.read_text() == former


def test_docker_hands_no_options_on(home: Home) -> None:
    assert "VAULT_FILE" in home.refusal(USAGE, "setup", "docker", "--vault", "work.vault")


def test_a_missing_link_is_told(home: Home) -> None:
    (home.folder / "bin/docker-credential-vault").unlink()
    finished = home.run("setup", "docker")
    assert finished.returncode == 0 and b"docker-credential-vault, which is not in the PATH" in finished.stderr


def test_the_setup_says_what_it_has_done(home: Home) -> None:
    def told(*options: str) -> tuple[bytes, bool]:
        words = ("setup", "docker", *options)
        written = json.loads(home.output(*words, "--json"))["written"]
        return home.run(*words, "--dry-run").stderr, written

    assert told() == (b"vault: Nothing was changed: this is a dry run.\n", True)
    assert told() == (b"vault: Nothing was changed: this is a dry run.\n", False)
    assert b"already exists" in home.run("setup", "docker").stderr
    assert b"Removed." in home.run("setup", "docker", "--undo").stderr
    assert b"No such setting exists" in home.run("setup", "docker", "--undo").stderr
    assert told("--undo")[1] is False


def test_registries_are_compared_by_bytes(fresh_home: Home) -> None:
    """U+212A, the sign for kelvin, is no K."""
    home = fresh_home
    for server in ("K.example", "\u212a.example"):
        request = json.dumps({"ServerURL": server, "Username": f"user of {server}", "Secret": f"secret of {server}"})
        home.output("docker-credential", "store", stdin=request.encode())
    for server in ("K.example", "\u212a.example"):
        answer = json.loads(home.output("docker-credential", "get", stdin=server.encode()))
        assert (answer["Username"], answer["Secret"]) == (f"user of {server}", f"secret of {server}")
    assert len(json.loads(home.output("docker-credential", "list"))) == 2
    home.output("docker-credential", "erase", stdin="\u212a.example".encode())
    assert list(json.loads(home.output("docker-credential", "list"))) == ["K.example"]
