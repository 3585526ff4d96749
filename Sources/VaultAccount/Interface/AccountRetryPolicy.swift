public import FoundationEssentials

/// The number of attempts to reach a server, and the pauses between them.
public struct AccountRetryPolicy: Hashable, Sendable {
    /// The maximum number of attempts, at least one.
    public var attempts: Int
    /// The first pause, which doubles each time. Pauses that no server demands are randomly shortened by up to half.
    public var firstPause: Duration
    /// The maximum pause. If a server demands a longer pause, the call fails immediately.
    public var longestPause: Duration

    /// Creates a policy: by default three attempts, with pauses up to 0.5 s and 1 s unless servers demand longer ones.
    public init(attempts: Int = 3, firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(30)) {
        self.attempts = max(1, attempts)
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// A single attempt.
    public static let once = AccountRetryPolicy(attempts: 1)
}

/// The source of time for an ``AccountManager``.
public struct AccountClock: Sendable {
    let now: @Sendable () -> Date
    let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a clock, usually for a test.
    ///
    /// - Parameters:
    ///   - now: returns the current time.
    ///   - sleep: waits; throws if the task is cancelled.
    public init(now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.now = now
        self.sleep = sleep
    }

    /// The machine's clock.
    public static let system = AccountClock(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}
