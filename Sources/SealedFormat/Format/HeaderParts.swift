package import Sealing

/// A wrapped copy of the data key; see Format.md, "Key slot".
package struct KeySlot: Hashable, Sendable {
    package static let size = 112
    static let wrappedSize = SecretBox.keySize + SecretBox.tagSize

    /// The slot's kind as stored, which this version may not know. Writers keep slots of unknown kinds unchanged.
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

    /// The command that outputs the contents of the key file; nil if the slot has none. The command cannot be
    /// authenticated before the vault is open, so it is run only with the user's prior consent.
    package var command: String? { isOfContents && !parameters.isEmpty ? parametersAsText : nil }

    package var isOfKeyFile: Bool { isOfContents && parameters.isEmpty }

    private var isOfContents: Bool { [Kind.generatedKey.rawValue, Kind.otherKey.rawValue].contains(kind) }

    private var parametersAsText: String? { parameters.withUnsafeBytes { String(validating: $0, as: UTF8.self) } }

    /// Whether the parameters are valid for this kind of slot. They are not checked for recipients and unknown kinds.
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
    /// Reads a slot, including its parameters in the header's parameter area. Ignores reserved bytes.
    ///
    /// - Parameter former: the slots before this one, whose parameters are assumed to directly precede this slot's. If
    ///   nil, the slot's own offset field is used.
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

/// The name to which a vault in a database is bound; see Format.md, "The name".
///
/// The header's MAC does not cover the name, so the header's authenticator does not depend on it. A copy under another
/// name therefore has the same log positions.
package struct BoundName: Hashable, Sendable {
    static let offset = 140
    /// The encoded size in bytes of the name's hash, the number `copied` and the authentication code together.
    static let size = KeyedHash.size + MemoryLayout<UInt64>.size + KeyedHash.size
    static let bytes = offset..<offset + size
    package static let markSize = 16

    package let hash: [UInt8]
    /// The newest record's sequence number when the vault was copied to this name. Marks up to it are not checked.
    let copied: UInt64
    /// The authentication code for `hash`, `copied` and the header.
    let code: [UInt8]

    /// A prefix of the name's hash. Every record that is written under this name contains this prefix.
    package var mark: [UInt8] { Array(hash[..<BoundName.markSize]) }

    /// Returns whether a record may be part of a log whose header contains this name. Without this check, the records
    /// of a copy under another name would be accepted, because that copy has the same keys and log positions.
    package static func admits(_ index: RecordIndex, under name: BoundName?) -> Bool {
        if let name, index.sequence <= name.copied { return true }
        return index.name == name?.mark
    }
}

extension ByteReader {
    /// Reads the name to which a vault in a database is bound. Returns nil if all of the name's bytes are zero.
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
    /// Returns a header's bytes with zeros instead of the name, which the header's MAC does not cover.
    package static func removed(from image: [UInt8]) -> [UInt8] {
        var image = image
        image.replaceSubrange(bytes, with: repeatElement(0, count: size))
        return image
    }

    /// Writes the name into both copies of the header at the start of `image`.
    package func write(to image: inout [UInt8]) {
        var writer = ByteWriter(reserving: BoundName.size)
        writer.boundName(self)
        for start in [0, Header.copyOffset] {
            let range = start + BoundName.offset..<start + BoundName.offset + BoundName.size
            image.replaceSubrange(range, with: writer.bytes)
        }
    }
}
