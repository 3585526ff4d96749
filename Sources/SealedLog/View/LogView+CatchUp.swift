import Sealing

extension LogView {
    /// How following the log came to an end.
    enum Ending: Sendable {
        /// Nothing lies at the end.
        case clean
        /// Something that fails, or has yet to be written to its end, lies there.
        case doubtful(StaticString)
        /// Something lies there that no writer leaves.
        case foreign(StaticString)
    }

    /// Whether nothing was appended since: one read of a few bytes.
    func isCurrent() throws(LogError) -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { (buffer) throws(LogError) in
            guard try store.read(into: buffer, at: end) == buffer.count else { return true }
            return buffer.load(as: UInt64.self) | buffer.load(fromByteOffset: 8, as: UInt64.self) == 0
        }
    }

    /// Whether what a record's head would be is zeros, or as much of it as there is.
    private func isAtEnd() throws(LogError) -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: Frame.headSize, alignment: 8) { (head) throws(LogError) in
            let count = try store.read(into: head, at: end)
            return head[..<count].allSatisfy { $0 == 0 }
        }
    }

    /// Whether the newest record is still there. It is not if its writer took it back after a failed flush, or if
    /// another file was copied over this one.
    func headIsThere() throws(LogError) -> Bool {
        let tag = try store.available(at: headPlace, upTo: Authenticator.size)
        return tag.count == Authenticator.size && tag.withUnsafeBytes { Authenticator($0) } == head.authenticator
    }

    /// Follows the log to its end.
    ///
    /// A record counts once the next one stands behind it, since that was written only after the first was durable; the
    /// last one's payload is checked instead.
    ///
    /// - Parameter durable: a moment known to be durable; a large payload of that record need not be checked.
    mutating func catchUp(durable: LogPosition? = nil) throws(LogError) -> Ending {
        // As a rule nothing was appended, which costs one short read to see instead of a reader and its window.
        if try isAtEnd() { return .clean }
        var reader = RecordReader(store: store, keys: keys, vaultID: header.vaultID)
        return try catchUp(&reader, durable: durable)
    }

    mutating func catchUp(_ reader: inout RecordReader, durable: LogPosition?) throws(LogError) -> Ending {
        var last: Record?
        while true {
            switch try reader.record(at: last?.end ?? end, after: last?.position ?? head) {
            case .record(let next):
                try check(next)
                if let last { apply(last) }
                last = next
            case .nothing:
                return try settle(last, durable: durable, reader) ? .clean : .doubtful("a payload does not hold")
            case .failing(let reason):
                let isWhole = try settle(last, durable: durable, reader)
                return .doubtful(isWhole ? reason : "a payload does not hold")
            case .foreign(let reason):
                let isWhole = try settle(last, durable: durable, reader)
                return .foreign(isWhole ? reason : "a payload does not hold")
            }
        }
    }

    /// Applies the last record if it is whole.
    private mutating func settle(
        _ last: Record?, durable: LogPosition?, _ reader: borrowing RecordReader
    ) throws(LogError) -> Bool {
        guard let last else { return true }
        if !isKnown(last, durable) {
            guard try reader.payloadHolds(last) else { return false }
        }
        apply(last)
        return true
    }

    /// Whether a payload need not be read: that of a record that is known to be durable, if it is large.
    private func isKnown(_ record: Record, _ durable: LogPosition?) -> Bool {
        record.position == durable && record.frame.payloadLength > 1 << 20
    }

    /// What an authentic record may still not say.
    private func check(_ record: Record) throws(LogError) {
        if let tree = record.index.tree, tree.header != origin.authenticator {
            throw LogError.damaged("a minor checkpoint of another checkpoint", at: record.offset)
        }
    }

    /// Starts at the record that the hint names, if it is a minor checkpoint of this header.
    ///
    /// - Parameter durable: as for ``catchUp(durable:)``.
    mutating func follow(_ hint: Hint?, _ reader: inout RecordReader, durable: LogPosition?) throws(LogError) {
        guard let hint, hint.offset >= end, hint.offset.isMultiple(of: 16), hint.offset < 1 << 62 else { return }
        guard case .record(let record) = try reader.record(at: hint.offset, after: nil),
            record.index.sequence == hint.sequence, record.index.sequence > origin.sequence,
            let tree = record.index.tree, tree.header == origin.authenticator
        else { return }
        if !isKnown(record, durable) {
            guard try isFollowed(record, &reader) else { return }
        }
        head = LogPosition(sequence: record.index.sequence - 1, authenticator: record.index.previous)
        passed = [head]
        apply(record)
    }

    /// Whether a record is surely whole: another one follows it, or its payload holds.
    private func isFollowed(_ record: Record, _ reader: inout RecordReader) throws(LogError) -> Bool {
        if case .record = try reader.record(at: record.end, after: record.position) { return true }
        return try reader.payloadHolds(record)
    }
}
