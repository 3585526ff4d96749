"""`vault kube-credential`: kubectl authenticates with a token or a certificate of the vault."""

import json
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients import Handler, Server, installed, output, run, serving, traced
from homes import Home
from json_shapes import is_documented

pytestmark = pytest.mark.both_paths_in_full

CANARY = "canary-c07a"
OTHER, USAGE, NOT_FOUND, REFUSED = 1, 2, 3, 4
GROUP = "client.authentication.k8s.io"


class Cluster(Handler):
    """Notes who asks: the header that is sent, and the name in the client's certificate."""

    def do_GET(self) -> None:
        certificate = self.connection.getpeercert() or {}
        names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
        self.server.requests.append((self.headers.get("Authorization", ""), names[0] if names else None))
        self.answer(200, b'{"paths": []}', {"Content-Type": "application/json"})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for both sides, in one folder."""
    folder = tmp_path_factory.mktemp("certificate")
    words = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=mia", "-keyout", "key.pem", "-out", "certificate.pem")  # fmt: skip
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def server(certificate: Path) -> Iterator[Server]:
    security = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    security.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
    security.load_verify_locations(certificate / "certificate.pem")
    security.verify_mode = ssl.CERT_OPTIONAL
    with serving(Cluster, security) as server:
        yield server


@pytest.fixture
def home(fresh_home: Home) -> Home:
    home = installed(fresh_home)
    home.output("init")
    return home


def set_up(home: Home, name: str) -> bool:
    """Lets the user mia.a@b get the entry. Debian's kubectl 1.20 crashes when it sets a user's credentials: then the
    lines are put in by hand, as the command says. Returns whether kubectl has put them in."""
    report = json.loads(home.output("setup", "kube", name, "--user", "mia.a@b", "--json"))
    if not report["written"]:
        (home.folder / ".kube").mkdir(exist_ok=True)
        lines = ["apiVersion: v1", "kind: Config", *report["settings"], ""]
        (home.folder / ".kube/config").write_text("\n".join(lines))
    return report["written"]


def ask(home: Home, server: Server) -> str:
    """Lets kubectl ask the cluster, and returns what it starts. The user has to be in the kubeconfig."""
    config = ("kubectl", "config")
    output(home, *config, "set-cluster", "test", f"--server=https://{server.address}", "--insecure-skip-tls-verify")
    output(home, *config, "set-context", "test", "--cluster=test", "--user=mia.a@b")
    output(home, *config, "use-context", "test")
    server.requests.clear()
    return traced(home, "kubectl", "get", "--raw", "/")[1]


def answer(home: Home, name: str, version: str = "v1") -> dict:
    information = {"kind": "ExecCredential", "apiVersion": f"{GROUP}/{version}", "spec": {"interactive": False}}
    asked = home.with_variables(KUBERNETES_EXEC_INFO=json.dumps(information))
    document = json.loads(asked.output("kube-credential", name))
    assert document["kind"] == "ExecCredential" and document["apiVersion"] == f"{GROUP}/{version}"
    return document["status"]


def test_kubectl_sends_the_token(home: Home, server: Server) -> None:
    home.set("kube/prod", CANARY.encode(), "--expires", "1h")
    set_up(home, "kube/prod")
    seen = ask(home, server)
    assert server.requests == [(f"Bearer {CANARY}", None)]
    assert "kube-credential" in seen and CANARY not in seen


def test_kubectl_shows_the_certificate(home: Home, server: Server, certificate: Path) -> None:
    home.set("kube/prod.certificate", (certificate / "certificate.pem").read_bytes())
    home.set("kube/prod.key", (certificate / "key.pem").read_bytes())
    set_up(home, "kube/prod")
    ask(home, server)
    assert server.requests == [("", "mia")]


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_version_that_is_asked_for_is_answered(home: Home, version: str) -> None:
    home.set("kube/prod", CANARY.encode())
    assert answer(home, "kube/prod", version) == {"token": CANARY}
    home.set("kube/prod", CANARY.encode(), "--expires", "2099-01-31T09:05:00Z")
    home.set("kube/prod.certificate", b"PEM\n")
    home.set("kube/prod.key", b"PEM of the key\n", "--expires", "2098-01-31T09:05:00Z")
    assert answer(home, "kube/prod", version) == {
        "token": CANARY, "clientCertificateData": "PEM\n", "clientKeyData": "PEM of the key\n",
        "expirationTimestamp": "2098-01-31T09:05:00.000Z",
    }  # fmt: skip


def test_what_is_missing_is_said(home: Home) -> None:
    home.set("kube/half.key", CANARY.encode())
    home.set("kube/prod", CANARY.encode())
    assert "KUBERNETES_EXEC_INFO is not set" in home.refusal(OTHER, "kube-credential", "kube/prod")
    for wrong in ("", "{", "{}", json.dumps({"apiVersion": f"{GROUP}/v1alpha1"}), json.dumps({"apiVersion": 1})):
        sentence = home.with_variables(KUBERNETES_EXEC_INFO=wrong).refusal(OTHER, "kube-credential", "kube/prod")
        assert f"{GROUP}/v1" in sentence
    asked = home.with_variables(KUBERNETES_EXEC_INFO=json.dumps({"apiVersion": f"{GROUP}/v1"}))
    assert "kube/half.certificate" in asked.refusal(USAGE, "kube-credential", "kube/half")
    assert "kube/prod" in asked.refusal(NOT_FOUND, "kube-credential", "kube/prd")


def test_attributes_are_no_certificate(home: Home) -> None:
    home.set("kube/prod", CANARY.encode(), "-a", "key=v1")
    assert answer(home, "kube/prod")["token"] == CANARY


def test_the_setup_is_said_before_written_once_and_undone(home: Home) -> None:
    path = home.folder / ".kube/config"
    path.parent.mkdir()
    former = "apiVersion: v1\nkind: Config\nusers:\n- name: noa\n  user:\n    token: of-noa\n"
    path.write_text(former)
    words = ("setup", "kube", "a,b \"c\"", "--user", "mia.a@b", "--vault", "v.vault")
    told = home.output(*words, "--dry-run")
    assert path.read_text() == former
    if (shown := home.output(*words)) != told:
        assert shown.startswith(b"users:") and path.read_text() == former
        pytest.skip("this kubectl crashes when it sets a user's credentials")
    assert home.output(*words) == told
    users = json.loads(output(home, "kubectl", "config", "view", "--raw", "--output=json"))["users"]
    execs = {user["name"]: user["user"].get("exec") for user in users}
    assert execs["noa"] is None and execs["mia.a@b"]["args"] == [
        "kube-credential", 'a,b "c"', "--vault", str(home.folder / "v.vault")
    ]  # fmt: skip
    home.refusal(REFUSED, "setup", "kube", "another", "--user", "mia.a@b")
    home.output("setup", "kube", "another", "--user", "mia.a@b", "--undo")
    assert "kube-credential" in path.read_text()
    home.output(*words, "--undo")
    assert "exec" not in path.read_text() and "of-noa" in path.read_text()
    assert "--user" in home.refusal(USAGE, "setup", "kube", "another")


def test_without_kubectl_the_lines_are_shown(home: Home, server: Server) -> None:
    """They are complete: kubectl takes them."""
    home.set("kube/prod", CANARY.encode())
    finished = home.with_variables(PATH=str(home.folder / "bin")).run("setup", "kube", "kube/prod", "--user", "mia.a@b")
    assert finished.returncode == 0 and b"not in the PATH" in finished.stderr
    (home.folder / ".kube").mkdir()
    (home.folder / ".kube/config").write_bytes(b"apiVersion: v1\nkind: Config\n" + finished.stdout)
    ask(home, server)
    assert server.requests == [(f"Bearer {CANARY}", None)]
    report = json.loads(home.with_variables(PATH="/nowhere").output("setup", "kube", "a", "--user", "b", "--json"))
    assert is_documented(report, "setup kube", home)
    assert report["written"] is False and "users:" in report["settings"]


def test_a_locked_vault_is_told_by_kubectl(home: Home, server: Server) -> None:
    home.set("kube/prod", CANARY.encode())
    set_up(home, "kube/prod")
    ask(home, server)
    home.key.rename(home.key.with_name("away.key"))
    finished = run(home, "kubectl", "get", "--raw", "/", PATH=home.environment["PATH"], HOME=str(home.folder))
    assert finished.returncode != 0 and str(home.key) in finished.stderr and CANARY not in finished.stderr
