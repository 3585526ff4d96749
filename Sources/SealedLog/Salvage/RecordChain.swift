/// The records of one history, in its order, with the breaks where some are missing.
struct RecordChain {
    private(set) var records: [Record] = []
    /// Indices of records that do not follow the one before.
    private(set) var breaks: [Int] = []

    /// - Parameters:
    ///   - found: authentic records, in any order; those of before `origin` are left out.
    ///   - origin: what the first record follows.
    init(_ found: [Record], after origin: LogPosition) {
        var last = origin
        var rest = found.sorted { ($0.index.sequence, $0.offset) < ($1.index.sequence, $1.offset) }[...]
        while let next = rest.first {
            let same = rest.prefix { $0.index.sequence == next.index.sequence }
            rest = rest.dropFirst(same.count)
            guard next.index.sequence > origin.sequence else { continue }
            let record = same.first { $0.previous == last } ?? next
            if record.previous != last { breaks.append(records.count) }
            records.append(record)
            last = record.position
        }
    }

    var last: Record? { records.last }

    func holds(_ sequence: UInt64) -> Bool {
        records.contains { $0.index.sequence == sequence }
    }

    /// What is missing before a record.
    func words(forBreakAt index: Int, after origin: LogPosition) -> String {
        let first = (index > 0 ? records[index - 1].index.sequence : origin.sequence) + 1
        let next = records[index]
        let last = next.index.sequence - 1
        guard first <= last else {
            return "change \(next.index.sequence) at byte \(next.offset), which does not follow the one before"
        }
        let changes = first == last ? "change \(first)" : "changes \(first) to \(last)"
        return "\(changes), before byte \(next.offset)"
    }
}
