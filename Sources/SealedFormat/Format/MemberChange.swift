import Sealing

// The encoding of member changes; see Format.md, "Members".

/// A signed change that adds or removes a member's device.
package struct MemberChange: Hashable, Sendable {
    let isRemoval: Bool
    /// The time on the author's clock, in milliseconds since 1970. It does not affect whether the change counts.
    let time: UInt64
    let name: String
    let device: Device
    /// The member's age recipient; empty if the member opens the vault in another way.
    let recipient: String
    /// The IDs of the latest changes that the author knew: those that no other known change follows.
    let known: [Authenticator]

    package static let limit = 1_024
    /// The maximum total size of all changes in bytes. Writers enforce it so that the changes fit in the manifest.
    package static let sizeLimit = 512 << 10
}

package struct MemberRecord: Hashable, Sendable {
    let change: MemberChange
    let authorship: Authorship
    /// The ID by which other changes refer to this one: the start of the hash of its encoding.
    package let id: Authenticator
    package let encodedSize: Int
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
