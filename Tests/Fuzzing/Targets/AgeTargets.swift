import Age
import Foundation
import Sealing

extension FuzzTarget {
    /// Files, identities, recipients and stanzas of age: each input is read as all four.
    static let age = FuzzTarget(name: "age") {
        try ["age", "identity", "recipient"].flatMap { try fixtures(in: "AgeTests/Vectors", ending: "." + $0) }
            .map { try $0.bytes }.filter { $0.count < 4_096 } + [Array("-> x y\nQUI\n-> z\n\n".utf8)]
    } feed: { input, _ in
        if let stanzas = try? Stanza.all(in: input) {
            check(stanzas.flatMap(\.text) == input, "stanzas are not written as they were read")
        }
        let text = String(decoding: input, as: UTF8.self)
        if let recipient = try? Recipient(text) { check(recipient.text == text, "a recipient is read as another") }
        try checkIdentities(input)
        guard let identities = try? IdentityFile(SecretBytes(copyOf: AgeFixture.identity)) else { return }
        // A fuzzer cannot seal anything, so what opens is the plaintext of a seed.
        if let opened = try? AgeFile.open(input, with: identities, asking: NoPrompts()).unsafeArray() {
            check(opened.isEmpty || opened == Array("attack at dawn".utf8), "a changed file opens")
        }
    }

    private static func checkIdentities(_ input: [UInt8]) throws {
        guard let identities = try? IdentityFile(SecretBytes(copyOf: input)) else { return }
        let none: Never? = try identities.firstResult { identity in
            let text = try identity.text()
            check(input.contains(text.unsafeArray()), "an identity is read as another")
            check(try IdentityFile(text).count == 1, "an identity that was written is not read")
            return nil
        }
        check(none == nil, "an identity was skipped")
    }
}

private enum AgeFixture {
    static let identity: [UInt8] =
        (try? FuzzTarget.fixtures(in: "AgeTests/Vectors", ending: "one.identity").first?.bytes) ?? []
}
