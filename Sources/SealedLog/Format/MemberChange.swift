import Sealing

// Format.md, "Members".

/// That a device is a member's from now on, or no more.
struct MemberChange: Hashable, Sendable {
    let isRemoval: Bool
    /// Milliseconds since 1970, later than that of any change before.
    let time: UInt64
    /// The member's.
    let name: String
    let device: Device
    /// The member's public key of age; empty if the member opens the vault in another way.
    let recipient: String

    static let limit = 1_024
    /// Of all changes together, in bytes: what a writer gives them of the manifest.
    static let sizeLimit = 512 << 10
}

/// A change of the members, and who has made it.
struct MemberRecord: Hashable, Sendable {
    let change: MemberChange
    let authorship: Authorship
}

extension MemberRecord {
    var encodedSize: Int {
        var writer = ByteWriter()
        writer.memberRecord(self)
        return writer.count
    }

    /// The records of two copies, each once, in the order of their times.
    static func joined(_ own: [MemberRecord], _ other: [MemberRecord]) -> [MemberRecord] {
        let new = other.filter { !own.contains($0) }
        guard !new.isEmpty else { return own }
        return (own + new).sorted { left, right in
            if left.change.time != right.change.time { return left.change.time < right.change.time }
            return left.authorship.signature.lexicographicallyPrecedes(right.authorship.signature)
        }
    }
}

extension ByteReader {
    mutating func memberRecord() throws(Malformed) -> MemberRecord {
        let flags = try byte()
        guard flags <= 1 else { throw Malformed("a member's flags") }
        let change = MemberChange(
            isRemoval: flags == 1, time: try varint(), name: try text(upTo: Manifest.labelSize), device: try device(),
            recipient: try text(upTo: SlotLabel.recipientSize))
        return MemberRecord(change: change, authorship: try authorship())
    }
}

extension ByteWriter {
    mutating func memberChange(_ change: MemberChange) {
        byte(change.isRemoval ? 1 : 0)
        varint(change.time)
        text(change.name)
        append(change.device.publicKey)
        text(change.recipient)
    }

    mutating func memberRecord(_ record: MemberRecord) {
        memberChange(record.change)
        authorship(record.authorship)
    }
}
