"""`vault askpass`: what ssh, ssh-add, ssh-keygen and git ask for, and what they never get."""

import json
import shlex
from pathlib import Path

import pytest

from clients import installed as installed_home
from homes import Home, told
from json_shapes import is_documented
from ssh_agents import agent, listed, new_key, signs, tool

OTHER, NOT_FOUND, USAGE, REFUSED, IO = 1, 3, 2, 4, 8
SECRET = b"a pass phrase-7c21"
HOST_QUESTION = (
    "The authenticity of host 'example.org (192.0.2.1)' can't be established.\n"
    "ED25519 key fingerprint is SHA256:AAAA.\nAre you sure you want to continue connecting (yes/no/[fingerprint])? "
)


@pytest.fixture
def installed(home: Home) -> Home:
    """A home where the command is the program that asks for a person's answer."""
    asking = {"SSH_ASKPASS": "vault-askpass", "SSH_ASKPASS_REQUIRE": "force", "GIT_ASKPASS": "vault-askpass"}
    return installed_home(home).with_variables(**asking)


@pytest.fixture
def key(installed: Home) -> Path:
    """A private key under a passphrase, which the entry ssh/laptop has."""
    path = new_key(installed, passphrase=SECRET.decode())
    installed.set("ssh/laptop", SECRET, "-a", f"askpass={path}", "-a", "host=laptop")
    return path


def refused(home: Home, prompt: str, **variables: str) -> str:
    finished = home.with_variables(**variables).run("askpass", "--", prompt)
    assert (finished.returncode, finished.stdout) == (OTHER, b""), told(finished)
    assert SECRET not in finished.stderr
    return finished.stderr.decode()


# Real clients


def test_ssh_add_gets_the_passphrase_of_a_key(installed: Home, key: Path) -> None:
    with agent(installed) as running:
        for options in ((), ("-c",)):
            added = tool(running, "ssh-add", *options, str(key))
            assert added.returncode == 0, added
        assert len(listed(running)) == 1


def test_ssh_keygen_names_no_file_so_the_prompt_itself_is_mapped(installed: Home, key: Path) -> None:
    assert tool(installed, "ssh-keygen", "-y", "-f", str(key)).returncode != 0
    installed.set("ssh/prompt", SECRET, "-a", "askpass=Enter passphrase: ")
    shown = tool(installed, "ssh-keygen", "-y", "-f", str(key))
    assert shown.stdout.split()[:2] == Path(f"{key}.pub").read_bytes().split()[:2], shown


@pytest.mark.needs("sshd")
def test_ssh_logs_in_with_the_passphrase_and_never_gets_an_answer_about_an_unknown_host(
    installed: Home, key: Path
) -> None:
    server = new_key(installed, name="host")
    # The server is at the other end of a pipe, and listens nowhere.
    options = [
        f"HostKey={server}", f"AuthorizedKeysFile={key}.pub", "StrictModes=no", "UsePAM=no", "PermitRootLogin=yes",
        "PasswordAuthentication=no",
    ]  # fmt: skip
    Path("/run/sshd").mkdir(exist_ok=True)
    proxy = shlex.join(["/usr/sbin/sshd", "-i", "-f", "/dev/null", *(f"-o{option}" for option in options)])
    known = f"UserKnownHostsFile={installed.folder}/known"
    words = ("ssh", "-F", "none", "-i", str(key), "-o", f"ProxyCommand={proxy}", "-o", known, "-o")
    unknown = tool(installed, *words, "StrictHostKeyChecking=ask", "example.org", "true")
    assert unknown.returncode == 255 and unknown.stderr.count(b"This prompt is never answered") == 1, unknown
    assert b"Host key verification failed" in unknown.stderr
    accepted = tool(installed, *words, "StrictHostKeyChecking=accept-new", "example.org", "echo", "in")
    assert (accepted.returncode, accepted.stdout) == (0, b"in\n"), accepted


def test_a_path_may_be_relative_to_the_folder_in_which_it_is_typed(installed: Home, key: Path) -> None:
    with agent(installed) as running:
        added = tool(running, "ssh-add", key.name)
        assert added.returncode == 0, added


def test_a_wrong_passphrase_is_not_tried_again(installed: Home, key: Path) -> None:
    installed.set("ssh/laptop", b"another one")
    with agent(installed) as running:
        added = tool(running, "ssh-add", str(key))
        assert added.returncode != 0 and added.stderr.count(b"never answered: \"Bad passphrase") == 1, added
        assert listed(running) == []


def test_a_key_that_the_agent_asks_about_is_not_used(installed: Home, key: Path) -> None:
    """An empty answer with the exit code 0 would be consent."""
    with agent(installed) as running:
        running.set("plain", new_key(running, name="plain").read_bytes())
        running.output("ssh-add", "-c", "plain")
        assert len(listed(running)) == 1 and not signs(running, running.folder / "plain")


def test_git_gets_user_name_and_password_of_its_own_entries(installed: Home) -> None:
    where = ("-a", "protocol=https", "-a", "host=example.org:8443", "-a", "username=mia@example.org")
    installed.set("git/example.org/mia", b"a-token", *where)
    asked = "protocol=https\nhost=example.org:8443\n\n"
    filled = tool(installed, "git", "credential", "fill", stdin=asked.encode())
    assert filled.stdout.decode() == asked[:-1] + "username=mia@example.org\npassword=a-token\n", filled
    for other in ("http\nhost=example.org:8443", "https\nhost=example.org", "https\nhost=8443"):
        assert tool(installed, "git", "credential", "fill", stdin=f"protocol={other}\n\n".encode()).returncode != 0


def test_git_gets_what_its_prompts_are_mapped_to(installed: Home) -> None:
    installed.set("name", b"mia", "-a", "askpass=Username for 'http://127.0.0.1:9': ")
    installed.set("word", b"a-token", "-a", "askpass=Password for 'http://mia@127.0.0.1:9': ")
    filled = tool(installed, "git", "credential", "fill", stdin=b"protocol=http\nhost=127.0.0.1:9\n\n")
    assert filled.stdout.endswith(b"username=mia\npassword=a-token\n"), filled


# Prompts


@pytest.mark.parametrize(
    "prompt",
    ["Enter passphrase for {}: ", "Enter passphrase for {} (will confirm each use): ", "Enter passphrase for key '{}': "],
)
def test_all_prompts_for_the_passphrase_of_a_file_are_answered(installed: Home, key: Path, prompt: str) -> None:
    for program in (("vault-askpass",), ("vault", "askpass")):
        answered = tool(installed, *program, prompt.format(key))
        assert (answered.returncode, answered.stdout) == (0, SECRET + b"\n"), answered


@pytest.mark.parametrize(
    "prompt",
    [
        "", "x", "{}", "Enter passphrase for {}", "Enter passphrase for {}x: ", "Enter passphrase for x{}: ",
        "enter passphrase for {}: ", "(mia@example.org) Enter passphrase for {}: ", "Enter passphrase for : ",
        "Bad passphrase, try again for {}: ", "Bad passphrase, try again for {} (will confirm each use): ",
        "Enter passphrase for {}: \nEnter passphrase for {}: ", "Enter PIN for '{}': ", "--help", "--version",
    ],
)  # fmt: skip
def test_no_other_prompt_is_answered(installed: Home, key: Path, prompt: str) -> None:
    refused(installed, prompt.format(key, key))
    answered = tool(installed, "vault-askpass", prompt.format(key, key))
    assert (answered.returncode, answered.stdout) == (OTHER, b""), answered


@pytest.mark.parametrize(
    "prompt",
    [
        HOST_QUESTION, HOST_QUESTION.replace("\n", " "), "Please type 'yes', 'no' or the fingerprint: ",
        "Accept updated hostkeys? (yes/no): ", "Bad passphrase, try again for /k: ",
    ],
)  # fmt: skip
def test_a_question_of_yes_or_no_is_not_answered_even_if_it_is_mapped(installed: Home, prompt: str) -> None:
    installed.set("mapped", SECRET, "-a", f"askpass={prompt}")
    assert "never answered" in refused(installed, prompt)


def test_hints_of_ssh(installed: Home, key: Path) -> None:
    prompt = f"Enter passphrase for {key}: "
    for hint in ("confirm", "something"):
        refused(installed, prompt, SSH_ASKPASS_PROMPT=hint)
    notice = installed.with_variables(SSH_ASKPASS_PROMPT="none").run("askpass", prompt)
    assert (notice.returncode, notice.stdout, notice.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "address",
    [
        # As an old git shows https://github.com%2f@evil.example/: the user name is "github.com/".
        "https://github.com/@evil.example", "https://mia@github.com/@evil.example", "https://github.com@evil.example",
        "https:///github.com", "github.com", "://github.com", "https://github.com.evil.example",
    ],
)  # fmt: skip
def test_an_address_that_only_looks_like_the_host_gets_nothing(installed: Home, address: str) -> None:
    installed.set("git/github.com/mia", SECRET, "-a", "protocol=https", "-a", "host=github.com")
    refused(installed, f"Password for '{address}': ")
    answered = tool(installed, "vault-askpass", "Password for 'https://github.com': ")
    assert answered.stdout == SECRET + b"\n"


# Answers


@pytest.mark.parametrize("value", [b"two\nlines", b"line\n", b"a\rb", b"a\0b", b""])
def test_only_a_single_line_is_an_answer(installed: Home, value: bytes) -> None:
    installed.set("mapped", value, "--allow-empty", "-a", "askpass=Password: ")
    assert "several lines" in refused(installed, "Password: ")


def test_of_two_entries_for_one_prompt_none_is_the_answer(installed: Home, key: Path) -> None:
    prompt = f"Enter passphrase for {key}: "
    installed.set("other", b"x", "-a", f"askpass={prompt}")
    assert "other, ssh/laptop" in refused(installed, prompt)


def test_as_json_it_is_what_get_writes(installed: Home, key: Path) -> None:
    prompt = f"Enter passphrase for {key}: "
    report = json.loads(installed.output("askpass", "--json", "--", prompt))
    assert is_documented(report, "askpass", installed)
    assert report == {"name": prompt, "value": SECRET.decode()}


def test_without_a_vault_nothing_is_answered(installed: Home) -> None:
    answered = tool(installed, "vault-askpass", "Password: ")
    assert answered.returncode == NOT_FOUND and answered.stdout == b""


# Setup


def test_setup_maps_a_key_and_changes_nothing_else_of_the_entry(installed: Home) -> None:
    key = new_key(installed, passphrase=SECRET.decode())
    installed.output("set", "ssh/laptop", "--type", "string", "-a", "host=laptop", stdin=SECRET)
    lines = installed.output("setup", "ssh", "id", "ssh/laptop", "--dry-run").decode().splitlines()
    assert lines == [
        f"# ssh/laptop: askpass={key}", "export SSH_ASKPASS=vault-askpass", "export SSH_ASKPASS_REQUIRE=force",
    ]  # fmt: skip
    assert attributes(installed) == {"host": "laptop"}
    for _ in range(2):
        installed.output("setup", "ssh", "id", "ssh/laptop")
    assert attributes(installed) == {"host": "laptop", "askpass": str(key)}
    (item,) = json.loads(installed.output("ls", "ssh/", "--json"))["items"]
    assert item["kind"] == "text" and installed.get("ssh/laptop") == SECRET
    with agent(installed) as running:
        assert tool(running, "ssh-add", str(key)).returncode == 0
    installed.output("setup", "ssh", "other", "ssh/laptop", "--undo")
    assert attributes(installed)["askpass"] == str(key), "of another file"
    for _ in range(2):
        assert b"export" not in installed.output("setup", "ssh", "id", "ssh/laptop", "--undo")
    assert attributes(installed) == {"host": "laptop"}


def attributes(home: Home) -> dict[str, str]:
    (item,) = json.loads(home.output("ls", "ssh/", "--json"))["items"]
    return item["attributes"]


def test_setup_needs_the_file_and_the_entry(installed: Home) -> None:
    new_key(installed)
    installed.set("ssh/laptop", SECRET)
    assert "Did you mean" in installed.refusal(NOT_FOUND, "setup", "ssh", "id", "ssh/lptop")
    assert "nothing" in installed.refusal(IO, "setup", "ssh", "nothing", "ssh/laptop")
    sentence = installed.refusal(USAGE, "setup", "ssh", "id", "ssh/laptop", "--vault", str(installed.vault))
    assert "VAULT_FILE" in sentence


def test_setup_takes_no_entry_from_another_key(installed: Home) -> None:
    new_key(installed)
    (installed.folder / "other").touch()
    installed.set("ssh/laptop", SECRET)
    installed.output("setup", "ssh", "id", "ssh/laptop")
    assert "mapped to another key" in installed.refusal(REFUSED, "setup", "ssh", "other", "ssh/laptop")
    assert attributes(installed)["askpass"] == str(installed.folder / "id")


def test_setup_says_if_the_program_is_not_on_the_path(home: Home) -> None:
    new_key(home)
    home.set("ssh/laptop", SECRET)
    finished = home.run("setup", "ssh", "id", "ssh/laptop")
    assert finished.returncode == 0 and b"not in the PATH" in finished.stderr
