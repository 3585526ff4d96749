import LinuxSystem
import Sealing

extension LogView {
    /// How following the log ended.
    enum Ending: Sendable {
        /// There is nothing at the end.
        case clean
        /// There is something at the end that fails, or that is not yet written to its end.
        case doubtful(StaticString)
        /// There is something at the end that no writer leaves.
        case foreign(StaticString)
    }

    // MARK: From a header to the end

    /// Follows the log to its end and checks that there is nothing behind it.
    ///
    /// - Parameters:
    ///   - hint: where to begin, if it names a minor checkpoint of this header.
    ///   - durable: a position known to be durable; a large payload of that record need not be checked.
    ///   - known: positions that the view has to know: if one is older than the hint, the hint is not followed.
    ///   - isSettled: whether no process can write now, so that whatever fails is an error; otherwise it is reported.
    /// - Returns: whether the log came to a clean end.
    mutating func followToEnd(
        from hint: Hint?, durable: LogPosition?, covering known: [LogPosition] = [], isSettled: Bool
    ) throws(LogError) -> Bool {
        let start = self
        guard try followToEnd(from: hint, durable, isSettled) else { return false }
        for position in known where position.sequence <= head.sequence {
            guard try includes(position) == .unknown else { continue }
            self = start
            return try followToEnd(from: nil, durable, isSettled)
        }
        return true
    }

    private mutating func followToEnd(
        from hint: Hint?, _ durable: LogPosition?, _ isSettled: Bool
    ) throws(LogError) -> Bool {
        let size = try store.size()
        guard size >= end else { throw LogError.damaged("the file is cut within its checkpoint") }
        var reader = reader
        if let hint { try start(at: hint, &reader, durable: durable) }
        let ending = try catchUp(&reader, durable: durable)
        // A writer may have made the file longer meanwhile.
        let tail = max(size, end) - end
        guard tail <= Limits.tailSize else {
            throw LogError.damaged("\(tail >> 20) MiB lie behind the log's end, more than a record takes,", at: end)
        }
        if isSettled {
            try classifyTail(ending, &reader)
            return true
        }
        guard case .clean = ending else { return false }
        let survey = try surveyTail(&reader)
        needsClearing = !survey.isZero
        return !survey.isForeign
    }

    /// Starts at the record that the hint names, if it is a minor checkpoint of this header.
    private mutating func start(
        at hint: Hint, _ reader: inout RecordReader, durable: LogPosition?
    ) throws(LogError) {
        guard hint.offset >= end, hint.offset.isMultiple(of: 16), hint.offset < 1 << 62,
            case .record(let record) = try reader.record(at: hint.offset, after: nil),
            record.index.sequence == hint.sequence, record.index.sequence > origin.sequence,
            let tree = record.index.tree, tree.header == origin.authenticator
        else { return }
        if !record.needsNoCheck(durable) {
            guard try isWhole(record, &reader) else { return }
        }
        head = record.previous
        passed = [head]
        apply(record)
    }

    /// Returns whether a record is surely whole: another one follows it, or its payload matches.
    private func isWhole(_ record: Record, _ reader: inout RecordReader) throws(LogError) -> Bool {
        if case .record = try reader.record(at: record.end, after: record.position) { return true }
        return try reader.payloadHolds(record)
    }

    // MARK: From the end that is known

    /// Follows what was appended; false if something is doubtful.
    mutating func refresh() throws(LogError) -> Bool {
        if try isCurrent() { return true }
        guard case .clean = try catchUp() else { return false }
        return true
    }

    /// Returns whether nothing was appended: one read of a few bytes.
    private func isCurrent() throws(LogError) -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { (buffer) throws(LogError) in
            guard try store.read(into: buffer, at: end) == buffer.count else { return true }
            return buffer.load(as: UInt64.self) | buffer.load(fromByteOffset: 8, as: UInt64.self) == 0
        }
    }

    /// Follows the log to its end.
    mutating func catchUp() throws(LogError) -> Ending {
        // Usually nothing was appended. One short read shows that, and saves a reader with its window.
        let isAtEnd = try withUnsafeTemporaryAllocation(
            byteCount: Frame.headSize, alignment: 8
        ) { (head) throws(LogError) in
            let count = try store.read(into: head, at: end)
            return head[..<count].allSatisfy { $0 == 0 }
        }
        if isAtEnd { return .clean }
        var reader = reader
        return try catchUp(&reader, durable: nil)
    }

    /// Applies each record once the next one follows: that one was written only after the first was durable. The last
    /// one's payload is checked instead.
    private mutating func catchUp(_ reader: inout RecordReader, durable: LogPosition?) throws(LogError) -> Ending {
        var last: Record?
        while true {
            let finding = try reader.record(at: last?.end ?? end, after: last?.position ?? head)
            if case .record(let next) = finding {
                if let tree = next.index.tree, tree.header != origin.authenticator {
                    throw LogError.damaged("a minor checkpoint of another checkpoint", at: next.offset)
                }
                if let last { apply(last) }
                last = next
                continue
            }
            var isWhole = true
            if let last {
                isWhole = try last.needsNoCheck(durable) ? true : reader.payloadHolds(last)
                if isWhole { apply(last) }
            }
            let torn: StaticString = "a payload does not hold"
            switch finding {
            case .failing(let reason): return .doubtful(isWhole ? reason : torn)
            case .foreign(let reason): return .foreign(isWhole ? reason : torn)
            case .nothing, .record: return isWhole ? .clean : .doubtful(torn)
            }
        }
    }

    // MARK: The file at the path

    /// Returns whether the newest record is still there. It is not if its writer took it back after a failed flush, or
    /// if another file was copied over this one.
    func headIsThere() throws(LogError) -> Bool {
        let tag = try store.available(at: headOffset, upTo: Authenticator.size)
        return tag.count == Authenticator.size && tag.withUnsafeBytes { Authenticator($0) } == head.authenticator
    }

    /// Returns whether the newest record is still there, and the path still leads to this file.
    func isInPlace() throws(LogError) -> Bool {
        guard try headIsThere() else { return false }
        return try store.isCurrent()
    }

    /// Returns whether the path was last looked at some time ago. A compaction announces itself; this is for a file
    /// that was put there by other means. The coarse clock costs 5 ns, a look at the path a microsecond.
    mutating func isDueForLookAtPath() -> Bool {
        let now = LogView.coarseNow
        guard now >= lookedAtPath + 50 else { return false }
        lookedAtPath = now
        return true
    }

    static var coarseNow: UInt64 { UInt64(Clock.coarse) / 1_000_000 }
}

extension Record {
    /// The position that the record follows.
    var previous: LogPosition { LogPosition(sequence: index.sequence - 1, authenticator: index.previous) }

    /// Whether the payload need not be read: it is large, and the record is known to be durable.
    fileprivate func needsNoCheck(_ durable: LogPosition?) -> Bool {
        position == durable && frame.payloadLength > 1 << 20
    }
}
