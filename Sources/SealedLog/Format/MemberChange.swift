import Sealing

// Format.md, "Members".

/// That a device is a member's from now on, or no more.
struct MemberChange: Hashable, Sendable {
    let isRemoval: Bool
    /// Milliseconds since 1970, by the author's clock: it decides nothing.
    let time: UInt64
    /// The member's.
    let name: String
    let device: Device
    /// The member's public key of age; empty if the member opens the vault in another way.
    let recipient: String
    /// The changes that its author knew, but for those that one of these follows. The first of all follows none.
    let known: [Authenticator]

    static let limit = 1_024
    /// Of all changes together, in bytes: what a writer gives them of the manifest.
    static let sizeLimit = 512 << 10
}

/// A change of the members, and who has made it.
struct MemberRecord: Hashable, Sendable {
    let change: MemberChange
    let authorship: Authorship
    /// The start of the hash of its encoding, by which other changes name this one.
    let id: Authenticator
    let encodedSize: Int
    /// Whether a device adds itself.
    var addsItsAuthor: Bool { !change.isRemoval && authorship.author == change.device.id }

    init(change: MemberChange, authorship: Authorship) {
        (self.change, self.authorship) = (change, authorship)
        var writer = ByteWriter(reserving: 256)
        writer.memberChange(change)
        writer.authorship(authorship)
        encodedSize = writer.count
        id = writer.bytes.withUnsafeBytes { RunningHash.hash(of: $0) }.withUnsafeBytes { Authenticator($0) }
    }
}

extension ByteReader {
    mutating func memberRecord() throws(Malformed) -> MemberRecord {
        let flags = try byte()
        guard flags <= 1 else { throw Malformed("a member's flags") }
        let change = MemberChange(
            isRemoval: flags == 1, time: try varint(), name: try text(upTo: Manifest.labelSize), device: try device(),
            recipient: try text(upTo: SlotLabel.recipientSize),
            known: try list(upTo: MemberChange.limit) { (reader) throws(Malformed) in try reader.authenticator() })
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
        list(change.known) { $0.authenticator($1) }
    }

    mutating func memberRecord(_ record: MemberRecord) {
        memberChange(record.change)
        authorship(record.authorship)
    }
}
