package import Sealing

/// A wrapped copy of the data key; Format.md, "Key slot".
package struct KeySlot: Hashable, Sendable {
    package static let size = 112
    static let wrappedSize = SecretBox.keySize + SecretBox.tagSize

    /// The raw value of the kind. Writers keep slots of unknown kinds unchanged.
    package var kind: UInt8
    package var salt: [UInt8]
    package var limits: KeyDerivation.StretchLimits
    var nonce: Nonce
    var wrapped: [UInt8]
    /// The public data needed to obtain the slot's secret: a command, or the stanzas for a recipient.
    package var parameters: [UInt8] = []

    package init(
        kind: UInt8, salt: [UInt8], limits: KeyDerivation.StretchLimits, nonce: Nonce, wrapped: [UInt8],
        parameters: [UInt8] = []
    ) {
        self.kind = kind
        self.salt = salt
        self.limits = limits
        self.nonce = nonce
        self.wrapped = wrapped
        self.parameters = parameters
    }

    package enum Kind: UInt8, CaseIterable, Sendable {
        case generatedKey = 1
        case otherKey, passphrase, keyFileAndPassphrase, recipient
    }

    package var isOfRecipient: Bool { kind == Kind.recipient.rawValue }

    /// Whether the slot's secret is stretched by Argon2id.
    package var stretches: Bool { kind != Kind.generatedKey.rawValue && !isOfRecipient }

    /// The command that outputs the key file's contents; nil if the slot has none. It cannot be authenticated before
    /// the vault is open, so it is run only if the user has already agreed to it.
    package var command: String? { isOfContents && !parameters.isEmpty ? parametersAsText : nil }

    package var isOfKeyFile: Bool { isOfContents && parameters.isEmpty }

    private var isOfContents: Bool { [Kind.generatedKey.rawValue, Kind.otherKey.rawValue].contains(kind) }

    private var parametersAsText: String? { parameters.withUnsafeBytes { String(validating: $0, as: UTF8.self) } }

    /// Whether the parameters are valid for the slot's kind. Those of recipients and unknown kinds are not checked.
    var hasSoundParameters: Bool {
        switch Kind(rawValue: kind) {
        case .generatedKey, .otherKey: parametersAsText != nil
        case .passphrase, .keyFileAndPassphrase: parameters.isEmpty
        case .recipient, nil: true
        }
    }
}

extension Collection<KeySlot> {
    var parametersSize: Int { reduce(0) { $0 + $1.parameters.count } }
}

extension ByteReader {
    /// Reads a slot, and its parameters from the header's parameter area. Ignores reserved bytes.
    ///
    /// - Parameter former: the slots before this one. The total length of their parameters is the offset of this slot's
    ///   parameters. If `former` is nil, the offset is read from this slot.
    package mutating func keySlot(in header: [UInt8], after former: [KeySlot]?) throws(Malformed) -> KeySlot {
        let kind = try byte()
        try skip(1)
        let stated = Int(try integer(UInt16.self))
        let length = Int(try integer(UInt16.self))
        try skip(2)
        let offset = former?.parametersSize ?? stated
        guard offset + length <= Limits.slotParametersSize else { throw Malformed("a slot's parameters") }
        let start = Header.parametersOffset + offset
        let slot = KeySlot(
            kind: kind, salt: try array(KeyDerivation.saltSize),
            limits: KeyDerivation.StretchLimits(passes: try integer(), memory: try integer()), nonce: try nonce(),
            wrapped: try array(KeySlot.wrappedSize), parameters: Array(header[start..<start + length]))
        guard slot.hasSoundParameters else { throw Malformed("a slot's parameters") }
        guard slot.stretches || slot.limits == .init(passes: 0, memory: 0) else { throw Malformed("a slot's limits") }
        return slot
    }
}

extension ByteWriter {
    mutating func keySlot(_ slot: KeySlot, parametersOffset: Int) {
        byte(slot.kind)
        zeros(1)
        integer(UInt16(truncatingIfNeeded: slot.parameters.isEmpty ? 0 : parametersOffset))
        integer(UInt16(truncatingIfNeeded: slot.parameters.count))
        zeros(2)
        append(slot.salt)
        integer(slot.limits.passes)
        integer(slot.limits.memory)
        nonce(slot.nonce)
        append(slot.wrapped)
    }
}

/// The name to which a vault in a database is bound; Format.md, "The name".
///
/// The header's MAC does not cover the name, so the header's authenticator does not depend on it. A copy under another
/// name therefore has the same log positions.
package struct BoundName: Hashable, Sendable {
    static let offset = 140
    /// The size of the encoding in bytes: the hash, the number `copied` and the code.
    static let size = KeyedHash.size + MemoryLayout<UInt64>.size + KeyedHash.size
    static let bytes = offset..<offset + size
    package static let markSize = 16

    package let hash: [UInt8]
    /// The sequence number of the newest record that was copied to this name. Copied records may have any mark or none.
    let copied: UInt64
    /// The code that authenticates the hash and `copied` together with the header.
    let code: [UInt8]

    /// The prefix of the name's hash. Every record that is written under this name contains the prefix.
    package var mark: [UInt8] { Array(hash[..<BoundName.markSize]) }

    /// Returns whether a record may follow a header with this name. A copy under another name has the same keys and log
    /// positions, so only this check rejects the copy's records.
    package static func admits(_ index: RecordIndex, under name: BoundName?) -> Bool {
        if let name, index.sequence <= name.copied { return true }
        return index.name == name?.mark
    }
}

extension ByteReader {
    /// Reads a bound name. Returns nil if all of its bytes are zero.
    mutating func boundName() throws(Malformed) -> BoundName? {
        let name = BoundName(hash: try array(KeyedHash.size), copied: try integer(), code: try array(KeyedHash.size))
        let isNone = name.copied == 0 && (name.hash + name.code).allSatisfy { $0 == 0 }
        return isNone ? nil : name
    }
}

extension ByteWriter {
    mutating func boundName(_ name: BoundName?) {
        guard let name else { return zeros(BoundName.size) }
        append(name.hash)
        integer(name.copied)
        append(name.code)
    }
}

extension BoundName {
    /// Returns a header's bytes with zeros in place of the name.
    package static func removed(from image: [UInt8]) -> [UInt8] {
        var image = image
        image.replaceSubrange(bytes, with: repeatElement(0, count: size))
        return image
    }

    /// Writes the name into the header and into the header's copy. `image` begins with both.
    package func write(to image: inout [UInt8]) {
        var writer = ByteWriter(reserving: BoundName.size)
        writer.boundName(self)
        for start in [0, Header.copyOffset] {
            let range = start + BoundName.offset..<start + BoundName.offset + BoundName.size
            image.replaceSubrange(range, with: writer.bytes)
        }
    }
}
