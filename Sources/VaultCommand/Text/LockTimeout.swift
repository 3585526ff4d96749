/// The value of `--timeout`.
enum LockTimeout {
    static func parse(_ text: String) throws(UsageError) -> Duration {
        // Not a number fails both comparisons.
        guard let seconds = Double(text), seconds >= 0, seconds <= 1_000_000 else { throw .badTimeout }
        return .seconds(seconds)
    }
}
