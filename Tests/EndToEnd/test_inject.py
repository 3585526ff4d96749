"""`vault inject`: a template is filled, whole or not at all."""

import json

import pytest

from homes import Home, mode
from terminals import Terminal

pytestmark = pytest.mark.both_paths_in_full

USAGE, NOT_FOUND, REFUSED, IO = 2, 3, 4, 8
CANARY = b"canary-7c2e"
TEMPLATE = b"user = mia\npassword = {{ vault:mail/work }}\r\nkey = {{vault:key}}{{ \"{{\" }} }}\n\xff"
FILLED = b"user = mia\npassword = " + CANARY + b"\r\nkey = a\nb\0\xfe{{ }}\n\xff"


@pytest.fixture
def vault(home: Home) -> Home:
    home.set("mail/work", CANARY, "-a", "username=mia")
    home.set("key", b"a\nb\0\xfe")
    (home.folder / "template").write_bytes(TEMPLATE)
    return home


def test_a_pipe_is_filled_byte_for_byte(vault: Home) -> None:
    assert vault.output("inject", stdin=TEMPLATE) == FILLED
    assert vault.output("inject", "-i", "template") == FILLED
    assert vault.output("inject", stdin=b"") == b""


def test_fields_and_attributes_are_values_too(vault: Home) -> None:
    assert vault.output("inject", stdin=b"{{ vault:mail/work.username }}") == b"mia"


def test_a_value_is_not_filled_again(vault: Home) -> None:
    vault.set("nested", b"{{ vault:key }}")
    assert vault.output("inject", stdin=b"{{ vault:nested }}") == b"{{ vault:key }}"


def test_a_file_is_private_and_replaces_another_only_by_force(vault: Home) -> None:
    out = vault.folder / "out"
    assert vault.output("inject", "-i", "template", "-o", "out") == b""
    assert out.read_bytes() == FILLED and mode(out) == 0o600
    out.write_bytes(b"kept")
    out.chmod(0o644)
    assert "already exists" in vault.refusal(REFUSED, "inject", "--in", "template", "--out", "out")
    assert out.read_bytes() == b"kept"
    report = vault.output("inject", "--in=template", "--out=out", "--force", "--json")
    assert json.loads(report) == {"file": "out", "names": ["key", "mail/work"]}
    assert out.read_bytes() == FILLED and mode(out) == 0o600
    before = vault.vault.read_bytes()
    assert "is a vault" in vault.refusal(REFUSED, "inject", "-i", "template", "-o", str(vault.vault), "--force")
    assert vault.vault.read_bytes() == before


def test_missing_names_are_told_with_line_and_column_and_nothing_is_written(vault: Home) -> None:
    text = "ü {{ vault:mail/werk }}\n{{ vault:key }}\n  {{ vault:nothing }}{{ vault:mail/werk }}"
    sentence = vault.refusal(NOT_FOUND, "inject", "-o", "out", stdin=text.encode())
    assert 'Standard input, line 1, column 3: No entry named "mail/werk". Did you mean "mail/work"?' in sentence
    assert 'line 3, column 3: No entry named "nothing"' in sentence and not (vault.folder / "out").exists()
    assert vault.run("inject", stdin=text.encode()).stdout == b""


@pytest.mark.parametrize("bad", ["{{ vault:key", "{{ key }}", "{{ vault: }}", "{{ vault:\nkey }}", "{{ $x }}"])
def test_a_malformed_placeholder_is_told_with_line_and_column(vault: Home, bad: str) -> None:
    (vault.folder / "bad").write_text("{{ vault:key }}\n x " + bad)
    assert "bad, line 2, column 4: " in vault.refusal(USAGE, "inject", "-i", "bad", "-o", "out")
    assert not (vault.folder / "out").exists()


def test_a_template_without_placeholders_needs_no_vault(home: Home) -> None:
    assert home.output("inject", stdin=b"plain }} {\n") == b"plain }} {\n" and home.files() == []


def test_a_template_that_cannot_be_read_is_exit_8(vault: Home) -> None:
    assert "nowhere" in vault.refusal(IO, "inject", "-i", "nowhere")


def test_a_template_can_be_typed(vault: Home) -> None:
    with Terminal(vault, "inject") as terminal:
        terminal.type("{{ vault:mail/work }}\n\x04")
        assert terminal.end()[0] == 0 and CANARY in terminal.everything


def test_names_that_swift_takes_for_equal_have_each_its_own_value(home: Home) -> None:
    """U+212A, the sign for kelvin, is no K."""
    home.set("K", b"of the letter")
    home.set("\u212a", b"of the sign")
    filled = home.output("inject", stdin="{{ vault:K }}, {{ vault:\u212a }}".encode())
    assert filled == b"of the letter, of the sign"
    shown = home.output("run", "--env", "A=K", "--env", "B=\u212a", "--", "sh", "-c", 'printf "%s, %s" "$A" "$B"')
    assert shown == b"of the letter, of the sign"
    printed = ("run", "--redact", "--env", "A=K", "--env", "B=\u212a", "--", "sh", "-c", 'echo "$A, $B"')
    assert home.output(*printed) == b"********, ********\n"
