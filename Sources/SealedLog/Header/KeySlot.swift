import Sealing

/// One way to the data key; Format.md, "Key slot".
struct KeySlot: Hashable, Sendable {
    /// Kept as it is for slots of kinds that this version does not know.
    var kind: UInt8
    var salt: [UInt8]
    var limits: KeyDerivation.StretchLimits
    var nonce: Nonce
    var wrapped: [UInt8]

    static let wrappedSize = 80
    /// What a data key takes when it is sealed; only a public-key slot takes more.
    static let wrappedKeySize = SecretBox.keySize + SecretBox.tagSize

    /// What a slot of this kind is called.
    var kindName: String {
        switch kind {
        case KeyFile.Kind.generated.rawValue: "generated key file"
        case KeyFile.Kind.other.rawValue: "key file, Argon2id"
        default: "kind \(kind)"
        }
    }
}

extension ByteReader {
    mutating func keySlot() throws(Malformed) -> KeySlot {
        let kind = try byte()
        try reserved(7)
        let slot = KeySlot(
            kind: kind, salt: try array(KeyDerivation.saltSize),
            limits: KeyDerivation.StretchLimits(passes: try integer(), memory: try integer()), nonce: try nonce(),
            wrapped: try array(KeySlot.wrappedSize))
        try reserved(16)
        let isShort = (1...4).contains(kind)
        guard !isShort || slot.wrapped[KeySlot.wrappedKeySize...].allSatisfy({ $0 == 0 }) else {
            throw Malformed("reserved bytes")
        }
        // Kinds 1 and 5 stretch nothing.
        let isStretched = slot.limits.passes != 0 || slot.limits.memory != 0
        guard kind != 1 && kind != 5 || !isStretched else { throw Malformed("a slot's limits") }
        return slot
    }
}

extension ByteWriter {
    mutating func keySlot(_ slot: KeySlot) {
        byte(slot.kind)
        zeros(7)
        append(slot.salt)
        integer(slot.limits.passes)
        integer(slot.limits.memory)
        nonce(slot.nonce)
        append(slot.wrapped)
        zeros(16)
    }
}
