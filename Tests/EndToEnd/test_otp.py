"""`vault otp`: codes as other programs compute them, and none of a counter twice."""

import base64
import hashlib
import hmac
import json
import random
import re
import struct
import subprocess
import time
from pathlib import Path

import pytest

from homes import Home
from terminals import on_terminal
from json_shapes import is_documented

pytestmark = pytest.mark.both_paths_in_full

OTHER, USAGE, ABSENT, IO = 1, 2, 3, 8
# That of RFC 4226 and RFC 6238, in base32.
SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
HOTP_CODES = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]


def store(home: Home, address: str, name: str = "web/x.otp", *options: str) -> None:
    home.output("set", name, *options, stdin=address.encode() + b"\n")


def code(home: Home, *words: str) -> str:
    return home.output("otp", *words).decode()


def oathtool(*words: str) -> list[str]:
    return subprocess.run(["oathtool", *words], check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("seed", range(20))
def test_codes_by_time_are_those_of_oathtool(home: Home, seed: int) -> None:
    drawn = random.Random(seed)
    algorithm = drawn.choice(["SHA1", "SHA256", "SHA512"])
    digits, period, at = drawn.randint(6, 8), drawn.choice([15, 30, 60, 7]), drawn.randrange(1 << 33)
    secret = base64.b32encode(drawn.randbytes(drawn.randint(1, 150))).decode()
    written = drawn.choice([secret, secret.rstrip("="), secret.lower(), secret.replace("=", "%3D")])
    store(home, f"otpauth://totp/A:b?secret={written}&algorithm={algorithm}&digits={digits}&period={period}")
    options = (f"--totp={algorithm}", "--base32", secret, f"--digits={digits}", f"--time-step-size={period}s")
    present, following = oathtool(*options, f"--now=@{at}", "--window=1")
    assert code(home, "web/x", "--at", str(at)) == present
    assert code(home, "web/x", "--at", str(at), "--next") == following


def test_the_present_code_is_that_of_oathtool(home: Home) -> None:
    store(home, f"otpauth://totp/x?secret={SECRET}")
    expected = []
    while len(expected) != 3 or len(set(expected)) != 1:
        # Not at the moment at which the code changes.
        before = oathtool("--totp", "--base32", SECRET)
        found = code(home, "web/x")
        expected = [*before, *oathtool("--totp", "--base32", SECRET), found]
        assert found in expected[:2]


def test_a_time_may_be_given_as_utc(home: Home) -> None:
    store(home, SECRET)
    for at in ("1970-01-01T00:00:59Z", "59"):
        assert code(home, "web/x", "--at", at) == "287082"
    for at in ("yesterday", "-1", "1969-12-31T00:00:00Z", "99999999999999999999", ""):
        assert "UTC" in home.refusal(USAGE, "otp", "web/x", f"--at={at}")


def steam(secret: bytes, at: int) -> str:
    """A code of Steam, from what is known of them alone."""
    digest = hmac.digest(secret, struct.pack(">Q", at // 30), hashlib.sha1)
    (number,) = struct.unpack_from(">I", digest, digest[19] & 15)
    number &= 0x7FFFFFFF
    letters = ""
    for _ in range(5):
        number, digit = divmod(number, 26)
        letters += "23456789BCDFGHJKMNPQRTVWXY"[digit]
    return letters


@pytest.mark.parametrize("ending", ["issuer=Steam", "issuer=Steam&digits=5&period=30&encoder=steam", "encoder=Steam"])
def test_steam_has_codes_of_its_own(home: Home, ending: str) -> None:
    store(home, f"otpauth://totp/Steam:mia?secret={SECRET}&{ending}")
    for at in (59, 1_111_111_109, 20_000_000_000):
        assert code(home, "web/x", "--at", str(at)) == steam(base64.b32decode(SECRET), at)
    report = json.loads(home.output("otp", "web/x", "--json", "--at", "59"))
    assert (report["kind"], report["code"], report["issuer"]) == ("steam", steam(base64.b32decode(SECRET), 59), "Steam")


def test_a_qr_code_is_stored_as_an_image_reader_prints_it(home: Home, tmp_path: Path) -> None:
    image = tmp_path / "qr.png"
    address = f"otpauth://totp/ACME%20Co:mia?secret={SECRET}&issuer=ACME%20Co"
    subprocess.run(["qrencode", "-o", image, address], check=True)
    printed = subprocess.run(["zbarimg", "--raw", "-q", image], check=True, capture_output=True).stdout
    home.output("set", "web/x.otp", stdin=printed)
    assert home.get("web/x.otp") == address.encode()
    assert code(home, "web/x", "--at", "59") == "287082"


def test_the_code_of_a_login_is_that_of_its_field(home: Home) -> None:
    home.set("web/x", b"the password")
    assert "an otpauth:// address" in home.refusal(OTHER, "otp", "web/x")
    store(home, SECRET)
    assert code(home, "web/x", "--at", "59") == code(home, "web/x.otp", "--at", "59") == "287082"
    store(home, f"otpauth://totp/x?secret={SECRET}&digits=7", "alone")
    assert code(home, "alone", "--at", "59") == "4287082"
    assert '"web/x"' in home.refusal(ABSENT, "otp", "web/y")
    longest = "n" * 1024
    store(home, SECRET, longest)
    assert code(home, longest, "--at", "59") == "287082"


# Counted codes


def test_no_counted_code_is_given_twice(home: Home) -> None:
    store(home, f"otpauth://hotp/A:b?counter=0&secret={SECRET}&issuer=A", "web/x.otp", "-a", "k=v", "--type", "string")
    assert [code(home, "web/x") for _ in HOTP_CODES[:3]] == HOTP_CODES[:3]
    # What the address says besides, the attributes and the type stay.
    assert home.get("web/x.otp") == f"otpauth://hotp/A:b?counter=3&secret={SECRET}&issuer=A".encode()
    (item,) = json.loads(home.output("ls", "--json"))["items"]
    assert (item["attributes"], item["kind"]) == ({"k": "v"}, "text")
    report = json.loads(home.output("otp", "web/x", "--json"))
    assert report == {
        "name": "web/x", "code": HOTP_CODES[3], "kind": "hotp", "counter": 3, "seconds_left": None, "issuer": "A",
        "account": "b",
    }  # fmt: skip


def test_20_parallel_processes_get_20_codes(home: Home) -> None:
    store(home, f"otpauth://hotp/x?secret={SECRET}&counter=0")
    processes = [home.start("otp", "web/x") for _ in range(20)]
    given = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * 20, given
    expected = oathtool("--hotp", "--base32", SECRET, "--counter=0", "--window=19")
    assert sorted(output.decode() for output, _ in given) == sorted(expected)
    assert home.get("web/x.otp").endswith(b"&counter=20")


def test_a_counted_code_that_could_not_be_written_is_not_given_again(home: Home) -> None:
    store(home, f"otpauth://hotp/x?secret={SECRET}&counter=0")
    with open("/dev/full", "wb") as full:
        assert home.run("otp", "web/x", stdout=full).returncode == IO
    assert code(home, "web/x") == HOTP_CODES[1]


@pytest.mark.parametrize("options", [("--next",), ("--at", "59")])
def test_a_refused_option_leaves_the_counter_alone(home: Home, options: tuple[str, ...]) -> None:
    store(home, f"otpauth://hotp/x?secret={SECRET}&counter=0")
    assert "counter-based" in home.refusal(USAGE, "otp", "web/x", *options)
    assert code(home, "web/x") == HOTP_CODES[0]


# What a person sees


def test_a_terminal_shows_the_next_code_too_if_the_present_one_ends_soon(home: Home) -> None:
    store(home, f"otpauth://totp/x?secret={SECRET}&period=4")
    shown = on_terminal(home, "otp", "web/x").decode()
    first, second, left, plural = re.fullmatch(
        r"(\d{6})\n(\d{6})\nvault: The first code is valid for (\d) more second(s?), the second one after that.\n", shown
    ).groups()
    assert 1 <= int(left) <= 4 and bool(plural) == (left != "1")
    codes = oathtool("--totp", "--base32", SECRET, "--time-step-size=4s", f"--now=@{int(time.time()) - 4}", "-w", "2")
    assert (first, second) in zip(codes, codes[1:])
    assert re.fullmatch(rb"\d{6}", home.output("otp", "web/x")), "no pipe gets both"
    assert re.fullmatch(rb"\d{6}\n", on_terminal(home, "otp", "web/x", "--next"))


def test_a_code_that_lasts_is_shown_alone(home: Home) -> None:
    store(home, f"otpauth://totp/x?secret={SECRET}&period=86400")
    assert re.fullmatch(rb"\d{6}\n", on_terminal(home, "otp", "web/x"))
    assert re.fullmatch(rb"\d{6}\n", home.output("otp", "web/x", "--newline", "yes"))


def test_the_json_is_the_documented_one_and_counts_the_seconds(home: Home) -> None:
    store(home, f"otpauth://totp/ACME:mia?secret={SECRET}&period=60")
    report = json.loads(home.output("otp", "web/x", "--json", "--at", "59"))
    assert is_documented(report, "otp", home)
    assert (report["kind"], report["seconds_left"], report["counter"]) == ("totp", 1, None)
    assert (report["issuer"], report["account"]) == ("ACME", "mia")
    for at, left in ((60, 60), (119, 1), (100, 20)):
        assert json.loads(home.output("otp", "web/x", "--json", "--at", str(at)))["seconds_left"] == left
    following = json.loads(home.output("otp", "web/x", "--json", "--at", "59", "--next"))
    assert following["seconds_left"] == 61 and following["code"] == code(home, "web/x", "--at", "60")


# Errors


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("canaryLEAK", "neither an otpauth:// address nor a secret in base32"),
        ("https://canaryLEAK", "neither an otpauth:// address nor a secret in base32"),
        ("otpauth://totp/x?secret=canaryLEAK1", "its secret is not base32"),
        ("otpauth://totp/x?digits=canaryLEAK&secret=GEZDGNBV", "its digits is not a number from 6 to 8"),
        ("otpauth://totp/x?canaryLEAK", "its secret is missing"),
        ("otpauth://canaryLEAK", "its secret is missing"),
        ("otpauth-migration://offline?data=canaryLEAK", "an export of Google Authenticator, which is not supported"),
    ],
)
def test_an_error_says_what_is_wrong_and_nothing_of_the_value(home: Home, value: str, sentence: str) -> None:
    store(home, value)
    for words in (("otp", "web/x"), ("otp", "web/x", "--json")):
        finished = home.run(*words)
        assert finished.returncode == OTHER and finished.stdout == b""
        assert sentence in finished.stderr.decode() and b"LEAK" not in finished.stderr
    assert json.loads(finished.stderr)["error"]["code"] == "wrong-type"
    assert "under the name \"web/x.otp\"" in home.refusal(OTHER, "otp", "web/x.otp") or "neither" not in sentence
