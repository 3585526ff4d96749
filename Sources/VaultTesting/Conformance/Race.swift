import LinuxSystem

/// Rounds in which several threads make a call at the same time, until enough of the calls have overlapped.
///
/// A store that fails only for simultaneous calls seems correct as long as they come one after the other. On a busy
/// machine they do, even if the threads start together. So only the rounds with overlapping calls count.
struct Race {
    /// A check and a change that take the lock separately, 100 ns apart, fail in one of 25 such rounds. A store with
    /// some hundred commits per second needs seconds for these rounds.
    #if SANITIZER
        // A sanitizer detects an error in any round, and makes each several times as long.
        private static let enough = 50
        private static let limit = 1_000
    #else
        private static let enough = 500
        /// Calls overlap rarely on a machine with one core.
        private static let limit = 10_000
    #endif

    private(set) var rounds = 0
    private var overlaps = 0

    var continues: Bool { overlaps < Race.enough && rounds < Race.limit }

    /// Runs `body` on several threads, as one round. Throws the first error of a thread.
    mutating func run(_ runners: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
        let calls = try await onBlockingThread { () throws(any Error) in
            let calls = Mutex<[Range<ContinuousClock.Instant>]>([])
            try onThreads(runners) { runner in
                let start = ContinuousClock.now
                defer { calls.withLock { $0.append(start..<ContinuousClock.now) } }
                try body(runner)
            }
            return calls.withLock { $0.sorted { $0.lowerBound < $1.lowerBound } }
        }
        rounds += 1
        if zip(calls, calls.dropFirst()).contains(where: { $0.upperBound > $1.lowerBound }) { overlaps += 1 }
    }
}
