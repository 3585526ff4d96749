"""`vault export`: the plain text that other programs read, and that an import brings back."""

import csv
import io
import json
import stat
import subprocess
from pathlib import Path

import pytest

from homes import Home, told
from terminals import on_terminal

pytestmark = pytest.mark.both_paths_in_full

NOTE = 'canary "note", ü\r\n' * 4096


def filled(home: Home) -> Home:
    value = 'can"ary,\nü \u202e\x00\x7f'
    home.set("web/mail", value.encode(), "-a", "username=zoë", "-a", "url=https://x.org/?a=1,2")
    home.set("web/mail.notes", NOTE.encode())
    home.set("web/mail.otp", b"canary-otp")
    home.set("empty", b"", "--allow-empty", "-a", 'we"ird\\=\n\t', "-a", "Zoë=🔑")
    home.set("bytes", bytes(range(256)))
    home.set("\u00e9", b"canary-1")
    home.set("e\u0301", b"canary-2")
    home.set("text", b"canary", "--type", "string")
    home.set("count", b"42", "--type", "int")
    home.set("list", b'["canary", {"b": 2.5}]', "--type", "json")
    home.set("since", b"2026-01-31T09:05:00.120Z", "--type", "date")
    return home


def without_times(text: bytes) -> dict:
    document = json.loads(text)
    for entry in document["entries"]:
        assert entry.pop("created") and entry.pop("modified")
    return document


def test_an_export_as_json_is_imported_as_it_was(home: Home, tmp_path: Path) -> None:
    exported = filled(home).output("export", "json", "--plaintext")
    document = json.loads(exported)
    expiring = {"name": "expiring", "kind": "kind 200", "value": "canary", "attributes": {}}
    expiring["expires"] = "2099-12-31T23:59:59.999Z"
    gone = {"name": "gone", "value": "canary", "expires": "2001-01-01T00:00:00.000Z"}
    document["entries"] += [expiring, gone]
    other = Home(home.binary, tmp_path / "other")
    report = other.output("import", "json", "-", stdin=json.dumps(document).encode())
    assert report == b"Imported 12 entries. Left out: 1 expired entry.\n"
    again = other.output("export", "json", "--plaintext")
    assert without_times(again)["entries"][3] == expiring
    third = Home(home.binary, tmp_path / "third")
    third.output("import", "json", "-", stdin=again)
    assert without_times(third.output("export", "json", "--plaintext")) == without_times(again)
    other.output("rm", "expiring")
    assert without_times(other.output("export", "json", "--plaintext")) == without_times(exported)
    assert other.values() == home.values()
    lists = [json.loads(each.output("ls", "--json"))["items"] for each in (home, other)]
    kinds, others = ({item["name"]: item["kind"] for item in items} for items in lists)
    assert kinds == others
    assert third.output("import", "json", "-", "--replace", stdin=again) == b"Imported 0 entries, 12 unchanged.\n"


def test_an_export_is_confirmed_and_goes_to_a_new_file_of_mode_0600(home: Home) -> None:
    filled(home)
    assert "Use --plaintext" in home.refusal(4, "export", "json")
    path = home.folder / "out.json"
    assert home.output("export", "json", "--plaintext", "-o", "out.json") == (
        "Wrote 11 entries in plain text to out.json.\n".encode()
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == home.output("export", "json", "--plaintext")
    before = path.read_bytes()
    assert "already exists" in home.refusal(4, "export", "csv", "--plaintext", "--prefix", "text", "-o", "out.json")
    assert path.read_bytes() == before
    shown = on_terminal(home, "export", "json", "--plaintext")
    assert b"Standard output is a terminal" in shown and b"canary" not in shown
    assert home.output("export", "json", "--plaintext", "--prefix", "nothing") == b'{"vault_export":1,"entries":[\n]}\n'


def test_variables_are_read_back(home: Home, tmp_path: Path) -> None:
    values = {"db/password": 'can"ary $HOME\\n', "api-token": "canary\r\n# two\n", "2fa": " ü "}
    for name, value in values.items():
        home.set(name, value.encode())
    exported = home.output("export", "env", "--plaintext")
    other = Home(home.binary, tmp_path / "other")
    other.output("import", "env", "-", stdin=exported)
    wanted = {"DB_PASSWORD": values["db/password"], "API_TOKEN": values["api-token"], "_2FA": values["2fa"]}
    assert other.values() == {name: value.encode() for name, value in wanted.items()}
    home.set("list", b'["canary", 2]', "--type", "json")
    home.set("since", b"2026-01-31", "--type", "date")
    home.set("count", b"42", "--type", "int")
    assert home.output("export", "env", "--plaintext", "--prefix", "list") == b"LIST='[\"canary\",2]'\n"
    assert home.output("export", "env", "--plaintext", "--prefix", "since") == b"SINCE='2026-01-31T00:00:00.000Z'\n"
    assert home.output("export", "env", "--plaintext", "--prefix", "count") == b"COUNT='42'\n"
    home.set("db.password", b"canary")
    refused = home.run("export", "env", "--plaintext")
    assert refused.returncode == 4 and refused.stdout == b"", told(refused)
    assert refused.stderr.decode().splitlines()[1:] == ["  db.password", "  db/password"]
    home.set("bytes", b"\xffcanary")
    refused = home.run("export", "env", "--plaintext")
    assert refused.returncode == 4 and refused.stderr.decode().splitlines()[1:] == ["  bytes"]
    assert b"canary" not in refused.stderr


def test_csv_has_one_row_per_login(home: Home) -> None:
    home.set("web/mail", 'can"ary,\nü'.encode(), "-a", "username=zoë", "-a", "url=https://x.org/?a=1,2")
    home.set("web/mail.notes", NOTE.encode())
    home.set("web/mail.otp", b"canary-otp")
    home.set("web/mail.pin", b"canary-pin")
    home.set("lonely.notes", b"canary-note")
    text = home.output("export", "csv", "--plaintext").decode()
    assert text.endswith("\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert rows == [
        {"name": "lonely.notes", "username": "", "password": "canary-note", "url": "", "notes": "", "otp": ""},
        {
            "name": "web/mail", "username": "zoë", "password": 'can"ary,\nü', "url": "https://x.org/?a=1,2",
            "notes": NOTE, "otp": "canary-otp",
        },
        {"name": "web/mail.pin", "username": "", "password": "canary-pin", "url": "", "notes": "", "otp": ""},
    ]  # fmt: skip
    home.set("bytes", b"\x00canary")
    refused = home.run("export", "csv", "--plaintext")
    assert refused.returncode == 4 and b"\n  bytes\n" in refused.stderr and b"canary" not in refused.stderr


def test_a_shell_reads_the_same_and_runs_nothing(home: Home, tmp_path: Path) -> None:
    values = {"A": "a`touch ran`b $(touch ran)", "B": "it's `touch ran` \\ \"$HOME\"\ntwo lines\r\n", "C": "plain"}
    for name, value in values.items():
        home.set(name, value.encode())
    exported = home.output("export", "env", "--plaintext")
    script = 'set -a; . ./file; unset PWD OLDPWD SHLVL _; exec env -0'
    (home.folder / "file").write_bytes(exported)
    for shell in ("sh", "bash"):
        finished = subprocess.run(
            [shell, "-c", script], cwd=home.folder, env={"PATH": home.environment["PATH"]}, capture_output=True,
            timeout=20,
        )  # fmt: skip
        seen = dict(line.split("=", 1) for line in finished.stdout.decode().split("\0") if line)
        assert {name: seen[name] for name in values} == values, finished
    assert not (home.folder / "ran").exists()
    other = Home(home.binary, tmp_path / "other")
    other.output("import", "env", "-", stdin=exported)
    assert other.values() == {name: value.encode() for name, value in values.items()}
