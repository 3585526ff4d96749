import LinuxSystem
import Sealing

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
    /// The memory subkeys of former data keys, oldest first: what a machine remembers from before a rotation counts.
    var formerMemoryKeys: [[UInt8]] = []

    /// Of two histories that a merge has joined, the newest log positions, in ascending order of their numbers.
    var merged: [LogPosition] = []

    private static let formerKeysLimit = 8
    static let mergedLimit = 4 * Limits.chainLength

    /// Returns whether the history before the header, which is at `origin`, includes an earlier log position.
    func includes(_ position: LogPosition, before origin: LogPosition) -> Inclusion {
        let distance = origin.sequence - position.sequence
        if distance <= UInt64(chain.count) {
            return chain[chain.count - Int(distance)] == position.authenticator ? .included : .excluded
        }
        guard let first = merged.first, position.sequence >= first.sequence else { return .unknown }
        return merged.contains(position) ? .included : .excluded
    }
}

/// Whether a history includes a log position; unknown if the history is not known that far back.
enum Inclusion { case included, excluded, unknown }

/// The sealed description of one key slot.
package struct SlotLabel: Hashable, Sendable {
    let created: UInt64
    let text: String
    /// The public key of a recipient; empty for other kinds.
    package internal(set) var recipient = ""

    static let recipientSize = 4_096
}

extension SlotLabel {
    /// Labels a new slot. Throws `invalid` for a text that is too long.
    init(text: String, recipient: String = "") throws(LogError) {
        guard text.utf8.count <= Manifest.labelSize else {
            throw LogError(.invalid, "a label may have at most \(Manifest.labelSize) bytes")
        }
        guard recipient.utf8.count <= SlotLabel.recipientSize else {
            throw LogError(.invalid, "a recipient may have at most \(SlotLabel.recipientSize) bytes")
        }
        self.init(created: Clock.milliseconds, text: text, recipient: recipient)
    }
}

extension Manifest {
    init(parsing bytes: [UInt8], of header: Header) throws(Malformed) {
        var reader = ByteReader(bytes)
        created = try reader.varint()
        totals = try reader.totals()
        chain = try reader.list(upTo: Limits.indexSize / Authenticator.size) { (reader) throws(Malformed) in
            try reader.authenticator()
        }
        labels = []
        for _ in header.slots {
            labels.append(
                SlotLabel(
                    created: try reader.varint(), text: try reader.text(upTo: Manifest.labelSize),
                    recipient: try reader.text(upTo: SlotLabel.recipientSize)))
        }
        guard zip(header.slots, labels).allSatisfy({ $0.isOfRecipient || $1.recipient.isEmpty }) else {
            throw Malformed("a recipient of another key")
        }
        settings = try reader.attributes(count: Manifest.settingsLimit, size: Manifest.settingsLimit)
        formerMemoryKeys = try reader.list(upTo: Manifest.formerKeysLimit) { (reader) throws(Malformed) in
            try reader.array(SecretBox.keySize)
        }
        merged = try reader.list(upTo: Manifest.mergedLimit) { (reader) throws(Malformed) in
            LogPosition(sequence: try reader.varint(), authenticator: try reader.authenticator())
        }
        guard zip(merged, merged.dropFirst()).allSatisfy({ $0.sequence <= $1.sequence }) else {
            throw Malformed("the order of what was merged")
        }
        guard merged.last.map({ $0.sequence < header.sequence }) ?? true else {
            throw Malformed("the numbers of what was merged")
        }
        try reader.finish()
    }

    /// Makes the chain a part of what was merged, together with another history's positions: the newest of both.
    ///
    /// - Parameter end: a position whose number follows the chain.
    mutating func merge(_ other: [LogPosition], before end: LogPosition, upTo count: Int) {
        let all = Set(positions(before: end) + other)
        merged = all.sorted { $0.sequence < $1.sequence }.suffix(count)
        chain = []
    }

    mutating func addFormer(memoryKey: [UInt8]) {
        formerMemoryKeys.append(memoryKey)
        formerMemoryKeys = formerMemoryKeys.suffix(Manifest.formerKeysLimit)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 256 + chain.count * Authenticator.size)
        writer.varint(created)
        writer.totals(totals)
        writer.list(chain) { $0.authenticator($1) }
        for label in labels {
            writer.varint(label.created)
            writer.text(label.text)
            writer.text(label.recipient)
        }
        writer.attributes(settings)
        writer.list(formerMemoryKeys) { $0.append($1) }
        writer.list(merged) {
            $0.varint($1.sequence)
            $0.authenticator($1.authenticator)
        }
        writer.pad()
        return writer.bytes
    }
}

extension Manifest {
    /// The positions of the chain, and of what was merged before it.
    func positions(before origin: LogPosition) -> [LogPosition] {
        let first = origin.sequence - UInt64(chain.count)
        return merged
            + chain.enumerated().map { LogPosition(sequence: first + UInt64($0.offset), authenticator: $0.element) }
    }
}
