import LinuxSystem

/// The progress of a long operation. Pass this object to the operation, and read it from another thread.
package final class UpkeepProgress: Sendable {
    private let doneBytes = Atomic<UInt64>(0)
    private let totalBytes = Atomic<UInt64>(0)

    package init() {}

    /// The completed fraction, from 0 to 1.
    package var fraction: Double {
        let total = totalBytes.load(ordering: .relaxed)
        return total == 0 ? 0 : min(1, Double(doneBytes.load(ordering: .relaxed)) / Double(total))
    }

    package func begin(_ total: UInt64) { totalBytes.store(total, ordering: .relaxed) }
    package func advance(by bytes: UInt64) { doneBytes.add(bytes, ordering: .relaxed) }

    /// Sets the fraction to 1 when the operation is done, because the total was only an estimate.
    package func finish() {
        begin(1)
        doneBytes.store(1, ordering: .relaxed)
    }
}

extension LogView {
    /// Reads and authenticates all records with their payloads, and passes them to `body`.
    func forEachRecord(_ counter: UpkeepProgress?, _ body: (Record) throws(LogError) -> Void) throws(LogError) {
        var reader = reader
        var position = origin
        var offset = header.checkpointEnd
        while offset < end {
            let record = try store.rereading { () throws(LogError) in
                guard case .record(let record) = try reader.record(at: offset, after: position) else {
                    // The reader's buffer still contains the damaged bytes, so the next attempt uses a new reader.
                    reader = self.reader
                    throw LogError.damaged("a record", at: offset)
                }
                guard try reader.payloadHolds(record) else { throw LogError.damaged("a payload", at: offset) }
                return record
            }
            try body(record)
            position = record.position
            offset = record.end
            counter?.advance(by: record.frame.recordLength)
        }
    }
}
