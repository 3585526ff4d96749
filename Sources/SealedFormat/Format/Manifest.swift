import LinuxSystem
import Sealing

/// The contents of a checkpoint other than its entries, stored in a sealed page; see Format.md, "Checkpoint".
package struct Manifest: Hashable, Sendable {
    private static let settingsLimit = 4_096
    static let labelSize = 256

    /// The time of the vault's creation in milliseconds since 1970.
    package var created: UInt64
    package var totals: Totals
    /// The authenticators of the log positions directly before the header's position, oldest first.
    package var chain: [Authenticator]
    package var labels: [SlotLabel]
    /// Settings that later versions of the format define. Writers of this version preserve them.
    package let settings: [Attribute]
    /// The subkeys of former data keys, oldest first. They authenticate rollback memory from before a rotation.
    package var formerMemoryKeys: [[UInt8]] = []
    /// The IDs of removed keys, oldest removal first. A merge does not restore these keys.
    package private(set) var removedKeys: [SlotLabel.ID] = []

    /// The log positions of the merged histories, ordered by sequence number and without gaps. The header that recorded
    /// the merge has the sequence number that follows the last of them.
    package var merged: [LogPosition] = []

    /// The member changes. Each one comes after the changes that its author knew.
    package var members: [MemberRecord] = []

    /// The IDs of the newest member changes (not their predecessors) that the creator of the data key knew.
    package var membersKnownToKey: [Authenticator] = []

    package static let mergedLimit = 4 * Limits.chainLength

    /// Returns whether the history before the header includes a log position. `origin` is the header's log position.
    package func includes(_ position: LogPosition, before origin: LogPosition) -> Inclusion {
        guard position.sequence < origin.sequence else { return .unknown }
        let distance = origin.sequence - position.sequence
        if distance <= UInt64(chain.count) {
            return chain[chain.count - Int(distance)] == position.authenticator ? .included : .excluded
        }
        // The chain has only the newest authenticators. Older positions are known only within the range of `merged`.
        guard let first = merged.first, let last = merged.last,
            (first.sequence...last.sequence).contains(position.sequence)
        else { return .unknown }
        return merged.contains(position) ? .included : .excluded
    }
}

/// Whether a history includes a log position; `unknown` if the position is outside the history's known part.
package enum Inclusion: Sendable { case included, excluded, unknown }

package struct SlotLabel: Hashable, Sendable {
    package let created: UInt64
    package let text: String
    /// A recipient's public key; empty for every other kind of key.
    package var recipient = ""

    package init(created: UInt64, text: String, recipient: String = "") {
        self.created = created
        self.text = text
        self.recipient = recipient
    }

    static let recipientSize = 4_096
}

extension SlotLabel {
    /// The start of a label's hash. It identifies the key in all copies, even after the key has been removed or the
    /// data key has been rotated.
    package typealias ID = Authenticator

    package var id: ID {
        var writer = ByteWriter(reserving: 64)
        writer.slotLabel(self)
        return writer.bytes.withUnsafeBytes { RunningHash.hash(of: $0) }.withUnsafeBytes { Authenticator($0) }
    }

    /// Returns the label, with a later time if `taken` already contains its ID. The ID depends on the time.
    func renamed(besides taken: Set<ID>) -> SlotLabel {
        var label = self
        while taken.contains(label.id) {
            label = SlotLabel(created: label.created &+ 1, text: text, recipient: recipient)
        }
        return label
    }

    /// Creates the label of a new slot. Throws `invalid` if `text` or `recipient` is too long.
    init(text: String, recipient: String = "") throws(LogError) {
        guard text.utf8.count <= Manifest.labelSize else {
            throw LogError(.invalid, "the label is longer than \(Manifest.labelSize) bytes")
        }
        guard recipient.utf8.count <= SlotLabel.recipientSize else {
            throw LogError(.invalid, "the recipient is longer than \(SlotLabel.recipientSize) bytes")
        }
        self.init(created: Clock.milliseconds, text: text, recipient: recipient)
    }

    /// Creates a slot's label. Throws `invalid` if a string is too long, or `text` could be mistaken for another label.
    package init(ofNew text: String, recipient: String = "") throws(LogError) {
        if let unseen = text.unseenPart { throw LogError(.invalid, "the label is not allowed, because \(unseen)") }
        try self.init(text: text, recipient: recipient)
    }
}

extension Manifest {
    /// Creates the manifest of a new history.
    package init(created: UInt64, labels: [SlotLabel], settings: [Attribute] = []) {
        self.init(created: created, totals: Totals(), chain: [], labels: labels, settings: settings)
    }

    package init(parsing bytes: [UInt8], of header: Header) throws(Malformed) {
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
                throw Malformed("unknown member changes")
            }
        }
        try reader.finish()
    }

    /// Sets `merged` to the combined positions of this history and `other`, and clears the chain.
    /// - Parameters:
    ///   - end: a log position whose sequence number is the first one after the chain.
    ///   - isBelieved: whether this history is trusted; if not, only the newest of its positions is used.
    package mutating func merge(_ other: KnownPositions, before end: LogPosition, isBelieved: Bool, upTo count: Int) {
        let all = positions(before: end)
        let own = isBelieved ? all : KnownPositions(all.positions.suffix(1), first: 0)
        // Each history may lack positions before its start, so `merged` begins at the later of the two starts.
        let first = max(own.first, other.first)
        let both = Set(own.positions + other.positions).filter { $0.sequence >= first }
        let sorted = both.sorted { $0.sequence < $1.sequence }
        let dropped = sorted.dropLast(count).last
        merged = sorted.suffix(count).filter { $0.sequence != dropped?.sequence }
        chain = []
    }

    /// Adds the memory subkey of the replaced data key, and drops the oldest subkey if the list is full. A machine that
    /// remembers the vault under the dropped subkey then reports this vault as an older copy. Refusing to rotate would
    /// be worse: a person with access could fill the list to prevent the rotation that revokes that access.
    package mutating func addFormer(memoryKey: [UInt8]) {
        formerMemoryKeys = (formerMemoryKeys.filter { $0 != memoryKey } + [memoryKey]).suffix(Limits.formerKeys)
    }

    /// Adds another copy's memory subkeys, as many as there is room for. They count as older than this vault's own.
    package mutating func addFormer(ofCopy memoryKeys: [[UInt8]]) {
        let own = Set(formerMemoryKeys)
        formerMemoryKeys = (memoryKeys.filter { !own.contains($0) } + formerMemoryKeys).suffix(Limits.formerKeys)
    }

    /// Adds removed keys. If the list is full, drops those that were removed first.
    package mutating func addRemoved(_ keys: [SlotLabel.ID]) {
        let added = Set(keys)
        removedKeys = (removedKeys.filter { !added.contains($0) } + keys).suffix(Limits.removedKeys)
    }

    /// Clears ``removedKeys``, because the list may have been written by a person who no longer has access.
    package mutating func forgetRemovedKeys() { removedKeys = [] }

    package mutating func addRemoved(ofCopy keys: [SlotLabel.ID]) {
        let own = Set(removedKeys)
        removedKeys = (keys.filter { !own.contains($0) } + removedKeys).suffix(Limits.removedKeys)
    }

    package var encoded: [UInt8] {
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

/// The known log positions of a history. They are complete from the sequence number ``first`` onwards.
package struct KnownPositions: Sendable {
    /// The positions in ascending order of their sequence numbers.
    package private(set) var positions: [LogPosition]
    /// The sequence number from which the positions are complete. Earlier positions may be missing.
    package let first: UInt64

    package init(_ positions: some Sequence<LogPosition>, first: UInt64) {
        self.positions = positions.sorted { $0.sequence < $1.sequence }
        self.first = first
    }

    package mutating func append(_ position: LogPosition) { positions.append(position) }
}

extension Manifest {
    /// Returns the positions of the chain, preceded by the merged positions if there is no gap between the two.
    package func positions(before origin: LogPosition) -> KnownPositions {
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
