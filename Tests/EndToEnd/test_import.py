"""`vault import`: the files of other programs become the right entries, all or none."""

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from homes import Home, told
from terminals import Terminal

pytestmark = pytest.mark.both_paths_in_full

FILES = Path(__file__).parent / "imports"
NOTE = ('canary "note", ü\n' * 4096)[: 64 << 10]
assert len(NOTE.encode()) >= 64 << 10
IN_CSV = NOTE.replace('"', '""')
IN_JSON = json.dumps(NOTE)[1:-1]
IN_XML = NOTE.replace('"', "&quot;")


@dataclass
class Case:
    """A file and what is to come of it: values by name, and the attributes of those that have some."""

    format: str
    file: str
    values: dict[str, str | bytes]
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    note: str = NOTE
    skipped: int = 0
    left_out: str = ""

    def __str__(self) -> str:
        return self.file

    def text(self) -> str:
        return (FILES / self.file).read_text().replace("@NOTE@", self.note)

    def written(self, home: Home) -> Path:
        path = home.folder / self.file
        path.write_text(self.text())
        return path


GIRO = 'Bank, "giro"'
CASES = [
    Case(
        "bitwarden-csv", "bitwarden.csv",
        {
            "Arbeit/Büro/Mail, work": 'can"ary, pässword',
            "Arbeit/Büro/Mail, work.notes": NOTE,
            "Arbeit/Büro/Mail, work.otp": "JBSWY3DPEHPKCANARY",
            "Arbeit/Büro/Mail, work.PIN": "canary-pin",
            "Arbeit/Büro/Mail, work.Answer": 'canary "one",\ncanary two',
            "github.com": "canary-github",
            "Tür": 'canary: 4711\n"zweite" Zeile',
        },
        {
            "Arbeit/Büro/Mail, work": {
                "username": "zoë@example.org", "url": "https://mail.example.org/a,b",
                "url.2": "https://webmail.example.org",
            },
            "github.com": {"username": "mia", "url": "https://github.com"},
        },
        note=IN_CSV,
    ),
    Case(
        "1password-csv", "1password.csv",
        {
            GIRO: 'can"ary,1', GIRO + ".notes": NOTE,
            GIRO + ".otp": "otpauth://totp/Bank:m?secret=CANARYAA&issuer=Bank", "Kasse": "canary-2",
        },
        {GIRO: {"username": "müller", "url": "https://bank.example/login", "tags": "money;daily"}},
        note=IN_CSV,
    ),
    Case(
        "1password-csv", "1password-7.csv",
        {
            GIRO: 'can"ary,1', GIRO + ".notes": NOTE, GIRO + ".otp": "otpauth://totp/Bank:m?secret=CANARYAA",
            GIRO + ".Ablaufdatum": "canary-date",
        },
        {GIRO: {"username": "müller", "url": "https://bank.example/login"}},
        note=IN_CSV,
    ),
    Case(
        "keepassxc-csv", "keepassxc.csv",
        {
            "Arbeit/Mail": 'can"ary,\n1', "Arbeit/Mail.notes": NOTE,
            "Arbeit/Mail.otp": "otpauth://totp/Mail?secret=CANARYAA", "Mail": "canary-2",
        },
        {"Arbeit/Mail": {"username": "zoë", "url": "https://mail.example.org"}, "Mail": {"username": "mia"}},
        note=IN_CSV,
    ),
    Case(
        "chrome-csv", "chrome.csv",
        {"example.org": 'can"ary,1', "example.org.notes": NOTE, "example.org (2)": "canary-2"},
        {
            "example.org": {"username": "müller, mia", "url": "https://example.org/login?a=1&b=2"},
            "example.org (2)": {"username": "root", "url": "https://example.org/admin"},
        },
        note=IN_CSV,
    ),
    Case(
        "firefox-csv", "firefox.csv",
        {"accounts.example.org": 'can"ary,1', "192.0.2.7": "canary-2"},
        {
            "accounts.example.org": {"username": "müller, mia", "url": "https://accounts.example.org"},
            "192.0.2.7": {"username": "admin", "url": "http://192.0.2.7:8080"},
        },
    ),
    Case(
        "bitwarden-json", "bitwarden.json",
        {
            'Arbeit/Büro/Mail, "work"': 'can"ary, pässword',
            'Arbeit/Büro/Mail, "work".notes': NOTE,
            'Arbeit/Büro/Mail, "work".otp': "CANARYAA",
            'Arbeit/Büro/Mail, "work".PIN': "canary-pin",
            'Arbeit/Büro/Mail, "work".v1-2': 'canary "one",\ncanary two',
            "Tür": "canary: 4711\nzweite Zeile",
            "Visa": "canary-4111", "Visa.code": "canary-code",
            "Mia": "", "Mia.ssn": "canary-ssn", "laptop": "canary-key",
        },
        {
            'Arbeit/Büro/Mail, "work"': {
                "username": "zoë@example.org", "url": "https://mail.example.org",
                "url.2": "https://webmail.example.org",
                "customer": "4711",
            },
            "Visa": {"cardholderName": "Mia Müller", "brand": "Visa", "expMonth": "1", "expYear": "2030"},
            "Mia": {"username": "mia", "title": "Dr", "firstName": "Mia", "lastName": "Müller"},
            "laptop": {"publicKey": "ssh-ed25519 AAAA", "keyFingerprint": "SHA256:x"},
        },
        note=IN_JSON, skipped=1, left_out="1 passkey",
    ),
    Case(
        "keepass-xml", "keepass.xml",
        {
            "Bank": 'can"ary, <1>', "Bank.notes": NOTE, "Bank.otp": "otpauth://totp/Bank?secret=CANARYAA",
            "Bank.PIN": "canary-pin", "Arbeit/Mail-IMAP": "canary-2",
        },
        {
            "Bank": {
                "username": "zoë & mia", "url": "https://bank.example", "url.2": "https://giro.example",
                "customer": "4711", "tags": "daily;money", "expires": "2020-01-31T09:05:00Z",
            },
        },
        note=IN_XML, skipped=2, left_out="1 attachment, 1 deleted item",
    ),
    Case(
        "netrc", "netrc",
        {
            "git/api.example.org/mia": "canary,1", 'git/ftp.example.org/zoë "z"': "canary 2 \\ #",
            "netrc/anonymous": "canary-3",
        },
        {
            "git/api.example.org/mia": {"protocol": "https", "host": "api.example.org", "username": "mia"},
            'git/ftp.example.org/zoë "z"': {
                "protocol": "https", "host": "ftp.example.org", "username": 'zoë "z"', "account": "staff",
            },
            "netrc/anonymous": {"username": "anonymous"},
        },
        skipped=1, left_out="1 macro",
    ),
    Case(
        "git-credentials", "git-credentials",
        {
            "git/github.com/mia": 'can"ary,1', "git/git.example.org:8443/team/app.git/zoë": "canary/2",
            "git/http://localhost/ci": "canary-3",
        },
        {
            "git/github.com/mia": {"protocol": "https", "host": "github.com", "username": "mia"},
            "git/git.example.org:8443/team/app.git/zoë": {
                "protocol": "https", "host": "git.example.org:8443", "path": "team/app.git", "username": "zoë",
            },
            "git/http://localhost/ci": {"protocol": "http", "host": "localhost", "username": "ci"},
        },
    ),
    Case(
        "docker", "docker.json",
        {"docker/index.docker.io/v1": "canary,1:mü", "docker/registry.example.org:5000": "canary-token"},
        {
            "docker/index.docker.io/v1": {"docker": "https://index.docker.io/v1/", "username": "mia"},
            "docker/registry.example.org:5000": {"docker": "registry.example.org:5000", "username": "<token>"},
        },
        skipped=1, left_out="1 server that uses a credential helper",
    ),
    Case(
        "plist", "preferences.plist",
        {
            "u.token": 'can"ary, ü\n2', "u.count": "42", "u.ratio": "1.0", "u.on": "true",
            "u.since": "2026-01-31T09:05:00.000Z", "u.key": b"\xff\x00canary",
            "u.hosts": '["canary-a","b"]', "u.note": NOTE,
        },
        note=IN_XML,
    ),
    Case(
        "env", "app.env",
        {"TOKEN": 'can"ary, ü', "KEY": "canary-1\ncanary-2", "PLAIN": "canary-3", "NOTE": NOTE},
        note=NOTE.replace('"', '\\"'),
    ),
]  # fmt: skip


def silent(finished: subprocess.CompletedProcess) -> None:
    """No secret is in what a run has said."""
    assert "canary" not in (finished.stdout + finished.stderr).decode().lower(), told(finished)


def stored(home: Home) -> dict[str, bytes]:
    return home.values() if home.vault.exists() else {}


def attributes(home: Home) -> dict[str, dict[str, str]]:
    items = json.loads(home.output("ls", "--json"))["items"]
    return {item["name"]: item["attributes"] for item in items if item["attributes"]}


def expected(case: Case) -> dict[str, bytes]:
    return {name: value if isinstance(value, bytes) else value.encode() for name, value in case.values.items()}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_file_becomes_the_entries_that_are_in_it(home: Home, case: Case) -> None:
    path = case.written(home)
    planned = home.run("import", case.format, path, "--dry-run", "--json")
    assert planned.returncode == 0, told(planned)
    assert not home.vault.exists() and not home.key.exists(), "a dry run creates nothing"
    finished = home.run("import", case.format, path, "--json")
    assert finished.returncode == 0, told(finished)
    silent(planned), silent(finished)
    assert stored(home) == expected(case)
    assert attributes(home) == case.attributes
    report = json.loads(finished.stdout)
    assert report == json.loads(planned.stdout) | {"dry_run": False} and report["skipped"] == case.skipped
    assert {entry["name"] for entry in report["entries"]} == set(case.values)
    # Once more it changes nothing, and says so.
    again = home.run("import", case.format, "-", stdin=path.read_bytes())
    assert again.returncode == 0 and b"(0 entries)" in again.stdout or b"Imported 0 entries" in again.stdout
    assert again.stdout.decode().partition(" Left out: ")[2] == (f"{case.left_out}.\n" if case.left_out else "")
    silent(again)
    assert stored(home) == expected(case)


def test_all_kinds_of_preferences_keep_their_kind(home: Home) -> None:
    case = next(case for case in CASES if case.format == "plist")
    home.output("import", "plist", case.written(home))
    kinds = {item["name"]: item["kind"] for item in json.loads(home.output("ls", "--json"))["items"]}
    assert kinds == {
        "u.token": "text", "u.count": "integer", "u.ratio": "real", "u.on": "boolean", "u.since": "date",
        "u.key": "data", "u.hosts": "array", "u.note": "text",
    }  # fmt: skip


EXPORT = '{"vault_export":1,"entries":[\n'
MALFORMED = [
    ("chrome-csv", 'name,url,username,password\na,b,c,"canary', r"line 2: the closing quotation mark is missing"),
    ("chrome-csv", 'name,url,username,password\na,b,c,canary"d', r"line 2: an unquoted field contains"),
    ("chrome-csv", 'name,url,username,password\n"a"x,b,c,canary', r"line 2: a field is not followed by"),
    ("chrome-csv", "name,url,username,password\n\"x\ny\",b,c,d\na,canary", r"line 4: the row has 2 fields"),
    ("chrome-csv", "canary", r"line 1: it is not the first row of a Chrome export"),
    ("firefox-csv", "name,username,password\n", r"line 1: it is not the first row of a Firefox export"),
    ("bitwarden-csv", "name,login_uri,login_username\n", r"line 1: .* the column login_password is missing"),
    ("1password-csv", "", r"line 1: it is not the first row of a 1Password export"),
    ("keepassxc-csv", "Title,Username,Password\n", r"line 1: .* the column group is missing"),
    ("bitwarden-json", '{"encrypted": true, "data": "canary"}', r"the export is encrypted; export it as JSON"),
    ("bitwarden-json", '{"items": [\n{"type": 1, "name": "a",\n"login": {"password": "canary"', r"line 3: "),
    ("bitwarden-json", '{"items": [\n{"name": "a", "notes": "canary", "notes": "b"}]}', r"line 2: a key occurs twice"),
    ("bitwarden-json", '{"items": [\n{"name": "a", "login": "canary"}]}', r"line 2: an object was expected"),
    ("bitwarden-json", '{"folders": []}', r"it is not Bitwarden's export"),
    ("keepass-xml", "<KeePassFile>\n<Root><Group><canary", r"\(line 2\)"),
    ("keepass-xml", '<KeePassFile>\n<Root><Entry><String><Value Protected="True">canary', r"encrypted.*\(line 2\)"),
    ("keepass-xml", "<canary/>", r"it is not KeePass XML"),
    ("netrc", "machine a\nlogin b\npassword", r"line 3: the value of the last keyword is missing"),
    ("netrc", "machine a\ncanary b", r"line 2: an unknown keyword"),
    ("netrc", "login b", r"line 1: a keyword comes before the first machine"),
    ("netrc", 'machine a password "canary', r"line 1: the closing quotation mark is missing"),
    ("git-credentials", "https://a:canary@b\nhttps://a:canary%zz@b", r"line 2: the percent-encoding is malformed"),
    ("git-credentials", "https://a:canary@b\ncanary", r"line 2: it is not an address"),
    ("git-credentials", "https://canary@b", r"line 1: the address has no user or no password"),
    ("git-credentials", "https://a:canary%0a@b", r"line 1: a part of the address has a line break"),
    ("docker", '{"auths": {\n"a": {"auth": "canary"}}}', r"line 2: auth is not the base64 of USER:PASSWORD"),
    ("docker", "{}", r"it is not docker's config.json"),
    ("plist", "<plist><dict>\n<key>canary</key>", r"\(line 2\)"),
    ("plist", "canary", r"cannot be read as a property list or JSON"),
    ("env", "A=1\ncanary", r"line 2: it is not NAME=VALUE"),
    ("env", "A=canary\nA=2", r"line 2: a name occurs twice"),
    ("json", EXPORT + '{"name":"a","value":"canary"},\n{"name":"b"}]}', r"line 3: an entry has no value"),
    ("json", EXPORT + '{"name":"a","value_base64":"canary!"}]}', r"line 2: value_base64 is not base64"),
    ("json", EXPORT + '{"name":"a\\nb","value":"canary"}]}', r"line 2: a name is empty, longer"),
    ("json", EXPORT + '{"name":"a","value":"canary","kind":"x"}]}', r"line 2: the kind is unknown"),
    ("json", EXPORT + '{"name":"a","value":"canary","expires":"x"}]}', r"line 2: the time in expires is malformed"),
    ("json", '{"vault_export":2,"entries":[]}', r"a later version of vault"),
    ("json", '{"entries":[]}', r"line 1: it is neither the output of `vault export json` nor an object of strings"),
    ("json", '{"a":"x",\n"b":1}', r"line 2: it is neither"),
    ("env", "A=x\nB=vault:u.token\n", r"line 2: the variable refers to an entry"),
    ("json", '{"vault_export":1,"entries":[]} canary', r"line 1: there is text after the end"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "words"), MALFORMED, ids=[f"{case[0]}-{number}" for number, case in enumerate(MALFORMED)]
)
def test_a_malformed_file_is_named_with_its_line_and_imports_nothing(
    home: Home, name: str, text: str, words: str
) -> None:
    path = home.folder / "file.txt"
    path.write_text(text)
    finished = home.run("import", name, path)
    sentence = finished.stderr.decode()
    assert finished.returncode == 2, told(finished)
    assert str(path) in sentence and re.search(words, sentence), sentence
    assert not home.vault.exists()
    silent(finished)


def test_names_with_other_values_are_listed_and_refused(home: Home) -> None:
    home.set("B", b"canary-own", "-a", "tier=x")
    home.set("C", b"canary-own")
    text = b"A=canary-1\nB=canary-2\nC=canary-own\n"
    finished = home.run("import", "env", "-", stdin=text)
    assert finished.returncode == 4 and finished.stdout == b"", told(finished)
    assert finished.stderr.decode().splitlines()[1:] == ["  B"]
    silent(finished)
    assert home.names() == ["B", "C"]
    planned = home.run("import", "env", "-", "--dry-run", "--skip", stdin=text)
    assert planned.returncode == 0 and home.names() == ["B", "C"]
    silent(planned)
    assert home.output("import", "env", "-", "--skip", stdin=text) == b"Imported 1 entry, 1 kept, 1 unchanged.\n"
    assert stored(home) == {"A": b"canary-1", "B": b"canary-own", "C": b"canary-own"}
    home.output("import", "env", "-", "--replace", stdin=text)
    assert stored(home) == {"A": b"canary-1", "B": b"canary-2", "C": b"canary-own"}
    assert "Use either" in home.refusal(2, "import", "env", "-", "--skip", "--replace", stdin=text)


def test_a_dry_run_lists_names_sizes_and_attributes(home: Home) -> None:
    table = b"name,url,username,password\ngit/hub,https://github.com,mia,canary\n"
    shown = home.output("import", "chrome-csv", "-", "--dry-run", "--prefix", "web/", stdin=table).decode()
    assert shown == (
        "web/git-hub  6 bytes  url=https://github.com  username=mia\nWould import 1 item (1 entry).\n"
    )
    assert not home.vault.exists()


def test_texts_that_no_name_and_no_attribute_can_be(home: Home) -> None:
    """A slash, control characters, no title, the same title twice; an address that is too long for an attribute."""
    rows = [["a/b\x1b\nc"], [""], ["x"], ["x"], ["x (2)"], ["long", "https://" + "u" * 7000]]
    lines = ["name,url,username,password"]
    lines += [f'"{row[0]}",{row[1] if len(row) > 1 else ""},,canary-{index}' for index, row in enumerate(rows)]
    home.output("import", "chrome-csv", "-", stdin="\n".join(lines).encode())
    assert home.values() == {
        "a-b  c": b"canary-0", "untitled": b"canary-1", "x": b"canary-2", "x (2)": b"canary-3",
        "x (2) (2)": b"canary-4", "long": b"canary-5", "long.url": rows[5][1].encode(),
    }  # fmt: skip
    refused = home.run("import", "chrome-csv", "-", stdin=b"name,url,username,password\n" + b"n" * 1025 + b",,,canary")
    assert refused.returncode == 2 and b"Standard input, line 2: a name is" in refused.stderr
    silent(refused)


def test_more_than_64_attributes_become_fields(home: Home) -> None:
    fields = [{"name": f"f{number}", "value": str(number), "type": 0} for number in range(70)]
    text = json.dumps({"items": [{"name": "many", "login": {"password": "canary"}, "fields": fields}]})
    home.output("import", "bitwarden-json", "-", stdin=text.encode())
    kept = attributes(home)["many"]
    assert kept | {name.removeprefix("many."): home.get(name).decode() for name in home.names() if name != "many"} == {
        f"f{number}": str(number) for number in range(70)
    }


def test_what_cannot_be_read_is_an_error(home: Home) -> None:
    assert "No such file" in home.refusal(8, "import", "env", "missing.env")
    assert "Use one of: json, env, bitwarden-csv" in home.refusal(2, "import", "lastpass", "x.csv")
    assert "is not a readable folder" in home.refusal(2, "import", "pass", "missing")
    (home.folder / "empty").mkdir()
    assert "contains no pass entries" in home.refusal(2, "import", "pass", "empty")
    assert not home.vault.exists()


def test_a_value_that_is_too_large_imports_nothing(home: Home) -> None:
    large = "x" * ((16 << 20) + 1)
    text = f"<plist><dict><key>a</key><string>x</string><key>b</key><string>{large}</string></dict></plist>"
    refused = home.run("import", "plist", "-", stdin=text.encode())
    assert refused.returncode == 2, told(refused)
    assert home.names() == []


# With the programs themselves


def test_keepassxc_exports_what_is_imported(home: Home) -> None:
    database = home.folder / "test.kdbx"

    def keepassxc(*words: str, stdin: str = "") -> bytes:
        command = ["keepassxc-cli", words[0], "-q", *words[1:]]
        environment = home.environment | {"QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
        options = {"input": f"key\n{stdin}".encode(), "env": environment, "stdout": subprocess.PIPE}
        return subprocess.run(command, check=True, timeout=60, **options).stdout

    keepassxc("db-create", "-p", "-t", "100", str(database), stdin="key\n")
    keepassxc("mkdir", str(database), "Büro")
    notes = 'line "one", ü, canary'
    keepassxc(
        "add", str(database), "Büro/Mail", "-u", "zoë", "--url", "https://mail.example.org", "--notes", notes, "-p",
        stdin='can"ary, <1>\n',
    )  # fmt: skip
    for name, form in (("keepassxc-csv", "csv"), ("keepass-xml", "xml")):
        home.output("import", name, "-", "--prefix", f"{form}/", stdin=keepassxc("export", "-f", form, str(database)))
        assert home.get(f"{form}/Büro/Mail") == 'can"ary, <1>'.encode()
        assert home.get(f"{form}/Büro/Mail.notes") == notes.encode()
        assert attributes(home)[f"{form}/Büro/Mail"] == {"username": "zoë", "url": "https://mail.example.org"}


@pytest.mark.needs("gpg", "pass")
def test_a_store_of_pass_is_decrypted_by_gpg(home: Home) -> None:
    # The path of the agent's socket is limited to 108 bytes.
    keys = Path(tempfile.mkdtemp(prefix="gpg-"))
    home = home.with_variables(GNUPGHOME=str(keys))
    entries = {
        "web/github": 'can"ary, ü\nuser: mia\nurl: https://github.com\npin: canary-pin\n'
        + f"otpauth://totp/G?secret=CANARYAA\n\n{NOTE}",
        "plain": "canary-2",
    }

    def run(*command: str, stdin: str = "") -> None:
        subprocess.run(command, check=True, input=stdin.encode(), env=home.environment, timeout=60, capture_output=True)

    try:
        run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "mia", "default", "default", "never")
        run("pass", "init", "mia")
        for name, text in entries.items():
            run("pass", "insert", "--multiline", name, stdin=text)
        finished = home.run("import", "pass", home.folder / ".password-store")
        assert finished.returncode == 0, told(finished)
        silent(finished)
        (home.folder / ".password-store/broken.gpg").write_bytes(b"canary")
        broken = home.run("import", "pass", home.folder / ".password-store", "--prefix", "again/")
        assert broken.returncode == 8 and b"broken.gpg was not read" in broken.stderr
        silent(broken)
    finally:
        run("gpgconf", "--kill", "all")
        shutil.rmtree(keys)
    assert stored(home) == {
        "web/github": 'can"ary, ü'.encode(), "web/github.pin": b"canary-pin",
        "web/github.notes": NOTE.rstrip("\n").encode(), "web/github.otp": b"otpauth://totp/G?secret=CANARYAA",
        "plain": b"canary-2",
    }  # fmt: skip
    assert attributes(home) == {"web/github": {"username": "mia", "url": "https://github.com"}}


KEYRING = """
eval "$(printf 'key\\n' | gnome-keyring-daemon --unlock --components=secrets 2>/dev/null)"
printf 'can"ary, \\303\\274\\ncanary = 2\\n' | secret-tool store --label='My "app"' kind test user mia || exit 90
printf 'canary-git\\npassword_expiry_utc=4102444800\\noauth_refresh_token=canary-token' |
  secret-tool store --label='Git: https://github.com/' xdg:schema org.git.Password \
    user mia server github.com protocol https || exit 90
exec "$@"
"""


@pytest.mark.needs("gnome-keyring-daemon", "secret-tool")
def test_the_keyring_is_read_by_secret_tool(home: Home) -> None:
    home = home.with_variables(XDG_RUNTIME_DIR=str(home.folder))
    bus = home.started_through("dbus-run-session", "--", "sh", "-c", KEYRING, "sh")
    finished = bus.run("import", "libsecret", "user=mia")
    assert finished.returncode == 0, told(finished)
    silent(finished)
    assert stored(home) == {
        'keyring/My "app"': 'can"ary, ü\ncanary = 2\n'.encode(), "git/github.com/mia": b"canary-git",
        "git/github.com/mia.refresh-token": b"canary-token",
    }  # fmt: skip
    git = {"protocol": "https", "host": "github.com", "username": "mia"}
    found = attributes(home)
    assert found["git/github.com/mia"] == git
    assert found["git/github.com/mia.refresh-token"] == git | {"field": "refresh-token"}
    assert found['keyring/My "app"'].items() >= {"kind": "test", "user": "mia"}.items()
    items = {item["name"]: item for item in json.loads(home.output("ls", "--json"))["items"]}
    assert items["git/github.com/mia"]["expires"] == "2100-01-01T00:00:00.000Z"
    missing = bus.run("import", "libsecret", "user=nobody")
    assert missing.returncode == 2 and b"found no item" in missing.stderr


def test_an_object_of_texts_is_imported(home: Home) -> None:
    home.output("import", "json", "-", "--prefix", "app/", stdin='{"b": "two\\nlines", "ä": ""}'.encode())
    assert home.values() == {"app/b": b"two\nlines", "app/ä": b""}


def test_a_terminal_is_no_file(home: Home) -> None:
    with Terminal(home, "import", "env", "-") as terminal:
        code, shown = terminal.end()
    assert code == 2 and b"Pipe the file in, or pass its path" in shown
