"""--json everywhere, in the one documented schema."""

import base64
import json

import pytest

from homes import COMMANDS, Home
from json_shapes import documented, fits

pytestmark = pytest.mark.both_paths


def read_json(output: bytes) -> dict:
    assert output.endswith(b"\n") and output.count(b"\n") == 1, "one object on one line"
    return json.loads(output)


# Those of two words, and those that `help json` shows by an example of their arguments.
RUNS = (
    "help", "help set", "help json", "completions bash", "man", "init", "set a", "set b --exact", "get a", "get b",
    "get a b", "show a", "attr a k=v", "ls", "find a", "exists a", "mv a c", "cp c a", "rm c", "info", "doctor",
    "verify", "compact", "salvage out", "version", "set a", "history", "history a", "restore a", "undo", "log --on",
    "get a", "log", "setup git", "setup docker", "setup aws a", "key ls", "key add --file new.key",
    "setup ssh new.key a", "key rm 2", "key check", "key replace own.key", "--key-file own.key key rotate",
    "--key-file own.key key show", "--key-file own.key drop d -o d.drop --to", "--key-file own.key backup copy",
    "--key-file own.key merge copy", "--key-file own.key clone copy copied", "--key-file own.key log --head", "--key-file own.key env A=a B=b", "--key-file own.key inject -o filled",
    "setup direnv", "prefs set a x", "prefs set b --type data", "prefs get a", "prefs get b", "prefs ls", "prefs rm a",
    "--key-file own.key import env - --dry-run", "--key-file own.key export json --plaintext -o out.json",
    "--key-file own.key set seed", "--key-file own.key otp seed", "lock", "--key-file own.key generate p --show",
    "member device", "--key-file own.key member ls", "--key-file own.key member add mia",
    "--key-file own.key member ls", "--key-file own.key log --changes",
)  # fmt: skip
# What they need besides is tested where they are: a terminal, the kernel's keyring, a repository, another program.
ELSEWHERE = {
    "askpass", "collect", "copy", "edit", "key join", "key split", "member rm", "pick", "setup git-merge", "setup kube", "ssh-add",
    "unlock",
}  # fmt: skip
# Those whose output is another program's, or made for one, with or without --json.
FOREIGN = {
    "git-credential", "docker-credential", "aws-credential", "kube-credential", "systemd-credential", "run",
}  # fmt: skip
# Commands of more than one shape, by the words that tell them apart.
VARIANTS = {"history a": "history NAME", "help set": "help COMMAND", "help json": "help TOPIC"}


def test_every_command_writes_the_json_that_is_documented(home: Home) -> None:
    shapes = documented(home)
    tried = set()
    for run in RUNS:
        words = run.split()
        if "drop" in words:
            words.append(json.loads(home.output("--key-file", "own.key", "info", "--json"))["drop_box"])
        inputs = {"seed": b"GEZDGNBVGY3TQOJQ", "b": b"\xff", "import": b"A=x\n"}
        text = next((text for word, text in inputs.items() if word in words), b"tok")
        output = home.output("--json", *words, stdin=text)
        title = run.removeprefix("--key-file own.key ")
        command = VARIANTS.get(title) or max((name for name in COMMANDS if title.startswith(name)), key=len)
        assert any(fits(read_json(output), shape, shapes) for shape in shapes[command]), (run, output, shapes[command])
        tried.add(command)
    assert tried | ELSEWHERE | FOREIGN == {*COMMANDS, *VARIANTS.values()}
    # What is not tried here is documented too.
    assert set(COMMANDS) - set(shapes) == FOREIGN


@pytest.mark.parametrize(
    "value",
    [
        {"name": "a"}, {"name": "a", "versions": {}}, {"name": "a", "versions": [{"version": 1, "modified": "x"}]},
        {"name": [], "versions": []}, {"name": "a", "versions": [], "more": 1},
    ],
)  # fmt: skip
def test_what_has_another_shape_than_is_documented_is_noticed(home: Home, value: object) -> None:
    shapes = documented(home)
    assert fits({"name": "a", "versions": [{"version": 1, "modified": "x", "size": 2, "author": None, "author_was_member": None}]}, shapes["history NAME"][0], shapes)
    assert not fits(value, shapes["history NAME"][0], shapes)


def test_the_cost_of_a_key_is_in_the_json_that_is_documented(home: Home) -> None:
    home.key.parent.mkdir(parents=True)
    home.key.write_bytes(b"a passphrase of people\n")
    home.key.chmod(0o600)
    home.output("init")
    (key,) = json.loads(home.output("key", "ls", "--json"))["keys"]
    assert set(key["cost"]) == {"passes", "memory"} and fits(key, "KEY", documented(home))


def test_help_as_json_is_the_help(home: Home) -> None:
    commands = read_json(home.output("help", "--json"))["commands"]
    for command in commands:
        for words in (("help", command["name"]), (command["name"], "--help")):
            assert read_json(home.output(*words, "--json")) == command
    for topic in ("locations", "environment", "exit-codes", "json"):
        report = read_json(home.output("help", topic, "--json"))
        assert report["topic"] == topic and report["summary"]
        assert report["text"].encode() == home.output("help", topic)


@pytest.mark.parametrize("value", ["tok", 'a"b\\c\n\t\x00\x1b\u202eü🔑', "\u2028"])
def test_get_as_json_carries_any_text(home: Home, value: str) -> None:
    home.set("u.token", value.encode())
    output = home.output("get", "--json", "u.token")
    assert read_json(output) == {"name": "u.token", "value": value}
    assert b"\x1b" not in output and "\u202e".encode() not in output


@pytest.mark.parametrize("size", [1, 2, 3, 4, 1000])
def test_get_as_json_carries_other_bytes_as_base64(home: Home, size: int) -> None:
    value = b"\xff" * size
    home.set("data", value)
    assert read_json(home.output("get", "--json", "data")) == {
        "name": "data",
        "value_base64": base64.b64encode(value).decode(),
    }


def test_ls_as_json_tells_everything_but_the_value(home: Home) -> None:
    home.set("u.token", b"a-value", "-a", "host=github.com")
    (item,) = read_json(home.output("ls", "--json"))["items"]
    assert (item["name"], item["size"], item["kind"]) == ("u.token", 7, "unspecified")
    assert item["attributes"] == {"host": "github.com"}
    assert b"a-value" not in home.output("ls", "--json")


def test_the_keys_of_attributes_are_not_changed_in_json(home: Home) -> None:
    home.set("u.token", b"tok", "-a", "hostName=x", "-a", "host name=y")
    (item,) = read_json(home.output("ls", "--json"))["items"]
    assert item["attributes"] == {"hostName": "x", "host name": "y"}


def test_lists_are_written_as_all_json_is(home: Home) -> None:
    """They are put together by hand: the keys sorted, nothing escaped that need not be."""
    home.set("none", b"tok")
    home.set('quo"te\\', b"tok", "-a", "url=a/b?c=d", "-a", 'we"ird\\=\t\n"', "-a", "Zoë=🔑", "-a", "aa=", "-a", "a=1")
    home.set("ü🔑", b"tok", "-a", "one=1")
    for words in (("ls",), ("ls", "ü"), ("ls", "nothing"), ("find", "e"), ("find", "one=1"), ("find", "nothing")):
        output = home.output(*words, "--json")
        text = json.dumps(read_json(output), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert output.decode() == text + "\n"


def test_numbers_and_paths_in_json_are_right(home: Home) -> None:
    for name in ("a", "b", "c"):
        home.set(name, b"tok")
    home.output("rm", "a")
    information = read_json(home.output("info", "--json"))
    assert (information["vault"], information["key_file"]) == (str(home.vault), str(home.key))
    assert information["entries"] == 2 and information["file_size"] == home.vault.stat().st_size
    assert read_json(home.output("verify", "--json"))["entries"] == 2
    assert read_json(home.output("rm", "--json", "b"))["removed"] == ["b"]


def test_exists_as_json_says_no_and_ends_with_3(home: Home) -> None:
    home.set("a", b"tok")
    finished = home.run("exists", "--json", "b")
    assert finished.returncode == 3 and read_json(finished.stdout) == {"name": "b", "exists": False}


def test_errors_in_json_carry_code_exit_and_message(home: Home) -> None:
    text = home.output("help", "json").decode()
    for words, code, exit_code in [
        (("get", "a"), "no-vault", 3),
        (("get",), "usage", 2),
        (("sett", "a"), "usage", 2),
        (("set", "two\nlines"), "invalid", 2),
    ]:
        finished = home.run(*words, "--json", stdin=b"tok")
        error = read_json(finished.stderr)["error"]
        assert (finished.returncode, finished.stdout) == (exit_code, b"")
        assert (error["code"], error["exit"]) == (code, exit_code) and error["message"].endswith((".", "PATH"))
        assert code in text


def test_the_note_about_a_new_vault_is_json_too(home: Home) -> None:
    finished = home.run("set", "a", "--json", stdin=b"tok")
    note = read_json(finished.stderr)["note"]
    assert note == {
        "vault": str(home.vault), "key_file": str(home.key), "made_vault": True, "made_key_file": True,
        "key_file_is_beside_vault": False, "key_file_is_short": False,
    }  # fmt: skip
