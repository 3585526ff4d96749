/// What the header leaves to a sealed page of its own; Format.md, "Checkpoint".
struct Manifest: Hashable, Sendable {
    /// When the vault was made, in milliseconds since 1970.
    var created: UInt64
    var totals: Totals
    /// Authenticators of the sequence numbers just before the header's, oldest first.
    var chain: [Authenticator]
    /// One for each key slot.
    var labels: [SlotLabel]
    /// Reserved; kept as they are.
    var settings: [Attribute]

    /// Returns whether the history before the header includes an earlier position.
    ///
    /// - Parameter origin: the position of the header.
    func includes(_ position: LogPosition, before origin: LogPosition) -> Inclusion {
        let distance = origin.sequence - position.sequence
        guard distance <= UInt64(chain.count) else { return .unknown }
        return chain[chain.count - Int(distance)] == position.authenticator ? .included : .excluded
    }
}

/// Whether a history includes a position.
enum Inclusion {
    case included
    case excluded
    /// The history is not known that far back.
    case unknown
}

/// What is known of a key slot, sealed.
struct SlotLabel: Hashable, Sendable {
    let created: UInt64
    let text: String
}

extension Manifest {
    private static let settingsLimit = 4_096
    static let labelSize = 256

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
            settings.append(
                Attribute(
                    key: try reader.text(upTo: Manifest.settingsLimit),
                    value: try reader.text(upTo: Manifest.settingsLimit)))
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
        writer.varint(settings.count)
        for setting in settings {
            writer.text(setting.key)
            writer.text(setting.value)
        }
        writer.pad()
        return writer.bytes
    }
}
