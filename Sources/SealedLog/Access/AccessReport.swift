package struct AccessReport: Sendable {
    /// All authentic records, oldest first.
    package private(set) var records: [AccessRecord] = []
    /// The positions of bytes that are not authentic, and of records that do not continue the record before them.
    package private(set) var damage: [Damage] = []
    private var last: AccessRecords.Found?

    package struct Damage: Hashable, Sendable {
        package let path: String
        /// The offset of the damage in its file, in bytes.
        package let offset: Int
    }

    /// The number of older records that are lost because newer files of the access log have replaced theirs.
    package var dropped: UInt64 { (records.first?.number ?? 1) &- 1 }

    mutating func add(_ bytes: [UInt8], of path: String, _ finder: AccessRecords) {
        var offset = 0
        while offset < bytes.count {
            if let found = finder.open(bytes, at: offset) {
                if !follows(found) { damage.append(Damage(path: path, offset: offset)) }
                records.append(found.record)
                last = found
                offset = found.range.upperBound
            } else if let next = finder.first(in: bytes, from: offset + 1) {
                damage.append(Damage(path: path, offset: offset))
                // The record before `next` is lost, so `next` cannot be checked against it.
                last = nil
                offset = next.range.lowerBound
            } else {
                if finder.tail(of: bytes, from: offset) == .damaged {
                    damage.append(Damage(path: path, offset: offset))
                }
                return
            }
        }
    }

    private func follows(_ found: AccessRecords.Found) -> Bool {
        guard let last else { return true }
        return found.record.number == last.record.number &+ 1 && found.record.previous == last.authenticator
    }
}
