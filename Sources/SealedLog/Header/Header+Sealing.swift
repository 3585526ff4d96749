import Sealing

extension Header {
    /// Finds the slot that `key` opens, and from its data key the subkeys.
    ///
    /// - Throws: `keyWrong` if none opens; `damaged` for a slot whose limits are out of bounds.
    func unlock(with key: borrowing KeyFile) throws(LogError) -> KeyRing {
        try KeyRing { (dataKey, scratch) throws(LogError) in
            for slot in slots where try slot.unwrap(with: key, into: dataKey, scratch: scratch) { return }
            throw LogError(.keyWrong)
        }
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

    /// The whole 4,096 bytes, with an empty hint.
    func sealed(with keys: KeyRing) throws(LogError) -> (bytes: [UInt8], authenticator: Authenticator) {
        let encoded = encoded
        let mac = try Header.mac(of: encoded, with: keys)
        let hint = [UInt8](repeating: 0, count: Hint.size)
        return (encoded + mac + hint, Header.authenticator(ofMAC: mac))
    }
}
