import LinuxSystem
import Sealing

private typealias StretchLimits = KeyDerivation.StretchLimits

extension Header {
    /// Finds the slot that `key` opens, and from its data key the subkeys.
    ///
    /// - Throws: `keyWrong` if none opens; `damaged` if what the slots of the key's kind ask for is out of bounds.
    func unlock(with key: borrowing KeyFile) throws(LogError) -> KeyRing {
        try checkCost(of: key.kind)
        return try KeyRing { (dataKey, scratch) throws(LogError) in
            for slot in slots where try slot.unwrap(with: key, into: dataKey, scratch: scratch) { return }
            throw LogError(.keyWrong)
        }
    }

    /// The slots are read before anything authenticates them: whoever can write the file could make each reader work
    /// for minutes.
    private func checkCost(of kind: KeyFile.Kind) throws(LogError) {
        guard kind != .other || Header.isBearable(slots) else {
            throw LogError.damaged("the key slots ask for more work than they may")
        }
    }

    /// Whether what the slots for files that were not generated ask for is within bounds, each and in all.
    static func isBearable(_ slots: [KeySlot]) -> Bool {
        let limits = slots.filter { $0.kind == KeyFile.Kind.other.rawValue }.map(\.limits)
        return limits.allSatisfy(\.isWithinBounds) && limits.reduce(0) { $0 + $1.cost } <= StretchLimits.largestCost
    }

    /// The slots, that of `key` with limits that cost more.
    ///
    /// - Throws: `invalid` for limits that are out of bounds or cost no more, and for a generated key, which is not
    ///   stretched; `keyWrong`.
    func slots(raising key: borrowing KeyFile, to limits: KeyDerivation.StretchLimits) throws(LogError) -> [KeySlot] {
        guard key.kind == .other else { throw LogError(.invalid, "a generated key file needs no stretching") }
        var slots = slots
        _ = try KeyRing { (dataKey, scratch) throws(LogError) in
            for (index, slot) in slots.enumerated() where try slot.unwrap(with: key, into: dataKey, scratch: scratch) {
                guard limits.isWithinBounds, limits.cost > slot.limits.cost else {
                    throw LogError(.invalid, "the cost is only ever raised, to \(StretchLimits.bounds)")
                }
                slots[index] = try .wrapping(
                    UnsafeRawBufferPointer(dataKey), with: key, limits: limits, scratch: scratch)
                return
            }
            throw LogError(.keyWrong)
        }
        var header = self
        header.slots = slots
        do { try header.checkCost(of: .other) } catch {
            throw LogError(.invalid, "all slots together take more than Argon2id may, \(StretchLimits.bounds)")
        }
        return slots
    }

    /// The MAC over the encoded header.
    static func mac(of encoded: [UInt8], with keys: KeyRing) throws(LogError) -> [UInt8] {
        try encoded.withRawBytes { (bytes) throws(LogError) in
            try keys.authenticate(UnsafeRawBufferPointer(rebasing: bytes[..<macPlace]), for: .header)
        }
    }

    /// Checks the MAC of a header's bytes, and gives the authenticator that the chain begins with.
    ///
    /// - Throws: `damaged`.
    static func authenticate(_ bytes: [UInt8], with keys: KeyRing) throws(LogError) -> Authenticator {
        let expected = try mac(of: bytes, with: keys)
        // An ordinary compare gives nothing away: whoever can change the file has no one to ask but its owner.
        guard bytes[macPlace..<hintPlace].elementsEqual(expected) else {
            throw LogError.damaged("the header does not authenticate")
        }
        return authenticator(ofMAC: expected)
    }

    static func authenticator(ofMAC mac: [UInt8]) -> Authenticator {
        mac.withUnsafeBytes { Authenticator($0) }
    }

    /// The header with an empty hint, and its copy: 8,192 bytes.
    func sealed(with keys: KeyRing) throws(LogError) -> [UInt8] {
        let encoded = encoded
        let header = encoded + (try Header.mac(of: encoded, with: keys)) + [UInt8](repeating: 0, count: Hint.size)
        return header + header
    }

    /// Whether the copy in a file's first 8,192 bytes is that of the header before it.
    static func copyHolds(in image: [UInt8]) -> Bool {
        let copy = image[copyPlace...]
        return image[..<hintPlace].elementsEqual(copy.prefix(hintPlace))
            && copy.dropFirst(hintPlace).allSatisfy { $0 == 0 }
    }
}
