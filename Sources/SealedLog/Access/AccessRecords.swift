import LinuxSystem
import Sealing

/// Methods that seal and find access log records. See Format.md, "The access log".
struct AccessRecords: Sendable {
    let vaultID: [UInt8]
    let keys: AccessKeys

    /// A record of the access log, and its range in the bytes that were searched.
    struct Found {
        let record: AccessRecord
        let authenticator: Authenticator
        let range: Range<Int>
    }

    enum Tail { case none, torn, damaged }

    func sealed(_ access: Access, after last: Found?) throws(LogError) -> [UInt8] {
        let record = AccessRecord(
            number: (last?.record.number ?? 0) &+ 1, previous: last?.authenticator ?? .zero,
            time: Clock.milliseconds, access: access)
        var plaintext = record.encoded
        let frame = AccessFrame(holding: plaintext.count)
        plaintext += [UInt8](repeating: 0, count: frame.plaintextSize - plaintext.count)
        while true {
            let nonce = NonceSource.one()
            var writer = ByteWriter(reserving: frame.recordSize)
            writer.append(frame.encoded(vaultID: vaultID))
            writer.nonce(nonce)
            writer.append(try keys.seal(plaintext, nonce: nonce))
            // A record ending in a zero byte would look torn, so such a record is sealed again under another nonce.
            if writer.bytes.last != 0 { return writer.bytes }
        }
    }

    /// Opens the record at `offset`. Returns nil if no authentic record begins there.
    func open(_ bytes: [UInt8], at offset: Int) -> Found? {
        bytes.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            guard let frame = AccessFrame(rest, vaultID: vaultID), frame.recordSize <= rest.count else { return nil }
            let nonce = Nonce(
                UnsafeRawBufferPointer(rebasing: rest[AccessFrame.headSize - Nonce.size..<AccessFrame.headSize]))
            let box = UnsafeRawBufferPointer(rebasing: rest[AccessFrame.headSize..<frame.recordSize])
            guard let plaintext = keys.open(box, nonce: nonce), let record = try? AccessRecord(parsing: plaintext)
            else { return nil }
            return Found(record: record, authenticator: Authenticator(box), range: offset..<offset + frame.recordSize)
        }
    }

    /// Returns the first authentic record at or after `offset`.
    func first(in bytes: [UInt8], from offset: Int) -> Found? {
        let first = (offset + AccessFrame.alignment - 1) / AccessFrame.alignment * AccessFrame.alignment
        return stride(from: first, to: bytes.count, by: AccessFrame.alignment).lazy
            .compactMap { open(bytes, at: $0) }.first
    }

    func last(in bytes: [UInt8]) -> Found? {
        let last = bytes.count / AccessFrame.alignment * AccessFrame.alignment
        return stride(from: last, through: 0, by: -AccessFrame.alignment).lazy.compactMap { open(bytes, at: $0) }.first
    }

    /// Classifies the bytes after the last authentic record. An interrupted write leaves the first bytes of a record,
    /// followed by zeros or by the end of the file.
    func tail(of bytes: [UInt8], from offset: Int) -> Tail {
        bytes.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            if rest.isZero { return .none }
            guard rest.count <= AccessFrame.largestSize else { return .damaged }
            guard let frame = AccessFrame(rest, vaultID: vaultID), frame.recordSize <= rest.count else { return .torn }
            return rest[frame.recordSize - 1] == 0 ? .torn : .damaged
        }
    }
}
