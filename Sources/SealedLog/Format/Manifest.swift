/// What a checkpoint stores beside its entries, in a sealed page; Format.md, "Checkpoint".
struct Manifest: Hashable, Sendable {
    private static let settingsLimit = 4_096
    static let labelSize = 256

    /// When the vault was created, in milliseconds since 1970.
    var created: UInt64
    var totals: Totals
    /// The authenticators of the sequence numbers just before the header's, oldest first.
    var chain: [Authenticator]
    /// One for each key slot.
    var labels: [SlotLabel]
    /// Reserved. They are kept as they are.
    var settings: [Attribute]

    /// Returns whether a log position is part of the history before the header; nil if the chain does not reach back
    /// that far.
    ///
    /// - Parameters:
    ///   - position: a position before the header.
    ///   - origin: the header's position.
    func contains(_ position: LogPosition, before origin: LogPosition) -> Bool? {
        let distance = origin.sequence - position.sequence
        guard distance <= UInt64(chain.count) else { return nil }
        return chain[chain.count - Int(distance)] == position.authenticator
    }
}

/// A key slot's description, sealed.
struct SlotLabel: Hashable, Sendable {
    let created: UInt64
    let text: String
}

// MARK: - Coding

extension Manifest {
    /// - Parameter slotCount: the number of key slots in the header.
    init(parsing bytes: [UInt8], slotCount: Int) throws(Malformed) {
        var reader = ByteReader(bytes)
        created = try reader.varint()
        totals = try reader.totals()
        chain = []
        for _ in 0..<(try reader.count(upTo: Limits.indexSize / Authenticator.size)) {
            chain.append(try reader.authenticator())
        }
        labels = []
        for _ in 0..<slotCount {
            labels.append(SlotLabel(created: try reader.varint(), text: try reader.text(upTo: Manifest.labelSize)))
        }
        settings = []
        for _ in 0..<(try reader.count(upTo: Manifest.settingsLimit)) {
            settings.append(try reader.attribute(upTo: Manifest.settingsLimit))
        }
        try reader.finish()
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 256 + chain.count * Authenticator.size)
        writer.varint(created)
        writer.totals(totals)
        writer.varint(chain.count)
        for authenticator in chain { writer.authenticator(authenticator) }
        for label in labels {
            writer.varint(label.created)
            writer.text(label.text)
        }
        writer.attributes(settings)
        writer.pad()
        return writer.bytes
    }
}
