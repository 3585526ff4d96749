"""The check that raw memory and traps are only where they may be."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.both_paths_in_full

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "Tools/lib"
sys.path.insert(0, str(LIBRARY))

from limits import Exceptions, code, complaints

FILE = "Module/Folder/Parser.swift"
NOWHERE = Exceptions({}, {}, {}, {})


def checked(folder: Path, text: str, paths: Exceptions = NOWHERE, file: str = FILE) -> list[str]:
    """The complaints about one file with this text."""
    path = folder / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return [complaint.replace(f"{folder}/", "") for complaint in complaints(folder, paths)]


CALLS = ("get(name)", "sealable(name)", "withSecret(name) { use($0) }", "unsafeString(name)", "history.get(name, version)")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("keychain", ["keychain", "keychain?", "Keychain(at: location)"])
def test_a_command_reads_no_value_around_the_access_log(tmp_path: Path, keychain: str, call: str) -> None:
    line = f"let value = try {keychain}.{call}\n"
    for file in ("VaultCommand/Commands/Values/GetCommand.swift", "VaultShared/Connection/DatabasePassword.swift"):
        (complaint,) = checked(tmp_path / file, line, file=file)
        assert "Invocation.reading" in complaint
    assert checked(tmp_path / "library", line, file="PlainStores/TypedKeys/TypedKeys.swift") == []


@pytest.mark.parametrize("other", ["request.host", "Key.host", "!name"])
def test_attributes_are_compared_by_bytes(tmp_path: Path, other: str) -> None:
    for name, sign in (("a", "=="), ("b", "!=")):
        (complaint,) = checked(tmp_path / name, f"if item.attributes[Key.host] {sign} {other} {{}}\n")
        assert "isSame(as:)" in complaint
    for name, line in (("c", "attributes[key] == nil"), ("d", 'attributes["a"] == "b"'), ("e", "attributes[a].isSame(as: b)")):
        assert checked(tmp_path / name, f"if {line} {{}}\n") == []


@pytest.mark.parametrize("check", ["status.isOwnedHere", "status.owner == 0", "link.st_uid != 0", "geteuid() == 0"])
def test_nobody_else_decides_which_files_are_believed(tmp_path: Path, check: str) -> None:
    line = f"guard {check} else {{ return }}\n"
    (complaint,) = checked(tmp_path / "a", line)
    assert "OWNERS" in complaint
    assert checked(tmp_path / "b", line, Exceptions({}, {}, {"Module/Folder": "why"}, {})) == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("let value = try! read()", "try!"),
        ("let value = bytes.first!", "!"),
        ("let value = table[key]!.count", "!"),
        ("let value = read()!", "!"),
        ("let value = any as! String", "as!"),
        ("var value: String!", "!"),
        ("var value: [UInt8]!", "!"),
        ("var value: Optional<Int>!", "!"),
        ('print("\\(values.first!)")', "!"),
        ('print("""\n  \\(values.first!)\n  """)', "!"),
        ('fatalError("no")', "fatalError("),
        ("precondition(count > 0)", "precondition("),
        ("preconditionFailure()", "preconditionFailure("),
        ("assert(count > 0)", "assert("),
        ("assertionFailure()", "assertionFailure("),
        ("func read(_ bytes: UnsafeRawBufferPointer) {}", "UnsafeRawBufferPointer"),
        ("bytes.withUnsafeBytes { use($0) }", "withUnsafeBytes"),
        ("let first: UnsafePointer<UInt8>? = nil", "UnsafePointer"),
        ("let first = buffer.baseAddress", "baseAddress"),
        ("let number = unsafeBitCast(value, to: Int.self)", "unsafeBitCast"),
        ("memcpy(target, source, count)", "memcpy"),
        ("let value = optional.unsafelyUnwrapped", "unsafelyUnwrapped"),
        ("unowned(unsafe) let owner: Owner", "unowned(unsafe)"),
        ("let object = Unmanaged.passRetained(value)", "Unmanaged"),
    ],
)
def test_each_sin_is_found(tmp_path: Path, line: str, word: str) -> None:
    (complaint,) = checked(tmp_path, f"// The first line.\n{line}\n")
    assert complaint.startswith(f"{FILE}:{2 + line.startswith('print(' + chr(34) * 3)}: {word} ")


@pytest.mark.parametrize(
    "text",
    [
        "let same = a != b && !c && (!d)",
        "let value = (try? read()) ?? none",
        "// bytes.first! and try! and baseAddress",
        "/* try! /* as! */ fatalError() */ let a = 1",
        'let text = "Created! \\"try!\\" as!"',
        'let text = #"C:\\" + "wow!"#',
        'let text = """\n  It failed! fatalError("x")\n  """',
        "func asserted() {}\nassertions(1)",
    ],
)
def test_what_is_no_sin_is_not_found(tmp_path: Path, text: str) -> None:
    assert checked(tmp_path, text) == []


def test_code_behind_a_string_keeps_its_line() -> None:
    assert code('let a = """\n  one "two" \\(b)\n  """ // c\nd').splitlines() == ['let a = "', "(b)", '" ', "d"]


VIEWS = {"Module/Folder": "why"}
TRAPS = {(FILE, "precondition(isOurs)"): "why"}
NAMED = Exceptions(VIEWS, {}, {}, TRAPS)
USED = "precondition(isOurs)\nbytes.withUnsafeBytes { use($0) }"


def test_a_named_file_may(tmp_path: Path) -> None:
    assert checked(tmp_path, USED, NAMED) == []


def test_another_file_may_not(tmp_path: Path) -> None:
    found = checked(tmp_path, USED, NAMED, "Module/Folder2/Parser.swift")
    assert len([complaint for complaint in found if complaint.startswith("Module/Folder2")]) == 2


def test_a_named_statement_does_not_cover_another(tmp_path: Path) -> None:
    (complaint,) = checked(tmp_path, f"{USED}\nprecondition(isTheirs)", NAMED)
    assert complaint.startswith(f"{FILE}:3: precondition(")


def test_a_file_that_is_named_without_need_is_found(tmp_path: Path) -> None:
    assert len(checked(tmp_path, "let a = 1", NAMED)) == 2


@pytest.mark.parametrize(
    ("declaration", "is_found"),
    [
        ("public func bytes() -> UnsafeRawBufferPointer {", True),
        ("public init(\n    copying bytes: UnsafeRawBufferPointer\n) {", True),
        ("@inlinable\npublic var start: UnsafeRawPointer {", True),
        ("public func withUnsafeBytes(_ body: (UnsafeRawBufferPointer) -> Void) {", False),
        ("public init(unsafeCapacity: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) {", False),
        ("package func bytes() -> UnsafeRawBufferPointer {", False),
        ("public let size: Int\n@usableFromInline let base: UnsafeMutableRawPointer", False),
    ],
)
def test_public_api_that_hands_out_raw_memory_says_so(tmp_path: Path, declaration: str, is_found: bool) -> None:
    found = checked(tmp_path, declaration, Exceptions({"Module": ""}, {"Module": ""}, {}, {}))
    assert any("public API hands out raw memory" in complaint for complaint in found) == is_found


@pytest.mark.parametrize(
    ("declaration", "is_found"),
    [
        ("public borrowing func array() -> [UInt8] {", True),
        ("package borrowing func text() -> String? {", True),
        ("public var text: String {", True),
        ("public borrowing func unsafeArray() -> [UInt8] {", False),
        ("public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {", False),
    ],
)
def test_a_way_out_of_guarded_memory_says_unsafe(tmp_path: Path, declaration: str, is_found: bool) -> None:
    found = checked(tmp_path, declaration, file="Sealing/SecretBytes+Copies.swift")
    assert any("a way out of guarded memory" in complaint for complaint in found) == is_found


def test_the_sources_pass_and_fail_with_a_force_unwrap(tmp_path: Path) -> None:
    sources = Path(shutil.copytree(ROOT / "Sources", tmp_path / "Sources"))
    assert run(sources).returncode == 0
    parser = sources / "SealedFormat/Format/Page.swift"
    parser.write_text(parser.read_text() + "let first = Limits.names.first!\n")
    result = run(sources)
    assert result.returncode == 1 and "Page.swift" in result.stdout and "! can trap" in result.stdout


def test_a_wide_comment_is_found(tmp_path):
    file = tmp_path / "A.swift"
    for width, code in [(119, 0), (120, 0), (121, 1)]:
        comment = "    /// " + "ü" * (width - 8)
        # Code and literals are swift-format's.
        file.write_text(f"{comment}\nlet text = \"{'a' * 120}\"\n")
        command = [sys.executable, LIBRARY / "columns.py", tmp_path]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == code and ("A.swift:1: " in result.stdout) == bool(code)


def run(sources: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, LIBRARY / "limits.py", sources], capture_output=True, text=True)
