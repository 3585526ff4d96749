"""What a person does with names every day: look, change attributes, move folders, list."""

import json
import re
from datetime import datetime, timedelta, timezone

import pytest

from homes import Home
from terminals import Terminal, on_terminal

pytestmark = pytest.mark.both_paths

ABSENT, REFUSED, USAGE, EXPIRING = 3, 4, 2, 10
LOGIN = ("web/shop", "web/shop.notes", "web/shop.otp")


@pytest.fixture
def login(home: Home) -> Home:
    """A login with two fields, and names that only look as if they belonged to it."""
    for name in (*LOGIN, "web/shopping", "web/mail/mia", "u.token"):
        home.set(name, f"value of {name}".encode())
    home.output("attr", "web/shop", "username=mia", "url=https://shop.example")
    return home


# set


def test_set_says_at_a_terminal_what_it_did(home: Home) -> None:
    for sentence in ("Stored u.token.", "Replaced the value of u.token. `vault restore u.token` brings"):
        with Terminal(home, "set", "u.token") as terminal:
            terminal.answer("(not shown): ", "a-secret\r")
            terminal.answer("Repeat the value: ", "a-secret\r")
            code, shown = terminal.end()
        assert code == 0 and sentence.encode() in shown and b"a-secret" not in shown
    assert home.run("set", "u.token", stdin=b"a-secret").stderr == b"", "scripts are not told"


def test_a_value_is_kept_where_a_name_has_one(home: Home) -> None:
    home.set("a", b"first")
    for value in (b"second", b"first"):
        report = json.loads(home.output("set", "--if-absent", "a", "--json", stdin=value))
        assert (report["stored"], report["size"]) == (False, None)
    assert home.get("a") == b"first"
    assert json.loads(home.output("set", "--if-absent", "b", "--json", stdin=b"x"))["stored"] is True
    assert b"left alone" in on_terminal(home, "set", "--if-absent", "a"), "a person is not asked for it"


def test_a_value_expires_after_a_time_or_on_a_day(home: Home) -> None:
    now = datetime.now(timezone.utc)
    home.output("set", "soon", "--expires", "2s", stdin=b"x")
    report = json.loads(home.output("set", "later", "--expires", "90d", "--json", stdin=b"x"))
    home.output("set", "day", "--expires", "2190-01-31", stdin=b"x")
    assert abs(datetime.fromisoformat(report["expires"]) - now - timedelta(days=90)) < timedelta(minutes=2)
    expiries = {item["name"]: item["expires"] for item in json.loads(home.output("ls", "--json"))["items"]}
    assert expiries["day"] == "2190-01-31T00:00:00.000Z" and expiries["later"] == report["expires"]
    home.output("set", "later", stdin=b"y")
    assert json.loads(home.output("show", "later", "--json"))["expires"] is None, "another value does not expire"
    while "soon" in home.names():
        assert datetime.now(timezone.utc) - now < timedelta(seconds=30)
    home.refusal(ABSENT, "get", "soon")


@pytest.mark.parametrize("time", ["", "soon", "-1d", "0d", "8", "2020-01-01", "2027-02-30", "1w"])
def test_an_expiry_that_cannot_be_meant_is_wrong_usage(home: Home, time: str) -> None:
    assert "--expires" in home.refusal(USAGE, "set", "a", f"--expires={time}", stdin=b"x")
    assert not home.vault.exists()


# show, attr, fields


def test_show_tells_all_but_the_value(login: Home) -> None:
    text = login.output("show", "web/shop").decode()
    assert "value of" not in text
    assert re.findall(r"^(\w+): +(.*)$", text, re.M)[:3] == [
        ("Name", "web/shop"), ("Type", "unspecified"), ("Size", "17 bytes")
    ]  # fmt: skip
    assert text.endswith(
        "Attribute:  url=https://shop.example\nAttribute:  username=mia\n"
        "Field:      web/shop.notes\nField:      web/shop.otp\n"
    )
    report = json.loads(login.output("show", "web/shop", "--json"))
    assert report["attributes"] == {"username": "mia", "url": "https://shop.example"}
    assert report["fields"] == ["web/shop.notes", "web/shop.otp"]
    assert "web/shop" in login.refusal(ABSENT, "show", "web/shp")


def test_a_login_may_have_fields_alone(home: Home) -> None:
    home.set("shop.otp", b"x")
    report = json.loads(home.output("show", "shop", "--json"))
    assert report["fields"] == ["shop.otp"] and report["size"] is None


def test_attributes_change_without_the_value(login: Home) -> None:
    login.output("set", "web/shop", "--expires", "90d", "--type", "string", stdin=b"typed")
    before = json.loads(login.output("show", "web/shop", "--json"))
    report = json.loads(login.output("attr", "web/shop", "url=", "userName=bob", "none=", "--json"))
    assert report["attributes"] == {"username": "mia", "userName": "bob"}
    after = json.loads(login.output("show", "web/shop", "--json"))
    assert after["attributes"] == report["attributes"]
    for key in ("size", "kind", "created", "expires", "fields"):
        assert after[key] == before[key]
    assert login.get("web/shop") == b"typed"
    login.output("undo")
    assert json.loads(login.output("show", "web/shop", "--json"))["attributes"] == before["attributes"]


def test_attributes_that_stay_as_they_are_are_not_written(login: Home) -> None:
    before = login.vault.read_bytes()
    login.output("attr", "web/shop", "username=mia", "none=")
    assert login.vault.read_bytes() == before


def test_an_attribute_is_a_field_that_can_be_read(login: Home) -> None:
    assert login.get("web/shop.username") == b"mia"
    login.set("web/shop.username", b"entry")
    assert login.get("web/shop.username") == b"entry", "an entry of that name comes first"
    login.refusal(ABSENT, "get", "web/shop.password")
    login.refusal(ABSENT, "get", "web/mail.mia")


@pytest.mark.parametrize("words", [["nokey"], ["=x"], ["a=1", "a=2"], []])
def test_what_is_no_attribute_is_not_repeated(login: Home, words: list[str]) -> None:
    sentence = login.refusal(USAGE, "attr", "web/shop", *words)
    assert "nokey" not in sentence


# get


def test_several_values_are_written_each_on_its_lines(login: Home) -> None:
    login.set("key", b"two\nlines\n")
    assert login.output("get", "u.token", "key", "web/shop.username") == b"value of u.token\ntwo\nlines\nmia\n"
    assert login.output("get", "--newline=no", "u.token", "u.token") == b"value of u.token" * 2
    report = json.loads(login.output("get", "key", "u.token", "--json"))
    values = [{"name": "key", "value": "two\nlines\n"}, {"name": "u.token", "value": "value of u.token"}]
    assert report == {"values": values}
    login.refusal(ABSENT, "get", "u.token", "absent", "key")


def test_the_last_characters_are_shown_of_a_value_that_stays_hidden(home: Home) -> None:
    home.set("token", "0123456789äöü🔑".encode())
    assert home.output("get", "--last", "4", "token") == "äöü🔑".encode()
    home.set("short", b"0123456789a")
    assert "too short" in home.refusal(REFUSED, "get", "--last", "4", "short")
    assert home.output("get", "--last", "3", "short") == b"89a"
    home.set("bytes", b"\xff" * 20)
    home.refusal(REFUSED, "get", "--last", "4", "bytes")
    for count in ("0", "9", "x"):
        home.refusal(USAGE, "get", "--last", count, "token")
    home.refusal(USAGE, "get", "--last", "4", "--fingerprint", "token")


def test_equal_values_of_one_vault_have_one_fingerprint(home: Home, binary: str, tmp_path) -> None:
    for name, value in (("a", b"same"), ("b", b"same"), ("c", b"other")):
        home.set(name, value)
    a, b, c = (home.output("get", "--fingerprint", name) for name in "abc")
    assert a == b != c and re.fullmatch(rb"[0-9a-f]{4}(-[0-9a-f]{4}){3}", a)
    stranger = Home(binary, tmp_path / "stranger")
    stranger.set("a", b"same")
    assert stranger.output("get", "--fingerprint", "a") != a, "it tells nothing without the vault's keys"


# rm, mv, cp


def test_rm_takes_a_login_with_its_fields(login: Home) -> None:
    report = json.loads(login.output("rm", "-r", "web/shop", "--json"))
    assert report["removed"] == list(LOGIN)
    assert login.names() == ["u.token", "web/mail/mia", "web/shopping"]
    login.output("undo")
    assert set(LOGIN) < set(login.names()), "it was one change"
    login.refusal(ABSENT, "rm", "-r", "web/shop", "nothing")
    assert set(LOGIN) < set(login.names())
    login.output("rm", "-r", "web/")
    assert login.names() == ["u.token"]


def test_a_folder_moves_in_one_change(login: Home) -> None:
    login.output("set", "web/shop.otp", "--expires", "90d", stdin=b"typed")
    values = login.values()
    shown = json.loads(login.output("show", "web/shop", "--json"))["attributes"]
    report = json.loads(login.output("mv", "web/", "net/web", "--json"))
    assert report == {"from": "web/", "to": "net/web/", "entries": 5}
    assert login.values() == {
        (f"net/{name}" if name.startswith("web/") else name): value for name, value in values.items()
    }
    assert json.loads(login.output("show", "net/web/shop", "--json"))["attributes"] == shown
    assert json.loads(login.output("show", "net/web/shop.otp", "--json"))["expires"]
    login.output("undo")
    assert login.values() == values


def test_a_folder_is_copied_or_none_of_it(login: Home) -> None:
    login.output("cp", "-r", "web/shop", "shop")
    assert [login.get(f"shop{end}") for end in ("", ".notes", ".otp")] == [login.get(name) for name in LOGIN]
    login.output("rm", "shop", "shop.notes")
    names = login.names()
    sentence = login.refusal(REFUSED, "cp", "-r", "web/shop", "shop")
    assert '"shop.otp" already exists' in sentence and "--force" in sentence
    assert login.names() == names
    login.output("cp", "-rf", "web/shop", "shop")
    assert login.get("shop") == b"value of web/shop"


def test_one_name_goes_into_a_folder(login: Home) -> None:
    login.output("mv", "web/mail/mia", "old/")
    assert login.get("old/mia") == b"value of web/mail/mia"


@pytest.mark.parametrize("words", ["web/ web/a/", "-r web/shop web/shop/old", "-r web/shop web/shop.x"])
def test_a_folder_does_not_go_into_itself(login: Home, words: str) -> None:
    names = login.names()
    assert "itself" in login.refusal(USAGE, "mv", *words.split())
    assert login.names() == names


def test_an_empty_folder_is_absent(login: Home) -> None:
    login.refusal(ABSENT, "mv", "nothing/", "x/")
    login.refusal(ABSENT, "cp", "-r", "nothing", "x")


# ls and find


def test_a_person_sees_a_tree(login: Home) -> None:
    tree = "u.token\nweb/\n  mail/\n    mia\n  shop\n  shop.notes\n  shop.otp\n  shopping\n"
    assert login.output("ls", "--layout=tree").decode() == tree
    assert on_terminal(login, "ls").decode() == tree
    assert login.output("ls", "--layout=tree", "web/mail").decode() == "web/\n  mail/\n    mia\n"
    assert on_terminal(login, "ls", "--layout=names").decode().split() == login.names()


def test_names_that_end_with_slashes_are_leaves_of_the_tree(home: Home) -> None:
    for name in ("a", "a/", "a//b", "/c", "a-b/c"):
        home.set(name, b"x")
    tree = "/\n  c\na\na-b/\n  c\na/\na/\n  /\n    b\n"
    assert home.output("ls", "--layout=tree").decode() == tree


def test_folders_are_shown_one_level_at_a_time(login: Home) -> None:
    assert login.output("ls", "--layout=folders").decode() == "u.token\nweb/  5 entries\n"
    level = "web/mail/  1 entry\nweb/shop\nweb/shop.notes\nweb/shop.otp\nweb/shopping\n"
    assert login.output("ls", "--layout=folders", "web/").decode() == level
    login.refusal(USAGE, "ls", "--layout=folders", "--long")


def test_cron_learns_of_names_that_expire_soon(home: Home) -> None:
    home.output("set", "ten", "--expires", "10d", stdin=b"x")
    home.output("set", "twenty", "--expires", "20d", stdin=b"x")
    home.set("never", b"x")
    for time, names in (("14d", ["ten"]), ("30d", ["ten", "twenty"])):
        finished = home.run("ls", "--expiring", time)
        assert finished.returncode == EXPIRING and finished.stdout.decode().split() == names
        listed = json.loads(home.run("ls", "--expiring", time, "--json").stdout)["items"]
        assert [item["name"] for item in listed] == names
    assert home.output("ls", "--expiring", "9d") == b""
    day = (datetime.now(timezone.utc) + timedelta(days=10)).date().isoformat()
    assert day in home.run("ls", "-l", "--expiring", "14d").stdout.decode()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["web/*"], ["web/mail/mia", "web/shop", "web/shop.notes", "web/shop.otp", "web/shopping"]),
        (["*.OTP"], ["web/shop.otp"]),
        (["web/sho[p-z]"], ["web/shop"]),
        (["*[!a-z]otp"], ["web/shop.otp"]),
        (["?.token"], ["u.token"]),
        (["url=*.example"], ["web/shop"]),
        (["shop", "username=m?a"], ["web/shop"]),
        (["web/mail"], ["web/mail/mia"]),
        (["mail*"], []),
    ],
)
def test_find_takes_patterns(login: Home, words: list[str], found: list[str]) -> None:
    assert login.output("find", *words).decode().split("\n")[:-1] == found


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("list", "ls"), ("add", "set"), ("insert", "set"), ("delete", "rm"), ("search", "find"), ("Remove", "rm"),
        ("exec", "run"), ("totp", "otp"), ("clip", "copy"),
    ],  # fmt: skip
)
def test_the_words_of_other_tools_are_understood(home: Home, word: str, command: str) -> None:
    assert f'Did you mean "{command}"?' in home.refusal(USAGE, word)
