/// The entries that are measured: names of 20 bytes and values of 40.
enum Entries {
    static let value = [UInt8](repeating: UInt8(ascii: "v"), count: 40)

    static let prefix = "entry-"
    private static let digitCount = 14

    /// `entry-` and 14 digits, as Tools/Benchmark/c/run.c writes them too. It costs about what printf does: it is
    /// called within what is measured.
    static func name(_ index: Int) -> String {
        let size = prefix.utf8.count + digitCount
        return String(unsafeUninitializedCapacity: size) { name in
            _ = name.update(fromContentsOf: prefix.utf8)
            var rest = index
            for position in (prefix.utf8.count..<size).reversed() {
                name[position] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            return size
        }
    }

    /// A number below `bound` that jumps about over all of them as `step` goes on.
    static func scattered(_ step: Int, below bound: Int) -> Int {
        // Knuth's multiplier; it ends in 1, so it shares no divisor with a power of ten.
        step &* 2_654_435_761 % bound
    }
}
