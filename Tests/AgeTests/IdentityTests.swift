import Age
import LinuxSystem
import Sealing
import TestSupport
import Testing

@Suite("Identities")
struct IdentityTests {
    /// The example of the format's description.
    private static let published = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    private static let plugin = "AGE-PLUGIN-VAULTTEST-1D9JX2MN5D968JE5MZ20"

    private func recipients(_ file: borrowing IdentityFile) -> [String?] {
        var recipients: [String?] = []
        let none: Never? = file.firstResult {
            recipients.append($0.recipient?.text ?? $0.pluginName)
            return nil
        }
        #expect(none == nil)
        return recipients
    }

    @Test func haveTheRecipientThatAgePrints() throws {
        #expect(
            recipients(try identityFile(IdentityTests.published))
                == ["age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"])
        for name in ["one", "two"] {
            #expect(recipients(try Fixture.identities(name)) == [try Fixture.recipient(name).text])
        }
    }

    @Test func areWrittenAsTheyWereRead() throws {
        for text in [IdentityTests.published, IdentityTests.plugin] {
            let written = try identityFile(text).firstResult { try $0.text().unsafeString() }
            #expect(written == text)
        }
    }

    @Test func thatAreNewDifferAndCanBeReadAgain() throws {
        let one = try Identity.generate()
        let two = try Identity.generate()
        let recipient = one.recipient
        #expect(recipient != nil)
        #expect(recipient != two.recipient)
        #expect(recipients(try IdentityFile(one.text())) == [recipient?.text])
    }

    @Test func standInAFileWithCommentsBlankLinesAndAnyLineEnds() throws {
        let file = try identityFile(
            "\r\n# created: today\r\n\(IdentityTests.published)\r\n\n  \t\n#\n \(IdentityTests.plugin) \n# end")
        let count = file.count
        #expect(count == 2)
        #expect(
            recipients(file) == ["age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj", "vaulttest"])
        let pins = file.pins
        #expect(pins == [])
    }

    @Test func namedVaultsAreReadFromComments() throws {
        let file = try identityFile(
            "# vault: abcd-1234 \n# vaults: no\n#vault: no\n\(IdentityTests.published)\r\n# vault:\n# vault:x\r\n")
        let pins = file.pins
        #expect(pins == ["abcd-1234", "x"])
    }

    @Test func withAnyOneCharacterChangedAreRefused() throws {
        let text = Array(IdentityTests.published.utf8)
        for index in text.indices {
            for character in "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LB1-q".utf8 where character != text[index] {
                var changed = text
                changed[index] = character
                #expect(throws: AgeError.self) { _ = try IdentityFile(SecretBytes(copyOf: changed)).count }
            }
        }
    }

    private static let invalid: [(text: String, reason: String)] = [
        ("", "the identity file contains no identity"),
        ("# only a comment\n", "the identity file contains no identity"),
        (published + "\nhello\n", "the identity in line 2 is invalid: it is truncated, or not an age key"),
        (published.lowercased(), "the identity in line 1 is invalid: it is not in upper case"),
        (
            "\n" + published.dropLast(),
            "the identity in line 2 is invalid: its checksum does not match; it was mistyped or truncated"
        ),
        (
            published + " " + published,
            "the identity in line 1 is invalid: it contains a space or another invalid character"
        ),
        ("A12UEL5L", "the identity in line 1 is invalid: it is not of a supported kind"),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "the identity in line 1 is invalid: SSH keys are not supported; create a key with age-keygen"
        ),
        (
            "age-encryption.org/v1\n-> scrypt x 18\n",
            "the identity in line 1 is invalid: it is encrypted with a passphrase, which is not supported; "
                + "decrypt it with age first"
        ),
        (
            "AGE-SECRET-KEY-PQ-1XX",
            "the identity in line 1 is invalid: post-quantum identities are not supported"
        ),
        (
            "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj",
            "the identity in line 1 is invalid: this is a recipient, not an identity"
        ),
        (String(repeating: "#", count: 262_145), "the identity file is too large"),
        (
            String(repeating: published + "\n", count: 257),
            "the identity file contains more than 256 identities"
        ),
    ]

    @Test(arguments: invalid)
    func thatAreInvalidAreRefusedWithAReason(_ text: String, _ reason: String) throws {
        #expect(try failure { _ = try identityFile(text).count } == AgeError(.malformed, reason))
    }

    @Test(.disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
    func leaveNothingOfTheirSecretsInMemory() async {
        await #expect(processExitsWith: .success) {
            let identity = try Identity.generate()
            let text = try identity.text()
            try MemoryScan.farDown {
                let read = try IdentityFile(text)
                let isSame = try read.firstResult { try $0.text().isEqual(to: text) }
                #expect(isSame == true)
            }
            // The first characters are the same in all identities, and in the program itself.
            let secret = try text.withUnsafeBytes { text in
                try SecretBytes(copyOf: UnsafeRawBufferPointer(rebasing: text[18..<74]))
            }
            #expect(try MemoryScan.copies(of: secret) == [])
        }
    }
}
