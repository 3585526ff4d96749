"""The policy that lets only `vault run` read a value: it stays with what it guards, until `vault attr` lifts it."""

import json
import time
from collections.abc import Callable

import pytest

from homes import Home
from terminals import Terminal

pytestmark = pytest.mark.both_paths_in_full

USAGE, NOT_FOUND, REFUSED = 2, 3, 4
PASSWORD, PIN, PLAIN = b"pass-4711", b"pin-0815", b"plain-12"


@pytest.fixture
def guarded(home: Home) -> Home:
    """A login that only `vault run` may read, with a field; and an entry that all commands may read."""
    home.set("shop", PASSWORD, "-a", "policy=run", "-a", "username=ada")
    home.set("shop.pin", PIN)
    home.set("other", PLAIN, "-a", "url=x")
    return home


def attributes(home: Home, name: str) -> dict[str, str]:
    return json.loads(home.output("show", name, "--json"))["attributes"]


def readable(home: Home) -> dict[str, bytes]:
    """What `vault get` shows."""
    finished = {name: home.run("get", name) for name in home.names()}
    assert {one.returncode for one in finished.values()} <= {0, REFUSED}
    return {name: one.stdout for name, one in finished.items() if one.returncode == 0}


def run(home: Home, name: str) -> bytes:
    return home.output("run", "--env", f"V={name}", "--", "sh", "-c", 'printf %s "$V"')


# Reading


def test_policy_run_lets_no_other_command_read_a_value(guarded: Home) -> None:
    for name in ("shop", "shop.pin"):
        sentence = guarded.refusal(REFUSED, "get", name)
        assert 'Only `vault run` may read "shop"' in sentence and "`vault attr shop policy=`" in sentence
    assert (run(guarded, "shop"), run(guarded, "shop.pin")) == (PASSWORD, PIN)
    assert guarded.get("shop.username") == b"ada", "lists show it too"
    assert guarded.names() == ["other", "shop", "shop.pin"]
    assert "policy" in guarded.refusal(REFUSED, "export", "json", "--plaintext")


def test_a_one_time_code_is_a_read_too(guarded: Home) -> None:
    guarded.set("shop.otp", b"JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    guarded.set("shop.hotp", b"otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1")
    for name in ("shop", "shop.hotp"):
        assert "Only `vault run`" in guarded.refusal(REFUSED, "otp", name)
    assert b"counter=1" in run(guarded, "shop.hotp")


def test_a_login_that_has_expired_still_guards_its_fields(guarded: Home) -> None:
    guarded.output("set", "shop", "--expires", "1s", stdin=b"new")
    time.sleep(1.1)
    guarded.refusal(NOT_FOUND, "get", "shop")
    sentence = guarded.refusal(REFUSED, "get", "shop.pin")
    assert 'Only `vault run` may read "shop"' in sentence and "expired" in sentence
    # The way that it names.
    guarded.set("shop", b"newer")
    guarded.refusal(REFUSED, "get", "shop")
    guarded.output("attr", "shop", "policy=")
    assert readable(guarded) == {"other": PLAIN, "shop": b"newer", "shop.pin": PIN}


# Setting and lifting


def test_attributes_that_are_set_are_added(guarded: Home) -> None:
    guarded.output("set", "shop", "-a", "url=https://shop.example", "-a", "username=mia", stdin=b"new")
    assert attributes(guarded, "shop") == {"policy": "run", "url": "https://shop.example", "username": "mia"}
    guarded.refusal(REFUSED, "get", "shop")
    assert run(guarded, "shop") == b"new"


def test_attr_alone_lifts_it(guarded: Home) -> None:
    for words in (("-a", "policy="), ("-a", "url=y", "-a", "policy=")):
        sentence = guarded.refusal(USAGE, "set", "shop", *words, stdin=b"new")
        assert "`vault attr shop policy=`" in sentence
    assert run(guarded, "shop") == PASSWORD
    guarded.output("attr", "shop", "policy=")
    assert readable(guarded) == {"other": PLAIN, "shop": PASSWORD, "shop.pin": PIN}
    assert attributes(guarded, "shop") == {"username": "ada"}
    guarded.set("shop", b"new")
    guarded.output("restore", "shop")
    assert guarded.get("shop") == PASSWORD, "what it says stays so"


def test_a_policy_that_does_not_exist_is_not_set(home: Home) -> None:
    sentence = home.refusal(USAGE, "set", "bank", "-a", "policy=ran", stdin=b"a secret")
    assert "ran" not in sentence.split() and "run" in sentence
    assert not home.vault.exists()


# What replaces a value


def collect(home: Home, *options: str) -> None:
    box = json.loads(home.output("info", "--json"))["drop_box"]
    (home.folder / "x.drop").unlink(missing_ok=True)
    home.output("drop", "--to", box, "shop", "-o", str(home.folder / "x.drop"), *options, stdin=b"new")
    home.output("collect", "-f", str(home.folder / "x.drop"))


def import_json(home: Home, attributes: dict[str, str]) -> None:
    entry = {"name": "shop", "value": "new", "attributes": attributes}
    document = {"vault_export": 1, "entries": [entry]}
    home.output("import", "json", "-", "--replace", stdin=json.dumps(document).encode())


def expire(home: Home) -> None:
    home.output("set", "shop", "--expires", "1s", stdin=b"old")
    time.sleep(1.1)
    home.set("shop", b"new")


REPLACEMENTS: dict[str, Callable[[Home], object]] = {
    "set": lambda home: home.set("shop", b"new"),
    "set with an attribute": lambda home: home.set("shop", b"new", "-a", "url=y"),
    "set after it has expired": expire,
    "generate": lambda home: home.output("generate", "-f", "shop"),
    "cp": lambda home: home.output("cp", "-f", "other", "shop"),
    "mv": lambda home: home.output("mv", "-f", "other", "shop"),
    "collect": collect,
    "collect with a policy that is none": lambda home: collect(home, "-a", "policy="),
    "import env": lambda home: home.output("import", "env", "-", "--replace", stdin=b"shop=new\n"),
    "import json": lambda home: import_json(home, {}),
    "import json with a policy that is none": lambda home: import_json(home, {"policy": ""}),
    "edit": lambda home: home.with_variables(EDITOR="sh -c 'echo new >$0'").run("edit", "shop"),
}


@pytest.mark.parametrize("way", REPLACEMENTS)
def test_what_replaces_a_value_keeps_its_policy(guarded: Home, way: str) -> None:
    REPLACEMENTS[way](guarded)
    assert attributes(guarded, "shop")["policy"] == "run"
    assert set(readable(guarded)) <= {"other"}
    assert (run(guarded, "shop") == PASSWORD) == (way == "edit"), "an editor shows the value"


def test_what_git_and_docker_replace_keeps_its_policy(home: Home) -> None:
    git = b"protocol=https\nhost=h\nusername=m\npassword=%s\n"
    docker = b'{"ServerURL": "r.example", "Username": "m", "Secret": "%s"}'
    for word in (b"one", b"two"):
        home.output("git-credential", "store", stdin=git % word)
        home.output("docker-credential", "store", stdin=docker % word)
        for name in ("git/h/m", "docker/r.example"):
            home.output("attr", name, "policy=run", "mine=x")
            assert run(home, name) == word
    assert readable(home) == {}
    assert attributes(home, "git/h/m") == {
        "policy": "run", "mine": "x", "protocol": "https", "host": "h", "username": "m"
    }  # fmt: skip


# Copies, and what is left


def test_a_copy_and_a_new_name_have_the_policy(guarded: Home) -> None:
    guarded.output("cp", "shop", "copy")
    guarded.output("cp", "shop.pin", "pin")
    guarded.output("mv", "shop.pin", "other.pin")
    assert set(readable(guarded)) == {"other"}
    guarded.output("mv", "-r", "shop", "store")
    assert set(readable(guarded)) == {"other"}


def test_fields_move_with_the_policy_of_their_login(guarded: Home) -> None:
    guarded.output("cp", "-r", "shop", "store")
    assert attributes(guarded, "store.pin") == {}
    guarded.output("attr", "store", "policy=")
    assert readable(guarded) == {"other": PLAIN, "store": PASSWORD, "store.pin": PIN}


@pytest.mark.parametrize("words", ["rm shop", "rm -f shop", "rm --purge shop", "mv shop store"])
def test_a_login_does_not_leave_its_fields_without_it(guarded: Home, words: str) -> None:
    sentence = guarded.refusal(REFUSED, *words.split())
    assert '"shop.pin"' in sentence and "Nothing was changed." in sentence and "-r" in sentence
    assert guarded.names() == ["other", "shop", "shop.pin"]
    # What it says for fields that are to stay.
    guarded.output(*sentence.split("`")[-2].split()[1:])
    guarded.output(*words.split())
    assert set(readable(guarded)) == {"other"} and run(guarded, "shop.pin") == PIN


def test_a_login_is_removed_with_its_fields(guarded: Home) -> None:
    guarded.output("rm", "-r", "shop")
    assert guarded.names() == ["other"]
    guarded.output("undo")
    assert set(readable(guarded)) == {"other"} and run(guarded, "shop.pin") == PIN


def test_a_helper_does_not_leave_a_field_without_it(home: Home) -> None:
    request = b"protocol=https\nhost=h\nusername=m\n"
    home.output("git-credential", "store", stdin=request + b"password=one\n")
    home.output("attr", "git/h/m", "policy=run")
    home.set("git/h/m.otp", PIN)
    assert "git/h/m.otp" in home.refusal(REFUSED, "git-credential", "erase", stdin=request)
    home.output("rm", "git/h/m.otp")
    home.output("git-credential", "erase", stdin=request)
    assert home.names() == []


# Earlier values


def test_an_earlier_value_has_the_policy_that_its_name_has(guarded: Home) -> None:
    guarded.output("attr", "other", "policy=run")
    guarded.output("restore", "other", "--version", "1")
    assert readable(guarded) == {} and attributes(guarded, "other") == {"policy": "run", "url": "x"}
    guarded.output("rm", "other")
    for version in ("2", "1"):
        guarded.output("restore", "other", "--version", version)
        assert readable(guarded) == {}


def test_a_field_that_comes_back_without_its_login_is_guarded(guarded: Home) -> None:
    guarded.output("rm", "-r", "shop")
    guarded.output("restore", "shop.pin")
    assert set(readable(guarded)) == {"other"} and run(guarded, "shop.pin") == PIN


def test_what_is_taken_back_leaves_the_policy_and_says_so(guarded: Home) -> None:
    guarded.output("attr", "other", "policy=run")
    told = guarded.run("undo").stderr.decode()
    assert 'Only `vault run` may read "other".' in told
    assert readable(guarded) == {}
    guarded.output("attr", "other", "policy=")
    assert guarded.get("other") == PLAIN


# What is said


def test_a_person_is_told_which_of_the_stored_values_are_guarded(guarded: Home) -> None:
    for words in (("cp", "-f", "other", "shop"), ("cp", "shop.pin", "pin"), ("generate", "-f", "shop"), ("undo",)):
        with Terminal(guarded, *words) as terminal:
            code, shown = terminal.end()
        name = "pin" if "pin" in words else "shop"
        assert code == 0 and f'Only `vault run` may read "{name}".'.encode() in shown
    with Terminal(guarded, "cp", "other", "another") as terminal:
        assert b"vault run" not in terminal.end()[1]
