import Sealing

extension BoundName {
    /// Binds a name to the header whose MAC is `mac`, by computing the code that authenticates it for this header.
    init(_ hash: [UInt8], copied: UInt64 = 0, toHeaderOf mac: [UInt8], _ keys: KeyRing) throws(LogError) {
        self.init(hash: hash, copied: copied, code: try BoundName.code(hash, copied, mac, keys))
    }

    func holds(forHeaderOf mac: [UInt8], _ keys: KeyRing) throws(LogError) -> Bool {
        try code == BoundName.code(hash, copied, mac, keys)
    }

    private static func code(
        _ hash: [UInt8], _ copied: UInt64, _ mac: [UInt8], _ keys: KeyRing
    ) throws(LogError) -> [UInt8] {
        var writer = ByteWriter(reserving: 2 * KeyedHash.size + 8)
        writer.append(mac)
        writer.append(hash)
        writer.integer(copied)
        return try keys.authenticate(writer.bytes, for: .name)
    }
}

extension Header {
    /// Checks the MACs of a header and of its bound name, and returns the header's authenticator. Throws `damaged`.
    package static func authenticate(_ bytes: [UInt8], with keys: KeyRing) throws(LogError) -> Authenticator {
        let expected = try mac(of: bytes, with: keys)
        // The MACs need not be compared in constant time, because only the vault's owner can measure the duration.
        guard bytes[macOffset..<hintOffset].elementsEqual(expected) else {
            throw LogError.damaged("the header does not authenticate")
        }
        var reader = ByteReader(bytes, in: BoundName.bytes)
        if let name = try? reader.boundName(), try !name.holds(forHeaderOf: expected, keys) {
            throw LogError.damaged("the name in the header does not authenticate")
        }
        return expected.withUnsafeBytes { Authenticator($0) }
    }

    /// Returns the MAC of a header's bytes, excluding the name.
    private static func mac(of bytes: [UInt8], with keys: KeyRing) throws(LogError) -> [UInt8] {
        try keys.authenticate(BoundName.removed(from: Array(bytes[..<macOffset])), for: .header)
    }

    /// Returns the header with a MAC and an empty hint, followed by its copy: 8,192 bytes in total.
    ///
    /// - Parameter name: the hash of the vault's name at the location to which the header is written; nil for a file.
    package func sealed(with keys: KeyRing, as name: [UInt8]?) throws(LogError) -> [UInt8] {
        var header = self
        let mac = try Header.mac(of: encoded, with: keys)
        header.name = try name.map { (hash) throws(LogError) in try BoundName(hash, toHeaderOf: mac, keys) }
        let bytes = header.encoded + mac + [UInt8](repeating: 0, count: Header.size - Header.hintOffset)
        return bytes + bytes
    }

    /// Returns a copy's name, bound to this header. `sequence` is the sequence number of the newest copied record.
    package func name(_ hash: [UInt8], behind sequence: UInt64, with keys: KeyRing) throws(LogError) -> BoundName {
        try BoundName(hash, copied: sequence, toHeaderOf: Header.mac(of: encoded, with: keys), keys)
    }
}
