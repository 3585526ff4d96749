/// The data keys that a vault has had, by their fingerprints. None comes back once another has followed it.
final class DataKeys {
    private struct Known {
        /// A read that shows it began then, and was over then.
        let start: Int
        let end: Int
    }

    /// By their first reads.
    private var known: [String: Known] = [:]
    /// Those that a rotation has replaced, and when that was acknowledged.
    private var replaced: [String: Int] = [:]

    func replace(_ fingerprint: String, at time: Int) {
        replaced[fingerprint] = min(replaced[fingerprint] ?? time, time)
    }

    /// Takes what was read at one moment, and returns what is wrong with it.
    func read(_ fingerprint: String, since start: Int, until end: Int) -> String? {
        if let time = replaced[fingerprint], time < start {
            return "the data key \(fingerprint) counts again, which a rotation has replaced"
        }
        guard let first = known[fingerprint] else {
            known[fingerprint] = Known(start: start, end: end)
            return nil
        }
        let hasFollower = known.contains { $0.key != fingerprint && first.end < $0.value.start && $0.value.end < start }
        return hasFollower ? "the data key \(fingerprint) counts again, after another one" : nil
    }
}
