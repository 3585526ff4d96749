import Sealing
import Testing

@testable import Formats

@Suite struct GitCredentialTests {
    private func read(_ text: String) throws -> GitCredential {
        try GitCredential(parsing: SecretBytes(copyOf: Array(text.utf8)))
    }

    private func written(_ credential: GitCredential) throws -> String {
        var bytes: [UInt8] = []
        try credential.write { bytes.append($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func aRequestEndsAtItsBlankLine() throws {
        let found = try read("protocol=https\nhost=a:1\npath=b/c\nusername=m=ia\n\nusername=other\n=\n")
        #expect(found.scheme == "https" && found.host == "a:1" && found.path == "b/c" && found.username == "m=ia")
        #expect(found.password == nil && found.expiry == nil && !found.isEphemeral)
        for text in ["", "\n", "\nno sign\n"] { #expect(try read(text).scheme == nil) }
    }

    @Test(arguments: [("a=b\n", false), ("a=b\n\n", true), ("\n", true), ("a\n\nb", true), ("", false)])
    func theBlankLineCompletesARequest(text: String, isComplete: Bool) throws {
        let bytes = try SecretBytes(copyOf: Array(text.utf8))
        #expect(bytes.withUnsafeBytes { GitCredential.isComplete($0) } == isComplete)
    }

    @Test func unknownKeysArePassedOverAndTheLastOfAKeyCounts() throws {
        let found = try read("later=x\nlater[]=y\nhost[]=z\nhost=a\nhost=b\nstate[]=other:1\n=\n")
        #expect(found.host == "b" && found.capabilities.isEmpty)
    }

    @Test func anEmptyCapabilityClearsThoseBefore() throws {
        #expect(try read("capability[]=a\ncapability[]=b\n").capabilities == ["a", "b"])
        #expect(try read("capability[]=a\ncapability[]=\ncapability[]=b\n").capabilities == ["b"])
    }

    @Test(arguments: [
        ("1", 1 as Int64?), ("0", nil), ("-5", nil), ("99999999999999999999", nil), ("soon", nil), ("", nil),
    ])
    func anExpiryIsAPositiveNumber(text: String, expiry: Int64?) throws {
        #expect(try read("password_expiry_utc=\(text)\n").expiry == expiry)
    }

    @Test(arguments: [
        ("protocol=https\nhost\n", 2), ("password=a\rb\n", 1), ("username=a\0b\n", 1), ("a=b\r\n", 1),
        ("a=b\n\(String(repeating: "x", count: 65_532))=yz\n", 2),
    ])
    func aLineThatCannotBeIsAnError(text: String, line: Int) {
        #expect { try read(text) } throws: { ($0 as? FormatError)?.line == line }
    }

    @Test func whatIsNoTextIsAnErrorUnlessItIsSecret() throws {
        #expect(throws: FormatError.self) {
            try GitCredential(parsing: SecretBytes(copyOf: Array("host=".utf8) + [0xFF]))
        }
        let found = try GitCredential(parsing: SecretBytes(copyOf: Array("password=".utf8) + [0xFF]))
        #expect(found.password?.bytes.unsafeArray() == [0xFF])
    }

    @Test func anAnswerHasTheOrderOfGitAndDoesNotSayWhatItIsFor() throws {
        let lines = "username=mia\npassword=x\npassword_expiry_utc=5\noauth_refresh_token=y\n"
        #expect(try written(read("protocol=https\nhost=a\noauth_refresh_token=y\n" + lines)) == lines)
        #expect(
            try written(read("credential=x\nauthtype=Bearer\n"))
                == "capability[]=authtype\nauthtype=Bearer\ncredential=x\n")
    }

    @Test(arguments: ["a\nb", "a\rb", "a\0b"])
    func aValueThatNoLineCanHoldIsNotWritten(value: String) throws {
        var credential = GitCredential()
        credential.password = HeldSecret(try SecretBytes(copyOf: Array(value.utf8)))
        #expect(throws: FormatError.self) { try written(credential) }
        credential.password = nil
        credential.username = value
        #expect(throws: FormatError.self) { try written(credential) }
    }
}
