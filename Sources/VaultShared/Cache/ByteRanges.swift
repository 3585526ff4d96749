/// Ranges of bytes that are there, of a file or a vault. RangeSet would do, but its generic code takes a twentieth of
/// the time of `vault get`.
struct ByteRanges {
    /// None touches another.
    private(set) var sorted: [Range<UInt64>] = []

    func contains(_ range: Range<UInt64>) -> Bool {
        sorted.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    /// Returns the parts of a range that are not there. Nothing from `end` on counts as there.
    func gaps(in range: Range<UInt64>, upTo end: UInt64) -> [Range<UInt64>] {
        var (gaps, start) = ([Range<UInt64>](), range.lowerBound)
        let last = min(range.upperBound, end)
        for known in sorted where known.upperBound > start && known.lowerBound < last {
            if known.lowerBound > start { gaps.append(start..<known.lowerBound) }
            start = max(start, min(known.upperBound, last))
        }
        if start < range.upperBound { gaps.append(start..<range.upperBound) }
        return gaps
    }

    mutating func remove(_ range: Range<UInt64>) {
        sorted = sorted.flatMap { known in
            [
                known.lowerBound..<max(known.lowerBound, min(known.upperBound, range.lowerBound)),
                min(known.upperBound, max(known.lowerBound, range.upperBound))..<known.upperBound,
            ].filter { !$0.isEmpty }
        }
    }

    mutating func insert(_ range: Range<UInt64>) {
        guard !range.isEmpty else { return }
        let first = sorted.firstIndex { $0.upperBound >= range.lowerBound } ?? sorted.endIndex
        let end = sorted[first...].firstIndex { $0.lowerBound > range.upperBound } ?? sorted.endIndex
        let joined = sorted[first..<end].reduce(range) { joined, other in
            min(joined.lowerBound, other.lowerBound)..<max(joined.upperBound, other.upperBound)
        }
        sorted.replaceSubrange(first..<end, with: [joined])
    }
}
