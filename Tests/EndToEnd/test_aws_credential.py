"""`vault aws-credential`: AWS's command line signs with keys of the vault."""

import hashlib
import hmac
import json
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from clients import installed, output, run, traced
from homes import Home, mode

pytestmark = pytest.mark.both_paths_in_full

CANARY = "canary-81f3/+="
ID = "AKIAIOSFODNN7EXAMPLE"
USAGE, NOT_FOUND, REFUSED = 2, 3, 4
LINE = "credential_process = vault aws-credential aws/work\n"


@pytest.fixture
def home(fresh_home: Home) -> Home:
    home = installed(fresh_home).with_variables(AWS_EC2_METADATA_DISABLED="true")
    home.set("aws/work", CANARY.encode(), "-a", f"access-key-id={ID}")
    return home


def configuration(home: Home) -> Path:
    return home.folder / ".aws/config"


def answer(home: Home, name: str = "aws/work") -> dict:
    return json.loads(home.output("aws-credential", name))


def signature(address: str, secret: str) -> str:
    """What AWS computes of a presigned address (Signature Version 4) with the secret key."""
    parts = urlsplit(address)
    fields = {key: value for key, (value,) in parse_qs(parts.query).items() if key != "X-Amz-Signature"}
    query = "&".join(f"{quote(key, '')}={quote(value, '')}" for key, value in sorted(fields.items()))
    canonical = f"GET\n{parts.path}\n{query}\nhost:{parts.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
    scope = fields["X-Amz-Credential"].partition("/")[2]
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = ("AWS4" + secret).encode()
    for part in (*scope.split("/"), f"AWS4-HMAC-SHA256\n{fields['X-Amz-Date']}\n{scope}\n{digest}"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


@pytest.mark.needs("aws")
def test_aws_signs_with_the_key_and_the_session_token_of_the_vault(home: Home) -> None:
    home.set("aws/work.session-token", b"of-the-session", "--expires", "1h")
    home.output("setup", "aws", "aws/work", "--profile", "work")
    address, seen = traced(
        home, "aws", "s3", "presign", "s3://bucket/key", "--profile", "work", "--region", "eu-central-1"
    )
    fields = parse_qs(urlsplit(address.strip()).query)
    assert fields["X-Amz-Credential"][0].startswith(ID + "/") and fields["X-Amz-Security-Token"] == ["of-the-session"]
    assert fields["X-Amz-Signature"] == [signature(address.strip(), CANARY)]
    assert "aws-credential" in seen and CANARY not in seen


def test_what_aws_is_told_is_complete(home: Home) -> None:
    assert answer(home) == {"Version": 1, "AccessKeyId": ID, "SecretAccessKey": CANARY}
    home.set("aws/work", CANARY.encode(), "-a", f"username={ID}", "--expires", "2099-01-31T09:05:00Z")
    home.set("aws/work.session-token", b"of-the-session", "--expires", "2098-01-31T09:05:00Z")
    assert answer(home) == {
        "Version": 1, "AccessKeyId": ID, "SecretAccessKey": CANARY, "SessionToken": "of-the-session",
        "Expiration": "2098-01-31T09:05:00.000Z",
    }  # fmt: skip


def test_a_json_object_is_told_as_it_is(home: Home) -> None:
    document = {"AccessKeyId": ID, "SecretAccessKey": CANARY, "SessionToken": "s", "Expiration": "2099-01-31T09:05:00Z"}
    home.set("aws/sso", json.dumps(document | {"Version": 7, "more": {}}).encode())
    assert answer(home, "aws/sso") == {"Version": 1} | document


def test_what_is_missing_is_said_and_nothing_secret(home: Home) -> None:
    home.set("aws/bare", CANARY.encode())
    home.set("aws/half", b'{"SecretAccessKey": "' + CANARY.encode() + b'"}')
    home.set("aws/torn", b'{"SecretAccessKey": "' + CANARY.encode())
    for name, code, words in (
        ("aws/bare", USAGE, "access-key-id"), ("aws/half", USAGE, "AccessKeyId"), ("aws/torn", USAGE, "JSON object"),
        ("aws/wok", NOT_FOUND, "aws/work"),
    ):  # fmt: skip
        sentence = home.refusal(code, "aws-credential", name)
        assert words in sentence and CANARY not in sentence


def test_an_entry_that_expires_is_absent_from_then_on(home: Home) -> None:
    for time in ("2020-01-31", "0s", "soon", "8"):
        assert "--expires" in home.refusal(USAGE, "set", "aws/past", "--expires", time, stdin=b"x")
    home.set("aws/soon", CANARY.encode(), "-a", f"access-key-id={ID}", "--expires", "1s")
    while home.run("exists", "aws/soon").returncode == 0:
        pass
    home.refusal(NOT_FOUND, "aws-credential", "aws/soon")
    assert home.output("ls") == b"aws/work\n"


def test_a_temporary_key_is_not_given_without_its_token(home: Home) -> None:
    home.set("aws/short", CANARY.encode(), "-a", "access-key-id=ASIAIOSFODNN7EXAMPLE")
    assert "aws/short.session-token" in home.refusal(NOT_FOUND, "aws-credential", "aws/short")
    home.set("aws/short.session-token", b"of-the-session")
    assert answer(home, "aws/short")["SessionToken"] == "of-the-session"


def test_an_attribute_is_no_token_and_a_long_name_has_none(home: Home) -> None:
    home.set("aws/work", CANARY.encode(), "-a", f"access-key-id={ID}", "-a", "session-token=shown")
    assert "SessionToken" not in answer(home)
    home.set("x" * 1020, CANARY.encode(), "-a", f"access-key-id={ID}")
    assert answer(home, "x" * 1020)["SecretAccessKey"] == CANARY


# Setting up


@pytest.mark.in_a_file
@pytest.mark.parametrize(
    "former",
    [
        "", "[default]\nregion = eu-west-1\n", "# mine\n\n[profile other]\nregion=x\n\n[profile work]\nregion = y\n",
        "[profile work]\n# none\n[profile z]\na = b\n", '[profile "work"]\nregion = y\n',
    ],
)  # fmt: skip
def test_the_setup_leaves_the_other_lines_and_is_undone(home: Home, former: str) -> None:
    path = configuration(home)
    path.parent.mkdir()
    path.write_text(former)
    path.chmod(0o644)
    words = ("setup", "aws", "aws/work", "--profile", "work")
    told = home.output(*words, "--dry-run").decode()
    assert path.read_text() == former and told == f"{path}: [profile work]\n{LINE}"
    assert home.output(*words) == home.output(*words) == told.encode()
    written = path.read_text()
    header = '[profile "work"]' if '"' in former else "[profile work]"
    assert f"{header}\n{LINE}" in written and mode(path) == 0o644
    assert [line for line in former.splitlines() if line not in written.splitlines()] == []
    home.output("setup", "aws", "aws/other", "--profile", "work", "--undo")
    assert path.read_text() == written
    home.output(*words, "--undo")
    assert path.read_text() == former


def test_another_command_of_the_profile_stays(home: Home) -> None:
    path = configuration(home)
    path.parent.mkdir()
    path.write_text("[default]\ncredential_process=other\n")
    assert "[default]" not in home.refusal(REFUSED, "setup", "aws", "aws/work")
    assert path.read_text() == "[default]\ncredential_process=other\n"


def test_a_name_and_a_vault_with_spaces_reach_the_command(home: Home) -> None:
    home.output("init", "--vault", "a b.vault")
    name = "aws/it's mine"
    home.output("set", "--vault", "a b.vault", name, "-a", f"access-key-id={ID}", stdin=CANARY.encode())
    home.output("setup", "aws", name, "--vault", "a b.vault")
    assert configuration(home).read_text().startswith("[default]\n") and mode(configuration(home)) == 0o600
    line = configuration(home).read_text().splitlines()[1].partition(" = ")[2]
    assert json.loads(output(home, "sh", "-c", line))["SecretAccessKey"] == CANARY
    assert run(home, "vault", "aws-credential", name).returncode == NOT_FOUND


@pytest.mark.in_a_file
def test_the_name_of_a_profile_may_have_spaces(home: Home) -> None:
    words = ("setup", "aws", "aws/work", "--profile", "my own")
    assert home.output(*words) == home.output(*words)
    assert configuration(home).read_text() == f'[profile "my own"]\n{LINE}'
    assert output(home, "aws", "configure", "get", "credential_process", "--profile", "my own") == LINE.split("= ")[1]
    home.output(*words, "--undo")
    assert configuration(home).read_text() == ""
    for wrong in ("", "a]", 'a"b', "a\nb"):
        assert "Invalid profile name" in home.refusal(USAGE, "setup", "aws", "aws/work", "--profile", wrong)


@pytest.mark.in_a_file
def test_beside_another_program_of_its_name_its_own_path_is_written(home: Home) -> None:
    """HashiCorp's Vault has the name too."""
    other = home.folder / "other"
    other.mkdir()
    (other / "vault").write_text("#!/bin/sh\n")
    (other / "vault").chmod(0o755)
    there = home.with_variables(PATH=f"{other}:{home.environment['PATH']}")
    shown = there.output("setup", "aws", "aws/work", "--dry-run").decode()
    assert f"credential_process = {home.binary} aws-credential aws/work" in shown
    (home.folder / "bin/svault").symlink_to(home.binary)
    assert "= svault aws-credential" in there.output("setup", "aws", "aws/work", "--dry-run").decode()
    assert "!svault git-credential" in there.output("setup", "git", "--dry-run").decode()
    assert "$(svault env" in there.output("setup", "direnv", "--dry-run").decode()
