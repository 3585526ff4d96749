import Sealing

// The signatures of changes; see Format.md, "Members".

/// A machine that signs its changes, identified by its public key.
package struct Device: Hashable, Sendable {
    package let publicKey: [UInt8]

    init?(publicKey: [UInt8]) {
        guard publicKey.count == Ed25519.publicKeySize else { return nil }
        self.publicKey = publicKey
    }

    /// The first 8 bytes of the public key. Signatures refer to the device by this ID.
    var id: DeviceID { publicKey.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } }
}

package typealias DeviceID = UInt64

/// The signature of an entry's state or of a member change.
package struct Authorship: Hashable, Sendable {
    package let author: DeviceID
    /// The newest log position that the author had read when signing.
    package let seen: LogPosition
    let signature: [UInt8]

    package init(author: DeviceID, seen: LogPosition, signature: [UInt8]) {
        self.author = author
        self.seen = seen
        self.signature = signature
    }

    /// Returns whether this is a valid signature of the statement by the device.
    func isValid(for statement: Statement, by device: Device) -> Bool {
        author == device.id
            && Ed25519.isValid(signature, of: statement.message(by: device, after: seen), publicKey: device.publicKey)
    }
}

/// The encoded statement that a signature covers.
package struct Statement {
    private let bytes: [UInt8]
    private let vaultID: [UInt8]

    /// Encodes the state of an entry. `valueHash` is the hash of the value's bytes; it is empty for a tombstone.
    package init(
        _ name: EntryName, at modified: UInt64, _ content: Entry.Content?, valueHash: [UInt8], in vaultID: [UInt8]
    ) {
        var writer = ByteWriter(reserving: 128)
        writer.append(Array("vault-state-1".utf8))
        writer.name(name)
        writer.varint(modified)
        writer.byte(content == nil ? 1 : 0)
        if let content {
            writer.byte(content.current.kind)
            writer.append(valueHash)
            writer.varint(content.expiry ?? 0)
            writer.attributes(content.attributes)
        }
        bytes = writer.bytes
        self.vaultID = vaultID
    }

    init(_ change: MemberChange, in vaultID: [UInt8]) {
        var writer = ByteWriter(reserving: 256)
        writer.append(Array("vault-member-1".utf8))
        writer.memberChange(change)
        bytes = writer.bytes
        self.vaultID = vaultID
    }

    func message(by device: Device, after seen: LogPosition) -> [UInt8] {
        var writer = ByteWriter(reserving: bytes.count + 80)
        writer.append(bytes)
        writer.append(vaultID)
        writer.append(device.publicKey)
        writer.varint(seen.sequence)
        writer.authenticator(seen.authenticator)
        return writer.bytes
    }
}

extension ByteReader {
    mutating func device() throws(Malformed) -> Device {
        guard let device = Device(publicKey: try array(Ed25519.publicKeySize)) else { throw Malformed("a device key") }
        return device
    }

    mutating func authorship() throws(Malformed) -> Authorship {
        Authorship(
            author: try integer(), seen: LogPosition(sequence: try varint(), authenticator: try authenticator()),
            signature: try array(Ed25519.signatureSize))
    }
}

extension ByteWriter {
    mutating func authorship(_ authorship: Authorship) {
        integer(authorship.author)
        varint(authorship.seen.sequence)
        authenticator(authorship.seen.authenticator)
        append(authorship.signature)
    }
}

extension Authorship {
    var size: Int { 8 + seen.sequence.varintSize + Authenticator.size + Ed25519.signatureSize }
}
