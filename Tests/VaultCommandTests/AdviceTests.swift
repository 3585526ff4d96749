import Foundation
import Testing
import Vault

@testable import VaultCommand

/// Commands that messages advise are copied to the letter.
@Suite struct AdviceTests {
    @Test(arguments: [
        ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("-x", "'-x'"), ("ü", "'ü'"),
        ("a\u{202E}b", #""$(printf 'a\342\200\256b')""#), ("-a\u{202E}-", #""$(printf '\055a\342\200\256-')""#),
        ("\u{1}%'\\", #""$(printf '\001\045\047\134')""#),
    ])
    func aWordIsReadBackToTheLetter(text: String, word: String) throws {
        #expect(AdvisedCommand.word(text) == word)
        #expect(word.forTerminal == word)
        #expect(try output(of: "printf %s \(word)") == text)
    }

    @Test func whatBeginsWithADashIsNoOption() {
        #expect(AdvisedCommand.option("--vault", "x") == "--vault 'x'")
        #expect(AdvisedCommand.option("--vault", "-x") == "--vault='-x'")
        #expect(AdvisedCommand.option("--vault", "-") == "--vault '-'")
        #expect(AdvisedCommand.path("-x") == "'./-x'")
        #expect(AdvisedCommand.path("x-") == "'x-'")
        let advised = AdvisedCommand(vault: ("-v", "-v"), keyOptions: [("--key-file", "-k")])
        #expect(advised.merge(["-c"]) == "vault --vault='-v' --key-file='-k' merge './-c'")
        #expect(advised.withKeyFile("NEW").merge(["c"]) == "vault --vault='-v' --key-file NEW merge 'c'")
    }

    /// No section of the configuration applies to a path.
    @Test func theKeyFileOfASectionIsNamedForOtherVaults() {
        let advised = AdvisedCommand(vault: ("team", "/v/team"), keyFile: "/k/team")
        #expect(advised.line("ls") == "vault --vault 'team' ls")
        #expect(advised.line("ls", of: "/v/team") == "vault --vault 'team' ls")
        #expect(advised.line("ls", of: "/v/x") == "vault --vault '/v/x' --key-file '/k/team' ls")
        #expect(advised.of("/v/x").line("ls") == "vault --vault '/v/x' --key-file '/k/team' ls")
        #expect(advised.withKeyFile("OLD").line("ls", of: "/v/x") == "vault --vault '/v/x' --key-file OLD ls")
        let given = AdvisedCommand(vault: ("team", "/v/team"), keyOptions: [("--identity", "/i")], keyFile: "/k/team")
        #expect(given.line("ls", of: "/v/x") == "vault --vault '/v/x' --identity '/i' ls")
    }

    @Test(arguments: [
        ("web/shop.otp", "web/shop.otp"), ("my bank", "'my bank'"), ("$x", "'$x'"), ("-x", "-- '-x'"), ("-", "-"),
        ("a\u{202E}", #""$(printf 'a\342\200\256')""#),
    ])
    func aNameIsQuotedOnlyIfItHasToBe(name: String, argument: String) {
        #expect(AdvisedCommand.name(name) == argument)
    }

    @Test func aNameIsTakenOrKeptByWhatNamesItExactly() {
        let sides = MergedSides(vault: "/v/a", copy: "/v/c", advised: AdvisedCommand())
        #expect(sides.taking(["a"]) == "vault merge --from-former-key=NAME '/v/c'")
        #expect(sides.taking(["a", "\u{202E}"]).hasSuffix("\nWrite \\u{202e} as \"$(printf '\\342\\200\\256')\""))
        #expect(
            sides.keeping(["a", "-x"]) == "vault merge --from-former-key 'a' --from-former-key='-x' '/v/c'")
        let many = (0..<51).map(String.init)
        #expect(sides.keeping(many) == "vault merge --all-from-former-key '/v/c'")
        #expect(sides.keeping(many.dropLast()).contains("--from-former-key '49' "))
    }

    /// A file that is there may be the one that is to be left out.
    @Test func theFormerVaultMovesToAFreeName() throws {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "vault-advice-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let vault = "\(folder)/a.vault"
        for (number, name) in ["a.vault.before", "a.vault.before-2", "a.vault.before-3"].enumerated() {
            let advice = MergedSides(vault: vault, copy: "/v/c", advised: AdvisedCommand()).otherWay
            let moves = "ln -T '\(vault)' '\(folder)/\(name)' && mv -T -f '/v/c' '\(vault)'"
            #expect(advice.contains("\n  \(moves)\n  vault merge '\(folder)/\(name)'\n  vault ls\n"))
            #expect(!advice.contains("--accept"))
            // A link to nothing holds a name too.
            if number == 0 {
                try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: "nothing")
            } else {
                try Data([1]).write(to: URL(filePath: "\(folder)/\(name)"))
            }
        }
    }

    @Test func aDatabaseIsMergedTheOtherWay() {
        for (vault, copy) in [("postgresql://db/v", "/v/c"), ("/v/a", "postgresql://db/v")] {
            let advice = MergedSides(vault: vault, copy: copy, advised: AdvisedCommand()).otherWay
            #expect(advice == "merge in the other direction: vault --vault '\(copy)' merge '\(vault)'")
        }
    }

    @Test(arguments: [
        ("/v/a", "/v/c", true), ("/v/a", "postgresql://db/v", false), ("postgresql://db/v", "/v/c", false),
    ])
    func aCopyReplacesAVaultThatHasUsedUpItsNumbers(vault: String, copy: String, isAdvised: Bool) {
        let error = VaultError(.invalid, "It is used up.", causes: [.usedUpVault(vault)])
        let message = CommandError(error, merging: [copy], advising: AdvisedCommand()).message
        let advice =
            "\nIf /v/c is the right vault, replace this one with it: ln -T '/v/a' '/v/a.before' && mv -T -f '/v/c' '/v/a'"
        #expect(message.hasSuffix(advice) == isAdvised && message.hasPrefix("It is used up. "))
        let several = CommandError(error, merging: [copy, copy], advising: AdvisedCommand()).message
        #expect(!several.contains("ln -T"))
    }

    private func output(of line: String) throws -> String {
        let process = Process()
        let pipe = Foundation.Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", line]
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
