import Sealing

extension BoundName {
    /// Creates a bound name with the code for a header that has this MAC.
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
