import Sealing

/// A record in the making, and its bytes.
struct RecordPlan: Sendable {
    let record: Record
    let bytes: [UInt8]

    /// Seals a record that will lie at `offset`.
    ///
    /// - Parameter indexSize: the size of the index without its tag, which the places in it were reckoned with.
    init(
        _ index: RecordIndex, payload: [UInt8], at offset: UInt64, indexSize: Int? = nil, keys: KeyRing,
        vaultID: [UInt8]
    ) throws(LogError) {
        var index = index
        var hash = RunningHash()
        payload.withUnsafeBytes { hash.update($0) }
        index.payloadHash = hash.finish()
        var plaintext = index.encoded
        if let indexSize { plaintext.append(contentsOf: repeatElement(0, count: indexSize - plaintext.count)) }
        var nonces = NonceSource(expected: 1)
        let nonce = nonces.next()
        let box = try keys.seal(plaintext, for: .record, nonce: nonce)
        let frame = Frame(indexLength: box.count, payloadLength: UInt64(payload.count))
        var writer = ByteWriter(reserving: Int(frame.recordLength))
        writer.append(try frame.encoded(vaultID: vaultID))
        writer.nonce(nonce)
        writer.append(box)
        writer.append(payload)
        bytes = writer.bytes
        record = Record(
            offset: offset, frame: frame, index: index, authenticator: box.withUnsafeBytes { Authenticator($0) })
    }
}
