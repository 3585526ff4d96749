import LinuxSystem

/// Rounds in which several threads make a call at the same time.
///
/// Only rounds with overlapping calls count towards the required number. On a busy machine, calls may run one after the
/// other even if their threads start together. A store that fails only under simultaneous calls then appears correct.
struct Race {
    /// The required number of rounds with overlapping calls. A store that releases its lock for 100 ns between checking
    /// and changing a value fails in one such round out of 25. At a few hundred commits per second, they take seconds.
    #if SANITIZER
        // A sanitizer slows the rounds down, but it detects an error in any round, so fewer rounds suffice.
        private static let enough = 50
        private static let limit = 1_000
    #else
        private static let enough = 500
        /// The maximum number of rounds. A limit is needed because calls rarely overlap on a single core.
        private static let limit = 10_000
    #endif

    private(set) var rounds = 0
    private var overlaps = 0

    var continues: Bool { overlaps < Race.enough && rounds < Race.limit }

    /// Runs one round, with `body` on several threads. Throws the first error that a thread throws.
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
