import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import Vault

@Suite("The configuration that names vaults")
struct VaultConfigurationTests {
    private func parse(_ text: String, home: String? = "/home/ann") throws -> [VaultConfiguration.Section] {
        try VaultConfiguration(parsing: Array(text.utf8), path: "/c/config", home: home).sections
    }

    // MARK: What it says

    @Test func hasTheSectionsInTheirOrder() throws {
        let sections = try parse(
            """
            # comment
            [work]
            vault = ~/Sync/work.vault
            key-file = /media/usb/work.key
            \tkey-command=tpm2_unseal -c 0x81000001  \n
              # another
              [default]  \r
            vault =x/y # z
            identity = ~/.config/age/keys.txt
            """)
        #expect(
            sections == [
                .init(
                    name: "work", vault: "/home/ann/Sync/work.vault", keyFile: "/media/usb/work.key",
                    keyCommand: "tpm2_unseal -c 0x81000001", identity: nil),
                .init(
                    name: "default", vault: "/c/x/y # z", keyFile: nil, keyCommand: nil,
                    identity: "/home/ann/.config/age/keys.txt"),
            ])
    }

    @Test(arguments: ["", "\n\n", "# only a comment", "\u{FEFF}# with a byte order mark", "\r\n \t\r\n"])
    func mayNameNone(text: String) throws {
        #expect(try parse(text).isEmpty)
    }

    @Test(arguments: [
        ("/v", "/v"), ("~/v", "/home/ann/v"), ("~/", "/home/ann/"), ("v", "/c/v"), ("../v", "/c/../v"),
        ("./~ann/v", "/c/./~ann/v"), ("a = b", "/c/a = b"), (#""/a b""#, "/a b"), (#""~/v""#, "/home/ann/v"),
        (#"" v ""#, "/c/ v "), (#""/a\"b\\c""#, #"/a"b\c"#), (#"/a\b"#, #"/a\b"#), (#"/a"b"#, #"/a"b"#), ("/ä", "/ä"),
        ("~/\u{301}", "/home/ann/\u{301}"), ("/a\tb", "/a\tb"), ("postgresql://h/d#team", "postgresql://h/d#team"),
    ])
    func hasPathsThatAreExpanded(written: String, path: String) throws {
        #expect(try parse("[a]\nvault = \(written)").map(\.vault) == [path])
    }

    @Test func expandsBelowTheRoot() throws {
        #expect(try parse("[a]\nvault = ~/v", home: "/").map(\.vault) == ["/v"])
        let bytes = Array("[a]\nvault = v".utf8)
        #expect(try VaultConfiguration(parsing: bytes, path: "/config", home: nil).sections.map(\.vault) == ["/v"])
        #expect(try VaultConfiguration(parsing: bytes, path: "config", home: nil).sections.map(\.vault) == ["./v"])
    }

    @Test func leavesACommandAsItIs() throws {
        let sections = try parse(
            "[a]\nvault = v\nkey-command = \"cat ~/k | \\\"x y\\\" \"\n[b]\nvault = v\nkey-command = ~/k")
        #expect(sections.map(\.keyCommand) == [#"cat ~/k | "x y" "#, "~/k"])
    }

    // MARK: What is wrong with it

    private static let nameRule = #"not a section. Write [NAME], with 1 to 64 letters, digits, ".", "_" and "-"."#
    private static let unknownKey =
        "an unknown key. The keys are: vault, key-file, key-command, identity, offline, kept-in."
    private static let badQuote = #"text after the closing quote. Quote the whole value, with \" for a quote in it."#
    private static let badEscape = #"an unknown escape. In quotes, write \\ for a backslash and \" for a quote."#
    private static let noVault = "the section [a] names no vault. Write below it: vault = PATH."
    private static let noSection = "vault is before the first section. Write a line such as [default] above it."
    private static let badLine =
        "neither a section, a key with its value, nor a comment. Write [NAME], KEY = VALUE or # TEXT."

    @Test(arguments: [
        ("[a]", 1, noVault), ("\n[a]\n[b]\nvault = v", 2, noVault), ("[a]\nkey-file = k\n", 1, noVault),
        ("vault = v", 1, noSection), ("[]", 1, nameRule), ("[a", 1, nameRule), ("[", 1, nameRule),
        ("[a b]", 1, nameRule), ("[ä]", 1, nameRule), ("[\u{301}a]", 1, nameRule), ("[a] # b", 1, nameRule),
        ("[a/b]", 1, nameRule), ("[" + String(repeating: "x", count: 65) + "]", 1, nameRule),
        ("[a]\nvault", 2, badLine), ("; comment", 1, badLine), ("[a]\nVault = v", 2, unknownKey),
        ("[a]\nvalt = v", 2, unknownKey), ("[a]\n= v", 2, unknownKey), ("[a]\nc2VjcmV0==", 2, unknownKey),
        ("[a]\nvault =", 2, "vault has no value. Write one, or remove the line."),
        ("[a]\nvault = \"\"", 2, "vault has no value. Write one, or remove the line."),
        ("[a]\nvault = v\nvault = w", 3, "vault is repeated in [a]; the first is on line 2. Remove one."),
        (
            "[a]\nvault = v\n\n[b]\nvault = v\n[a]\nvault = v", 6,
            "the second section [a]; the first is on line 1. Rename one, or merge them."
        ),
        ("[a]\nvault = \"v", 2, "no closing quote. Write one at the end of the line."),
        ("[a]\nvault = \"", 2, "no closing quote. Write one at the end of the line."),
        ("[a]\nvault = \"v\" w", 2, badQuote), ("[a]\nvault = \"v\\n\"", 2, badEscape),
        ("[a]\nvault = \"\\", 2, badEscape),
        ("[a]\nvault = v\0w", 2, "a control character. Remove it."),
        ("[a]\nvault = \u{1B}[1m", 2, "a control character. Remove it."),
        ("# \u{7F}\n[a]\u{7F}\nvault = v", 2, "a control character. Remove it."),
        (
            "[a]\nvault = ~ann/v", 2,
            "only ~/ stands for a home folder. Write the whole path, or ./~ for a folder of that name."
        ),
        (
            "[a]\nvault = ~", 2,
            "only ~/ stands for a home folder. Write the whole path, or ./~ for a folder of that name."
        ),
    ])
    func isNamedWithItsLine(text: String, line: Int, fault: String) throws {
        let error = try #require(throws: VaultError.self) { try parse(text) }
        #expect(error.message == "/c/config, line \(line): \(fault)")
        #expect(error.code == .invalid)
    }

    @Test func isNamedIfItIsNotUTF8OrThereIsNoHome() throws {
        let bytes = Array("[a]\nvault = v".utf8) + [0xFF]
        let error = try #require(throws: VaultError.self) {
            try VaultConfiguration(parsing: bytes, path: "/c/config", home: nil)
        }
        #expect(error.message == "/c/config, line 2: not UTF-8. Save the file as UTF-8.")
        let homeless = try #require(throws: VaultError.self) { try parse("[a]\nvault = ~/v", home: nil) }
        #expect(homeless.message == "/c/config, line 2: HOME is not set, so ~/ is unknown. Write the whole path.")
    }

    @Test func ofRandomBytesIsParsedOrRefused() {
        var generator = SeededGenerator(7)
        let pieces = [
            "[", "]", "a", "vault", "key-file", "=", "\"", "\\", "~", "/", "\n", "#", " ", "\r", "\u{301}", "\0",
        ]
        for _ in 0..<5_000 {
            var bytes = (0..<Int.random(in: 0...24, using: &generator)).flatMap { _ in
                Array((pieces.randomElement(using: &generator) ?? "").utf8)
            }
            if Bool.random(using: &generator) { bytes.append(UInt8.random(in: 0...255, using: &generator)) }
            let sections = (try? VaultConfiguration(parsing: bytes, path: "/c/config", home: "/h"))?.sections ?? []
            #expect(sections.allSatisfy { !$0.name.isEmpty && $0.vault.hasPrefix("/") })
        }
    }

    // MARK: Names

    @Test func findsASectionOrListsTheNames() throws {
        let bytes = Array("[work]\nvault = w\n[default]\nvault = d".utf8)
        let configuration = try VaultConfiguration(parsing: bytes, path: "/c/config", home: nil)
        #expect(try configuration.section(named: "work").vault == "/c/w")
        #expect(configuration.defaultSection?.vault == "/c/d")
        let error = try #require(throws: VaultError.self) { try configuration.section(named: "wrok") }
        #expect(error.message == #"No vault is named "wrok" in /c/config. The names there are: work, default."#)
        let path = try #require(throws: VaultError.self) { try configuration.section(named: "/a/b") }
        #expect(path.message == "No vault has that name in /c/config. The names there are: work, default.")
    }

    @Test func listsTwentyNamesAtMost() throws {
        let text = (1...23).map { "[v\($0)]\nvault = x\n" }.joined()
        let configuration = try VaultConfiguration(parsing: Array(text.utf8), path: "/c/config", home: nil)
        let error = try #require(throws: VaultError.self) { try configuration.section(named: "x") }
        #expect(error.message.hasSuffix("v19, v20 and 3 more."))
    }
}

@Suite("The file of the configuration")
struct VaultConfigurationFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("vault/config")
        try FileManager.default.createDirectory(atPath: folder.file("vault"), withIntermediateDirectories: true)
    }

    private func read(_ environment: [String: String]? = nil) throws(VaultError) -> VaultConfiguration {
        try VaultConfiguration.read(
            variables: LocationVariables(given: environment ?? ["XDG_CONFIG_HOME": folder.path, "HOME": "/home/ann"]))
    }

    private func message(_ code: VaultError.Code) throws -> String {
        let error = try #require(throws: VaultError.self) { try read() }
        #expect(error.code == code)
        return error.message
    }

    @Test func isReadFromItsFolder() throws {
        try overwrite(path, Array("[work]\nvault = ~/w\nkey-file = k".utf8))
        let section = try read().section(named: "work")
        #expect(section.vault == "/home/ann/w")
        #expect(section.keyFile == folder.path + "/vault/k")
        let atHome = folder.file("home")
        try FileManager.default.createDirectory(atPath: atHome + "/.config/vault", withIntermediateDirectories: true)
        try overwrite(atHome + "/.config/vault/config", Array("[home]\nvault = v".utf8))
        #expect(try read(["HOME": atHome]).sections.map(\.name) == ["home"])
    }

    @Test func thatIsMissingNamesNoVaults() throws {
        for environment in [nil, ["HOME": folder.path], ["HOME": "relative"], [:]] {
            let configuration = try read(environment)
            #expect(configuration.sections.isEmpty && configuration.defaultSection == nil)
            let error = try #require(throws: VaultError.self) { try configuration.section(named: "work") }
            #expect(
                error.message
                    == #"No vault is named "work": \#(configuration.path) lists no vault. Write a line with a name in "#
                    + "brackets there, such as [work], and below it: vault = PATH.")
        }
    }

    @Test(arguments: [0o400, 0o600, 0o644, 0o755]) func mayBeReadByOthers(mode: Int) throws {
        try overwrite(path, Array("[work]\nvault = w".utf8))
        try setMode(path, mode)
        #expect(try read().sections.count == 1)
    }

    @Test(arguments: [0o620, 0o602, 0o666]) func thatOthersMayChangeIsRefused(mode: Int) throws {
        try overwrite(path, Array("[work]\nvault = w".utf8))
        try setMode(path, mode)
        #expect(
            try message(.locked)
                == "Others can change the configuration \(path), and so run any program as you. "
                + "Fix it with `chmod go-w \(path)` after reading it.")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away")) func ofAnotherUserIsRefused() throws {
        try overwrite(path, Array("[work]\nvault = w".utf8))
        try #require(chown(path, 65_534, 65_534) == 0)
        #expect(
            try message(.locked)
                == "The configuration \(path) belongs to another user, and root trusts only its own files: run this "
                + "with root's own HOME, as `sudo -H` does, without that user's XDG variables, and specify the paths "
                + "of the vault and its key file.")
    }

    @Test func isBoundedInItsSize() throws {
        let section = Array("[work]\nvault = w\n".utf8)
        try overwrite(path, section + [UInt8](repeating: UInt8(ascii: "\n"), count: (64 << 10) - section.count))
        #expect(try read().sections.count == 1)
        try overwrite(path, [UInt8](repeating: UInt8(ascii: "\n"), count: (64 << 10) + 1))
        let words = "The configuration \(path) is larger than 64 KiB. Remove what does not belong there."
        #expect(try message(.invalid) == words)
        #expect(throws: VaultError.self) {
            try VaultConfiguration(parsing: [UInt8](repeating: 10, count: (64 << 10) + 1), path: "/c", home: nil)
        }
    }

    @Test func thatIsNoFileIsNamedByItsKind() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(try message(.invalid) == "The configuration \(path) is a folder, not a file. Remove or rename it.")
    }
}
