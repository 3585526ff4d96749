import LinuxSystem
import Sealing

/// The contents of a checkpoint beside its entries, in a sealed page; Format.md, "Checkpoint".
struct Manifest: Hashable, Sendable {
    private static let settingsLimit = 4_096
    static let labelSize = 256

    /// The time of the vault's creation in milliseconds since 1970.
    var created: UInt64
    var totals: Totals
    /// The authenticators of the sequence numbers just before the header's, oldest first.
    var chain: [Authenticator]
    var labels: [SlotLabel]
    /// Settings of later versions, which are kept as they are.
    let settings: [Attribute]
    /// The memory subkeys of former data keys, oldest first, for rollback memory from before a rotation.
    var formerMemoryKeys: [[UInt8]] = []
    /// The keys that were removed, oldest first. A merge does not bring them back.
    private(set) var removedKeys: [SlotLabel.ID] = []

    /// The log positions of the merged histories, in ascending order. The header's number followed the last one. None
    /// is missing after the first one.
    var merged: [LogPosition] = []

    /// The changes of the members. Each stands after those that its author knew.
    var members: [MemberRecord] = []

    /// The changes that were there when the data key was created, except those that another one of these follows.
    var membersKnownToKey: [Authenticator] = []

    static let mergedLimit = 4 * Limits.chainLength

    /// Returns whether the history before the header, whose position is `origin`, includes an earlier log position.
    func includes(_ position: LogPosition, before origin: LogPosition) -> Inclusion {
        guard position.sequence < origin.sequence else { return .unknown }
        let distance = origin.sequence - position.sequence
        if distance <= UInt64(chain.count) {
            return chain[chain.count - Int(distance)] == position.authenticator ? .included : .excluded
        }
        // Between `merged` and the chain, which has only the newest authenticators, nothing is known.
        guard let first = merged.first, let last = merged.last,
            (first.sequence...last.sequence).contains(position.sequence)
        else { return .unknown }
        return merged.contains(position) ? .included : .excluded
    }
}

/// Whether a history includes a log position: unknown if the position is older than the known part.
package enum Inclusion: Sendable { case included, excluded, unknown }

package struct SlotLabel: Hashable, Sendable {
    let created: UInt64
    let text: String
    /// The public key of a recipient; empty for other kinds.
    package internal(set) var recipient = ""

    static let recipientSize = 4_096
}

extension SlotLabel {
    /// Identifies a key after its removal, and in another copy: the start of the hash of its label. A rotation of the
    /// data key does not change it.
    typealias ID = Authenticator

    var id: ID {
        var writer = ByteWriter(reserving: 64)
        writer.slotLabel(self)
        return writer.bytes.withUnsafeBytes { RunningHash.hash(of: $0) }.withUnsafeBytes { Authenticator($0) }
    }

    /// Returns the label with a later time until its ID is not taken. Two keys may be added in one millisecond.
    func renamed(besides taken: Set<ID>) -> SlotLabel {
        var label = self
        while taken.contains(label.id) {
            label = SlotLabel(created: label.created &+ 1, text: text, recipient: recipient)
        }
        return label
    }

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

    /// Labels a new slot. Throws `invalid` for a text that is too long, or that can be mistaken for another.
    init(ofNew text: String, recipient: String = "") throws(LogError) {
        if let unseen = text.unseenPart { throw LogError(.invalid, "the label is not allowed, since \(unseen)") }
        try self.init(text: text, recipient: recipient)
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
        guard chain.count <= header.sequence else { throw Malformed("the length of the chain") }
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
        formerMemoryKeys = try reader.list(upTo: Limits.formerKeys) { (reader) throws(Malformed) in
            try reader.array(SecretBox.keySize)
        }
        removedKeys = try reader.list(upTo: Limits.removedKeys) { (reader) throws(Malformed) in
            try reader.authenticator()
        }
        merged = try reader.list(upTo: Manifest.mergedLimit) { (reader) throws(Malformed) in
            LogPosition(sequence: try reader.varint(), authenticator: try reader.authenticator())
        }
        guard zip(merged, merged.dropFirst()).allSatisfy({ $0.sequence <= $1.sequence }) else {
            throw Malformed("the order of the merged positions")
        }
        guard merged.last.map({ $0.sequence < header.sequence }) ?? true else {
            throw Malformed("the numbers of the merged positions")
        }
        if header.hasMembers {
            members = try reader.list(upTo: MemberChange.limit) { (reader) throws(Malformed) in
                try reader.memberRecord()
            }
            guard !members.isEmpty else { throw Malformed("no members") }
            membersKnownToKey = try reader.list(upTo: MemberChange.limit) { (reader) throws(Malformed) in
                try reader.authenticator()
            }
            guard Set(membersKnownToKey).isSubset(of: members.map(\.id)) else {
                throw Malformed("unknown changes of the members")
            }
        }
        try reader.finish()
    }

    /// Moves the chain into `merged`, together with another history's positions.
    /// - Parameters:
    ///   - end: a position whose number follows the chain.
    ///   - isBelieved: whether this history's own positions count. Otherwise only its newest one does.
    mutating func merge(_ other: KnownPositions, before end: LogPosition, isBelieved: Bool, upTo count: Int) {
        let all = positions(before: end)
        let own = isBelieved ? all : KnownPositions(all.positions.suffix(1), first: 0)
        // Before the later one of the two starts, one of the histories is unknown.
        let first = max(own.first, other.first)
        let both = Set(own.positions + other.positions).filter { $0.sequence >= first }
        let sorted = both.sorted { $0.sequence < $1.sequence }
        let dropped = sorted.dropLast(count).last
        merged = sorted.suffix(count).filter { $0.sequence != dropped?.sequence }
        chain = []
    }

    /// Adds the memory subkey of the data key that is replaced, and drops the oldest subkey if there are too many. A
    /// machine that remembers the vault under the dropped one will take this vault for an older copy. The alternative
    /// is worse: a person with access could fill the list, and so prevent the rotation that shuts them out.
    mutating func addFormer(memoryKey: [UInt8]) {
        formerMemoryKeys = (formerMemoryKeys.filter { $0 != memoryKey } + [memoryKey]).suffix(Limits.formerKeys)
    }

    /// Adds the subkeys of another copy that fit. They count as older than this vault's own.
    mutating func addFormer(ofCopy memoryKeys: [[UInt8]]) {
        let own = Set(formerMemoryKeys)
        formerMemoryKeys = (memoryKeys.filter { !own.contains($0) } + formerMemoryKeys).suffix(Limits.formerKeys)
    }

    /// Adds removed keys. If there are too many, the oldest ones are dropped.
    mutating func addRemoved(_ keys: [SlotLabel.ID]) {
        let added = Set(keys)
        removedKeys = (removedKeys.filter { !added.contains($0) } + keys).suffix(Limits.removedKeys)
    }

    /// Clears the list, for a copy that a person without access any more may have written.
    mutating func forgetRemovedKeys() { removedKeys = [] }

    mutating func addRemoved(ofCopy keys: [SlotLabel.ID]) {
        let own = Set(removedKeys)
        removedKeys = (keys.filter { !own.contains($0) } + removedKeys).suffix(Limits.removedKeys)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 256 + chain.count * Authenticator.size)
        writer.varint(created)
        writer.totals(totals)
        writer.list(chain) { $0.authenticator($1) }
        for label in labels { writer.slotLabel(label) }
        writer.attributes(settings)
        writer.list(formerMemoryKeys) { $0.append($1) }
        writer.list(removedKeys) { $0.authenticator($1) }
        writer.list(merged) {
            $0.varint($1.sequence)
            $0.authenticator($1.authenticator)
        }
        if !members.isEmpty {
            writer.list(members) { $0.memberRecord($1) }
            writer.list(membersKnownToKey) { $0.authenticator($1) }
        }
        writer.pad()
        return writer.bytes
    }
}

extension ByteWriter {
    fileprivate mutating func slotLabel(_ label: SlotLabel) {
        varint(label.created)
        text(label.text)
        text(label.recipient)
    }
}

/// The log positions of a history. They are complete from a number on.
struct KnownPositions: Sendable {
    /// The positions in ascending order of their numbers.
    private(set) var positions: [LogPosition]
    /// The number from which on the positions are complete.
    let first: UInt64

    init(_ positions: some Sequence<LogPosition>, first: UInt64) {
        self.positions = positions.sorted { $0.sequence < $1.sequence }
        self.first = first
    }

    mutating func append(_ position: LogPosition) { positions.append(position) }
}

extension Manifest {
    /// Returns the positions of the chain, preceded by the merged ones if the chain continues them.
    func positions(before origin: LogPosition) -> KnownPositions {
        let start = origin.sequence - UInt64(chain.count)
        let chain = chain.enumerated().map { offset, authenticator in
            LogPosition(sequence: start + UInt64(offset), authenticator: authenticator)
        }
        guard let first = merged.first, let last = merged.last, last.sequence + 1 == start else {
            return KnownPositions(chain, first: start)
        }
        return KnownPositions(merged + chain, first: first.sequence)
    }
}
