import LinuxSystem

/// Rounds in which several threads do something at the same moment, until they have really met often enough.
///
/// A store that is wrong only for two calls at once looks right for as long as the calls come one after the other. On a
/// busy machine they do, even if the threads start together. So the rounds count in which calls have overlapped.
struct Race {
    /// A check and a change that lock one after the other fail in one of 25 such rounds, at 100 ns apart. For a store
    /// with some hundred commits a second they take seconds.
    #if SANITIZER
        // A sanitizer sees what it looks for in any round, and makes each several times as long.
        private static let (enough, limit) = (50, 1_000)
    #else
        private static let enough = 500
        /// Calls overlap rarely on a machine with one core.
        private static let limit = 10_000
    #endif

    private(set) var rounds = 0
    private var overlaps = 0

    var goesOn: Bool { overlaps < Race.enough && rounds < Race.limit }

    /// Runs one round: `body`, on that many threads.
    ///
    /// - Throws: the first error that one of them threw.
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
