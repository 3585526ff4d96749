import Age
import Testing

@Suite("Recipients")
struct RecipientTests {
    /// The example of the format's description.
    private static let published = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"

    @Test func areWrittenAsTheyWereRead() throws {
        for text in [RecipientTests.published, try Fixture.recipient("one").text] {
            guard case .x25519(let key) = try Recipient(text) else {
                Issue.record("\(text) is not a public key")
                continue
            }
            #expect(key.count == 32)
            #expect(Recipient.x25519(key).text == text)
        }
    }

    @Test func ofAPluginNameItAndKeepTheirText() throws {
        let text = "age1vaulttest1wfjkx6tsd9jkuaq3vz405"
        #expect(try Recipient(text) == .plugin(name: "vaulttest", text: text))
        #expect(try Recipient(text).text == text)
    }

    @Test func withAnyOneCharacterChangedAreRefused() throws {
        let text = Array(RecipientTests.published.utf8)
        for index in text.indices {
            for character in "qpzry9x8gf2tvdw0s3jn54khce6mua7lb1-".utf8 where character != text[index] {
                var changed = text
                changed[index] = character
                #expect(throws: AgeError.self) { try Recipient(String(decoding: changed, as: UTF8.self)) }
            }
        }
    }

    private static let invalid: [(text: String, reason: String)] = [
        ("", "the recipient is empty"),
        ("ssh-ed25519 AAAA", "SSH keys are not supported as recipients; create a key with age-keygen"),
        ("AGE-SECRET-KEY-1GFPYYSJZ", "this is an identity, which is secret, and not a recipient"),
        ("age-secret-key-1gfpyysjz", "this is an identity, which is secret, and not a recipient"),
        ("AGE-PLUGIN-YUBIKEY-1GFPY", "this is an identity, which is secret, and not a recipient"),
        (published.uppercased(), "the recipient is not in lower case"),
        ("A" + published.dropFirst(), "the recipient is invalid: it has both lower-case and upper-case letters"),
        (published + "q", "the recipient is invalid: its checksum does not match; it was mistyped or truncated"),
        (
            String(published.dropLast()),
            "the recipient is invalid: its checksum does not match; it was mistyped or truncated"
        ),
        (
            " " + published,
            "the recipient is invalid: it contains a space or another invalid character"
        ),
        (
            published.replacing("z", with: "b"),
            "the recipient is invalid: it contains an invalid character"
        ),
        ("hello", "the recipient is invalid: it is truncated, or not an age key"),
        ("age1qqq", "the recipient is invalid: it is truncated, or not an age key"),
        ("a12uel5l", "the recipient does not start with age1"),
        (String(repeating: "q", count: 16_385), "the recipient is invalid: it is too long"),
        ("age19l388n", "the recipient is not a public key of 32 bytes"),
        ("age1../x1wfjkx6tsd9jkuaqk0c6mp", "the recipient's plugin has an invalid name"),
    ]

    @Test(arguments: invalid)
    func thatAreInvalidAreRefusedWithAReason(_ text: String, _ reason: String) throws {
        #expect(try failure { _ = try Recipient(text) } == AgeError(.malformed, reason))
    }

    @Test func thatAreHostileDoNotCrash() {
        for length in 0..<200 {
            for character in ["1", "q", "\0", "é", "ſ"] {
                #expect(throws: AgeError.self) { try Recipient("age1" + String(repeating: character, count: length)) }
            }
        }
        #expect(Recipient.x25519([]).text.hasPrefix("age1"))
    }
}
