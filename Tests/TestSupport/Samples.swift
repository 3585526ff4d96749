package import SealedFormat
package import Sealing

package func randomNonce() -> Nonce {
    RandomBytes.array(Nonce.size).withUnsafeBytes { Nonce($0) }
}

package func randomAuthenticator() -> Authenticator {
    RandomBytes.array(Authenticator.size).withUnsafeBytes { Authenticator($0) }
}

package func randomKeys() throws -> KeyRing {
    try KeyRing { (dataKey, _) throws(LogError) in
        RandomBytes.fill(dataKey)
        return nil
    }
}

package func secret(_ text: String) throws(LogError) -> SecretBytes {
    try translated(SecretBytes(copyOf: Array(text.utf8)))
}

/// The file key of a recipient's slot, whose salt is of that byte too unless it is given.
package func recipient(_ byte: UInt8, salt: [UInt8]? = nil) throws(LogError) -> Credential {
    let fileKey = try translated(SecretBytes(copyOf: [UInt8](repeating: byte, count: 16)))
    return .recipient(fileKey, ofSlotWith: salt ?? Array(repeating: byte, count: KeyDerivation.saltSize))
}

package func passphrase(_ text: String = "abc") throws(LogError) -> Credential { try .passphrase(secret(text)) }

extension KeyDerivation.StretchLimits {
    /// So that tests are quick.
    package static let low = KeyDerivation.StretchLimits(passes: 1, memory: 8 << 10)
}

extension EntryName {
    /// - Throws: `invalid` for what is no name.
    package static func sample(_ text: String) throws -> EntryName {
        guard let name = EntryName(text) else { throw LogError(.invalid, text) }
        return name
    }
}

extension Entry {
    package static func sample(_ name: String, offset: UInt64 = 4_096, length: Int = 40, modified: UInt64 = 7) throws
        -> Entry
    {
        Entry(
            name: try .sample(name), modified: modified,
            content: Content(
                created: min(5, modified),
                current: StoredVersion(kind: 1, nonce: randomNonce(), offset: offset, length: length),
                attributes: []))
    }

    package static func tombstone(_ name: String, modified: UInt64 = 9) throws -> Entry {
        Entry(name: try .sample(name), modified: modified, content: nil)
    }

    /// An entry of any shape that the format allows.
    package static func random(_ name: EntryName, _ generator: inout SeededGenerator) -> Entry {
        let modified = UInt64.random(in: 0...UInt64.max, using: &generator) >> Int.random(in: 0..<64, using: &generator)
        var earlier: [EarlierVersion] = []
        for _ in 0..<(Bool.random(using: &generator) ? Int.random(in: 0...9, using: &generator) : 0) {
            var version = EarlierVersion(modified: modified >> 1, version: .random(&generator))
            if Int.random(in: 0..<3, using: &generator) == 0 { version.expiry = modified }
            let count = Int.random(in: 0...2, using: &generator)
            version.attributes = (0..<count).map { Attribute(key: "key \($0)", value: "value") }
            if Int.random(in: 0..<3, using: &generator) == 0 { version.authorship = .random(&generator) }
            earlier.append(version)
        }
        func time() -> UInt64? { Bool.random(using: &generator) ? modified >> 2 : nil }
        let sequence = modified >> Int.random(in: 0..<64, using: &generator)
        let forgotten = time()
        let joined = time()
        let authorship = Bool.random(using: &generator) ? Authorship.random(&generator) : nil
        if Int.random(in: 0..<5, using: &generator) == 0 {
            return Entry(
                name: name, modified: modified, sequence: sequence, content: nil, earlier: earlier,
                forgotten: forgotten, joined: joined, authorship: authorship)
        }
        var content = Content(
            created: UInt64.random(in: 0...modified, using: &generator), current: .random(&generator), attributes: [])
        if Bool.random(using: &generator) { content.expiry = UInt64.random(in: 0...UInt64.max, using: &generator) }
        let attributeCount = Bool.random(using: &generator) ? Int.random(in: 0...64, using: &generator) : 0
        content.attributes = (0..<attributeCount).map { Attribute(key: "key \($0 + 100)", value: "wert ü \($0)") }
        return Entry(
            name: name, modified: modified, sequence: sequence, content: content, earlier: earlier,
            forgotten: forgotten, joined: joined, authorship: authorship)
    }
}

extension Authorship {
    package static func random(_ generator: inout SeededGenerator) -> Authorship {
        let sequence = UInt64.random(in: 0...UInt64.max, using: &generator) >> Int.random(in: 0..<64, using: &generator)
        return Authorship(
            author: .random(in: 0 ... .max, using: &generator),
            seen: LogPosition(sequence: sequence, authenticator: randomAuthenticator()),
            signature: RandomBytes.array(Ed25519.signatureSize))
    }
}

extension StoredVersion {
    package static func random(_ generator: inout SeededGenerator) -> StoredVersion {
        StoredVersion(
            kind: UInt8.random(in: 0...255, using: &generator), nonce: randomNonce(),
            offset: UInt64.random(in: 0..<1 << 57, using: &generator) * 16,
            length: Int.random(in: 0...Limits.valueSize, using: &generator))
    }
}

extension Header {
    package static func sample(slots count: Int) -> Header {
        let slots = (0..<count).map { _ in
            KeySlot(
                kind: 1, salt: RandomBytes.array(16), limits: .init(passes: 0, memory: 0), nonce: randomNonce(),
                wrapped: RandomBytes.array(48), parameters: Array("cat key".utf8.prefix(count % 3 * 3)))
        }
        return Header(
            vaultID: RandomBytes.array(16), sequence: 77,
            root: PageReference(offset: 8_192, length: 1_024, nonce: randomNonce()),
            manifest: PageReference(offset: 9_216, length: 96, nonce: randomNonce()), checkpointEnd: 9_312, slots: slots
        )
    }
}

extension LogError {
    /// The code of the error that `body` throws; nil if it throws none.
    package static func code(_ body: () throws -> Void) throws -> Code? {
        do { try body() } catch let error as LogError { return error.code }
        return nil
    }
}
