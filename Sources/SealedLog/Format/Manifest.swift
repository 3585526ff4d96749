/// What a checkpoint stores beside its entries, in a sealed page; Format.md, "Checkpoint".
struct Manifest: Hashable, Sendable {
    private static let settingsLimit = 4_096
    static let labelSize = 256

    /// When the vault was created, in milliseconds since 1970.
    var created: UInt64
    var totals: Totals
    /// The authenticators of the sequence numbers just before the header's, oldest first.
    var chain: [Authenticator]
    var labels: [SlotLabel]
    /// Reserved. They are kept as they are.
    var settings: [Attribute]

    /// Returns whether the history before the header, which is at `origin`, includes an earlier log position.
    func includes(_ position: LogPosition, before origin: LogPosition) -> Inclusion {
        let distance = origin.sequence - position.sequence
        guard distance <= UInt64(chain.count) else { return .unknown }
        return chain[chain.count - Int(distance)] == position.authenticator ? .included : .excluded
    }
}

/// Whether a history includes a log position; unknown if the history is not known that far back.
enum Inclusion { case included, excluded, unknown }

/// The sealed description of one key slot.
struct SlotLabel: Hashable, Sendable {
    let created: UInt64
    let text: String
}

extension Manifest {
    /// - Parameter slotCount: the number of key slots in the header.
    init(parsing bytes: [UInt8], slotCount: Int) throws(Malformed) {
        var reader = ByteReader(bytes)
        created = try reader.varint()
        totals = try reader.totals()
        chain = try reader.list(upTo: Limits.indexSize / Authenticator.size) { (reader) throws(Malformed) in
            try reader.authenticator()
        }
        labels = []
        for _ in 0..<slotCount {
            labels.append(SlotLabel(created: try reader.varint(), text: try reader.text(upTo: Manifest.labelSize)))
        }
        settings = try reader.attributes(count: Manifest.settingsLimit, size: Manifest.settingsLimit)
        try reader.finish()
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 256 + chain.count * Authenticator.size)
        writer.varint(created)
        writer.totals(totals)
        writer.list(chain) { $0.authenticator($1) }
        for label in labels {
            writer.varint(label.created)
            writer.text(label.text)
        }
        writer.attributes(settings)
        writer.pad()
        return writer.bytes
    }
}
