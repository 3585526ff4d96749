/// Ranges of bytes that are there, of a file or a vault. RangeSet would do, but its generic code takes a twentieth of
/// the time of `vault get`.
struct ByteRanges {
    /// None touches another.
    private(set) var sorted: [Range<UInt64>] = []

    func contains(_ range: Range<UInt64>) -> Bool {
        sorted.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
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
