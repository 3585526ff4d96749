package import Sealing

/// A wrapped copy of the data key; Format.md, "Key slot".
package struct KeySlot: Hashable, Sendable {
    static let size = 112
    static let wrappedSize = SecretBox.keySize + SecretBox.tagSize

    /// The raw value of the kind. Writers keep slots of unknown kinds unchanged.
    package internal(set) var kind: UInt8
    package internal(set) var salt: [UInt8]
    package internal(set) var limits: KeyDerivation.StretchLimits
    var nonce: Nonce
    var wrapped: [UInt8]
    /// The public data needed to obtain the slot's secret: a command, or the stanzas for a recipient.
    package internal(set) var parameters: [UInt8] = []

    package enum Kind: UInt8, CaseIterable, Sendable {
        case generatedKey = 1
        case otherKey, passphrase, keyFileAndPassphrase, recipient
    }

    package var isOfRecipient: Bool { kind == Kind.recipient.rawValue }

    /// Whether the slot's secret is stretched by Argon2id.
    package var stretches: Bool { kind != Kind.generatedKey.rawValue && !isOfRecipient }
}

extension KeySlot {
    /// The command that outputs the key file's contents; nil if the slot has none. The command is not authenticated
    /// before the vault is open, so it is run only if the user has agreed to it before.
    package var command: String? { isOfContents && !parameters.isEmpty ? parametersAsText : nil }

    package var isOfKeyFile: Bool { isOfContents && parameters.isEmpty }

    private var isOfContents: Bool { [Kind.generatedKey.rawValue, Kind.otherKey.rawValue].contains(kind) }

    private var parametersAsText: String? { parameters.withUnsafeBytes { String(validating: $0, as: UTF8.self) } }

    /// Whether the parameters are valid for the kind. They are not checked for recipients and unknown kinds.
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

// MARK: - Coding

extension ByteReader {
    /// Reads a slot, and its parameters from the header's parameter area. Ignores reserved bytes.
    ///
    /// - Parameter former: the slots before this one. The total length of their parameters determines the offset of
    ///   this slot's parameters. If the former slots are unknown (nil), the offset that this slot states is used.
    mutating func keySlot(in header: [UInt8], after former: [KeySlot]?) throws(Malformed) -> KeySlot {
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
