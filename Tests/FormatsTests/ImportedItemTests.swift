import FoundationEssentials
import Testing

@testable import Formats

/// What the end-to-end tests have no file for.
@Suite struct ImportedItemTests {
    @Test(arguments: [
        ("machine a login b password c", ["b", "c"]), ("machine a\npassword c\nlogin b", ["b", "c"]),
        ("machine a user b passwd #c", ["b", "#c"]), ("#x\nmachine a login \"b c\" password \"\\\"\"", ["b c", "\""]),
    ])
    func netrcTakesItsWordsInAnyOrder(text: String, expected: [String]) throws {
        let item = try Netrc.items(in: Array(text.utf8)).items.first
        #expect([item?.username, item?.password] == expected)
    }

    @Test func passKeepsWhatItDoesNotKnowSecret() throws {
        let text = "pw\nUser: mia\nlogin: second\nsee: x: y\nnot a key: z\n\nfree\n"
        let item = try PassEntry.item("a/b/c", Array(text.utf8))
        #expect((item.folder, item.title, item.password, item.username) == ("a/b", "c", "pw", "mia"))
        #expect(item.notes == "not a key: z\n\nfree")
        #expect(item.details == [.init("login", "second", isSecret: true), .init("see", "x: y", isSecret: true)])
        #expect(try PassEntry.item("a", []).password == "")
    }

    @Test func aSecretOfTheKeyringEndsAtTheTimes() throws {
        let text = """
            [/org/freedesktop/secrets/collection/login/1]
            label = a
            secret = one
            created = not yet
            two
            created = 2026-01-31 09:05:00
            modified = 2026-01-31 09:05:00
            schema = org.gnome.keyring.Note
            attribute.user = mia = x
            [/2]
            label = b
            secret =\u{20}
            created = 2026-01-31 09:05:00
            modified = 2026-01-31 09:05:00
            """
        let items = try SecretToolOutput.items(in: Array(text.utf8)).items
        #expect(items.map(\.password) == ["one\ncreated = not yet\ntwo", ""])
        #expect(items.first?.details.last == .init("user", "mia = x", isSecret: false))
        #expect(throws: FormatError.self) { try SecretToolOutput.items(in: Array("[/1]\nlabel = a\nsecret = x".utf8)) }
        #expect(throws: FormatError.self) { try SecretToolOutput.items(in: Array("[/1]\nlabel = a".utf8)) }
    }

    @Test func aLaterColumnIsASecretField() throws {
        let text = "name,url,username,password,Passkey\na,b,c,d,e\n"
        let item = try LoginTable.chrome.items(in: Array(text.utf8)).items.first
        #expect(item?.details == [.init("Passkey", "e", isSecret: true)])
    }

    @Test(arguments: ["", "a b", "\"$\\\n\r\t", "ü#'"])
    func aVariableThatWasWrittenIsReadAsItWas(value: String) throws {
        var text = Array("A=".utf8)
        DotEnv.write(value.utf8) { text.append($0) }
        #expect(try DotEnv.variables(in: text).map(\.value) == [Array(value.utf8)])
    }

    @Test(arguments: [("db/password", "DB_PASSWORD"), ("2fa", "_2FA"), ("über", "__BER"), ("", "_")])
    func aVariableIsNamedInCapitals(name: String, expected: String) {
        #expect(DotEnv.variableName(of: name) == expected)
    }
}
