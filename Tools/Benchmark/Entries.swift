/// The entries that are measured: names of 20 bytes and values of 40.
enum Entries {
    static let value = [UInt8](repeating: UInt8(ascii: "v"), count: 40)

    static let prefix = "entry-"

    /// `entry-` and 14 digits, as Tools/Benchmark/c/run.c writes them too.
    static func name(_ index: Int) -> String {
        let digits = String(index)
        return prefix + String(repeating: "0", count: max(0, 14 - digits.count)) + digits
    }

    /// A number below `bound` that jumps about over all of them as `step` goes on.
    static func scattered(_ step: Int, below bound: Int) -> Int {
        // Knuth's multiplier; it ends in 1, so it shares no divisor with a power of ten.
        step &* 2_654_435_761 % bound
    }
}
