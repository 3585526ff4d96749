import Age
import Sealing
import TestSupport
import Testing

@Suite("age files")
struct AgeFileTests {
    @Test(arguments: [
        ("small", Fixture.plaintext), ("armored", Fixture.plaintext), ("two-recipients", Fixture.plaintext),
        ("empty", []), ("one-chunk", Fixture.counting(65_536)), ("two-chunks", Fixture.counting(65_537)),
    ])
    func ofAgeOpen(_ name: String, _ plaintext: [UInt8]) throws {
        let file = try Fixture.bytes(name + ".age")
        #expect(try opened(file, with: Fixture.identities("one")) == plaintext)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 65_535, 65_536, 65_537, 131_072, 131_073, 200_000])
    func ofOursOpenForEachRecipientAlone(size: Int) throws {
        let plaintext = Fixture.counting(size)
        let file = try sealed(plaintext, to: [Fixture.recipient("two"), Fixture.recipient("one")])
        #expect(try opened(file, with: Fixture.identities("one")) == plaintext)
        #expect(try opened(file, with: Fixture.identities("two")) == plaintext)
        let error = try failure { _ = try opened(file, with: IdentityFile(Identity.generate().text())) }
        #expect(error == AgeError(.noMatch, "none of the identities opens the file"))
    }

    @Test func openWithAnyOfSeveralIdentities() throws {
        let text = String(decoding: try Fixture.bytes("two.identity") + Fixture.bytes("one.identity"), as: UTF8.self)
        #expect(try opened(Fixture.bytes("small.age"), with: identityFile(text)) == Fixture.plaintext)
    }

    @Test func differEachTime() throws {
        let recipient = try Fixture.recipient("one")
        let one = try sealed([1], to: [recipient])
        let two = try sealed([1], to: [recipient])
        #expect(one != two)
        #expect(one.suffix(33) != two.suffix(33))
    }

    @Test func withAnyBitChangedDoNotOpen() throws {
        let file = try Fixture.bytes("small.age")
        let identities = try Fixture.identities("one")
        for bit in 0..<file.count * 8 {
            var changed = file
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: AgeError.self, "bit \(bit)") { try opened(changed, with: identities) }
        }
    }

    @Test func cutOrLengthenedDoNotOpen() throws {
        let identities = try Fixture.identities("one")
        for name in ["small", "empty"] {
            let file = try Fixture.bytes(name + ".age")
            for end in file.indices {
                #expect(throws: AgeError.self) { try opened(Array(file[..<end]), with: identities) }
            }
            #expect(throws: AgeError.self) { try opened(file + [0], with: identities) }
        }
    }

    @Test func whoseChunksAreCutOrMovedDoNotOpen() throws {
        let identities = try Fixture.identities("one")
        let file = try sealed(Fixture.counting(3 * 65_536), to: [Fixture.recipient("one")])
        let chunk = 65_536 + 16
        let head = file.dropLast(3 * chunk)
        let chunks = (0..<3).map { file.dropFirst(head.count + $0 * chunk).prefix(chunk) }
        for order in [[0, 1], [1, 2], [1, 0, 2], [0, 1, 2, 2], [2], [0, 0, 1, 2]] {
            let changed = order.reduce(Array(head)) { $0 + chunks[$1] }
            let error = try failure { _ = try opened(changed, with: identities) }
            #expect(error == AgeError(.damaged, "the payload was changed or truncated"))
        }
        // With a last chunk that would be empty.
        let error = try failure { _ = try opened(file + [UInt8](repeating: 0, count: 16), with: identities) }
        #expect(error == AgeError(.damaged, "the payload is truncated"))
    }

    private static let head = "age-encryption.org/v1\n"
    private static let stanza =
        "-> X25519 osh+RZMFAxCjuyzM54sfKL/+H5h3/V+OEdzPgJwHu20\nZnYHwawJrqj/p09xL1ia77BSMXiOhAB2iDUz7Xy5dpM\n"
    private static let code = "--- C+Bot65hu+aIFwBeUs1CAoz+UbrPKgXOFZt00Lyg8NA\n"

    private static let invalid: [(text: String, reason: String)] = [
        ("", "it is not an age file"), ("hello", "it is not an age file"),
        ("age-encryption.org/v2\n", "the file's version of the age format is not supported"),
        ("age-encryption.org/v1", "the file's version of the age format is not supported"),
        ("age-encryption.org/v1\r\n", "the file's version of the age format is not supported"),
        (head, "the header is truncated"), (head + code, "the header has no stanza"),
        (head + stanza, "the header is truncated"), (head + stanza + code.dropLast(), "the header is truncated"),
        (head + stanza + "hello", "a stanza does not start with \"-> \""),
        (head + stanza + code.replacing(" ", with: "-"), "the last line of the header is invalid"),
        (head + stanza + code.replacing("NA\n", with: "NB\n"), "the last line of the header is invalid"),
        (head + stanza + code.replacing("NA\n", with: "N=\n"), "the last line of the header is invalid"),
        (head + stanza + code.dropLast() + "\r\n", "the last line of the header is invalid"),
        (head + String(repeating: stanza, count: 800), "the header is too large"),
        (head + stanza + code, "the payload is truncated"),
        (head + stanza + code + String(repeating: "x", count: 31), "the payload is truncated"),
        (head + stanza + "-> scrypt x 18\n\n" + code, "a passphrase is combined with other recipients"),
    ]

    @Test(arguments: invalid)
    func thatAreInvalidAreRefusedWithAReason(_ text: String, _ reason: String) throws {
        let error = try failure { _ = try opened(Array(text.utf8), with: Fixture.identities("one")) }
        #expect(error == AgeError(reason == "the payload is truncated" ? .damaged : .malformed, reason))
    }

    @Test func withChangedStanzasSayThatTheHeaderWasChanged() throws {
        let text = AgeFileTests.head + AgeFileTests.stanza + "-> extra\n\n" + AgeFileTests.code
        let error = try failure { _ = try opened(Array(text.utf8), with: Fixture.identities("one")) }
        #expect(error == AgeError(.damaged, "the header was changed (its MAC does not match)"))
    }

    @Test func ofAPassphraseSaySo() throws {
        let error = try failure { _ = try opened(Fixture.bytes("passphrase.age"), with: Fixture.identities("one")) }
        #expect(error == AgeError(.noMatch, "the file is encrypted with a passphrase, which is not supported"))
    }

    @Test func areNotWrittenForNobody() throws {
        #expect(try failure { _ = try sealed([1], to: []) } == AgeError(.malformed, "there is no recipient"))
    }

    @Test(.disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
    func openLeavingNothingOfThePlaintextInMemory() async {
        await #expect(processExitsWith: .success) {
            let plaintext = try SecretBytes.random(256)
            let identity = try Identity.generate()
            guard let recipient = identity.recipient else { return }
            let identities = try IdentityFile(identity.text())
            try MemoryScan.farDown {
                let file = try AgeFile.seal(plaintext, to: [recipient], asking: NoPrompts())
                let isSame = try AgeFile.open(file, with: identities, asking: NoPrompts()).isEqual(to: plaintext)
                #expect(isSame)
            }
            #expect(try MemoryScan.copies(of: plaintext) == [])
        }
    }
}
