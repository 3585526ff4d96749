import Age
import LinuxSystem
import Sealing
import TestSupport
import Testing

@Suite("File keys wrapped for public keys")
struct WrappingTests {
    private func unwrapped(_ stanzas: [Stanza], with identity: borrowing Identity) throws -> [UInt8]? {
        guard let key = try Wrapping.unwrap(stanzas, with: identity, asking: NoPrompts()) else { return nil }
        return key.unsafeArray()
    }

    private func wrapped(for identity: borrowing Identity, _ fileKey: borrowing SecretBytes) throws -> Stanza {
        guard let recipient = identity.recipient else { throw NoFailure() }
        let stanzas = try Wrapping.wrap(fileKey, to: recipient, asking: NoPrompts())
        try #require(stanzas.count == 1)
        return stanzas[0]
    }

    @Test func openForTheirRecipientAlone() throws {
        let fileKey = try FileKey.generate()
        let one = try Identity.generate()
        let two = try Identity.generate()
        let stanza = try wrapped(for: one, fileKey)
        let other = try wrapped(for: two, fileKey)
        let unknown = try Stanza(arguments: ["example.com/enigma", "1"], body: [1, 2, 3])
        #expect(try unwrapped([stanza], with: one) == fileKey.unsafeArray())
        #expect(try unwrapped([stanza], with: two) == nil)
        #expect(try unwrapped([unknown, other, stanza], with: one) == fileKey.unsafeArray())
        #expect(try unwrapped([unknown], with: one) == nil)
        #expect(try unwrapped([], with: one) == nil)
    }

    @Test func areWrappedAnewEachTime() throws {
        let fileKey = try FileKey.generate()
        let identity = try Identity.generate()
        #expect(try wrapped(for: identity, fileKey) != wrapped(for: identity, fileKey))
    }

    @Test func withAnyByteOfTheBodyChangedDoNotOpen() throws {
        let fileKey = try FileKey.generate()
        let identity = try Identity.generate()
        let stanza = try wrapped(for: identity, fileKey)
        for index in stanza.body.indices {
            var body = stanza.body
            body[index] ^= 1
            let changed = try Stanza(arguments: stanza.arguments, body: body)
            #expect(try unwrapped([changed], with: identity) == nil)
        }
    }

    @Test func ofAWrongSizeAreRefused() throws {
        let recipient = try Fixture.recipient("one")
        for size in [0, 15, 17, 32] {
            let error = try failure {
                _ = try Wrapping.wrap(SecretBytes(zeros: size), to: recipient, asking: NoPrompts())
            }
            #expect(error == AgeError(.malformed, "a file key does not have 16 bytes"))
        }
    }

    @Test(arguments: [([UInt8](repeating: 0, count: 32), "the recipient's public key is invalid"), ([1], nil)])
    func areNotWrappedForAnInvalidPublicKey(_ key: [UInt8], _ reason: String?) throws {
        let error = try failure {
            _ = try Wrapping.wrap(FileKey.generate(), to: .x25519(key), asking: NoPrompts())
        }
        #expect(error == AgeError(.malformed, reason ?? "a length out of bounds"))
    }

    @Test(.disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
    func leaveNothingOfTheFileKeyInMemory() async {
        await #expect(processExitsWith: .success) {
            let identity = try Identity.generate()
            let fileKey = try FileKey.generate()
            guard let recipient = identity.recipient else { throw NoFailure() }
            try MemoryScan.farDown {
                let stanzas = try Wrapping.wrap(fileKey, to: recipient, asking: NoPrompts())
                let isSame = try Wrapping.unwrap(stanzas, with: identity, asking: NoPrompts())?.isEqual(to: fileKey)
                #expect(isSame == true)
            }
            #expect(try MemoryScan.copies(of: fileKey) == [])
        }
    }

    private static let share = "XEl0dJ6y3C7KZkgmgWUicg63EyXJiwBJW8PdYJ/cYBE"

    private static let invalid: [(arguments: [String], size: Int, reason: String)] = [
        (["X25519"], 32, "an X25519 stanza does not have exactly one argument"),
        (["X25519", share, "x"], 32, "an X25519 stanza does not have exactly one argument"),
        (["X25519", "x"], 32, "the share of an X25519 stanza is not base64 of 32 bytes"),
        (["X25519", share + "="], 32, "the share of an X25519 stanza is not base64 of 32 bytes"),
        (["X25519", share.dropLast() + "F"], 32, "the share of an X25519 stanza is not base64 of 32 bytes"),
        (["X25519", share], 31, "the body of an X25519 stanza does not have 32 bytes"),
        (["X25519", share], 33, "the body of an X25519 stanza does not have 32 bytes"),
        (["X25519", String(repeating: "A", count: 43)], 32, "the share of an X25519 stanza is invalid"),
    ]

    @Test(arguments: invalid)
    func inAnInvalidStanzaAreRefusedWithAReason(_ arguments: [String], _ size: Int, _ reason: String) throws {
        let identity = try Identity.generate()
        let stanza = try Stanza(arguments: arguments, body: [UInt8](repeating: 0, count: size))
        #expect(try failure { _ = try unwrapped([stanza], with: identity) } == AgeError(.malformed, reason))
    }
}
