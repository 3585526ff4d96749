import Sealing

// Format.md, "Members".

/// The statement that a device was added to a member or removed from it.
struct MemberChange: Hashable, Sendable {
    let isRemoval: Bool
    /// The author's time in milliseconds since 1970. It decides nothing.
    let time: UInt64
    let name: String
    let device: Device
    /// The member's age recipient; empty if the member opens the vault in another way.
    let recipient: String
    /// The changes that the author knew, except those that another one of these follows; none for the first change.
    let known: [Authenticator]

    static let limit = 1_024
    /// The maximum size of all changes together, in bytes. Writers keep to it, so that the manifest has room for them.
    static let sizeLimit = 512 << 10
}

struct MemberRecord: Hashable, Sendable {
    let change: MemberChange
    let authorship: Authorship
    /// The start of the hash of the encoding. Other changes refer to this one by it.
    let id: Authenticator
    let encodedSize: Int
    var addsItsAuthor: Bool { !change.isRemoval && authorship.author == change.device.id }

    init(change: MemberChange, authorship: Authorship) {
        self.change = change
        self.authorship = authorship
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
