public import FoundationEssentials

/// The number of attempts to reach a server, and the pauses between them.
public struct AccountRetryPolicy: Hashable, Sendable {
    /// The maximum number of attempts, at least one.
    public var attempts: Int
    /// The first pause. Each later pause is double the previous one. A pause is randomly shortened by up to half,
    /// unless the server demands a pause.
    public var firstPause: Duration
    /// The maximum pause. If a server demands a longer pause, the call fails immediately.
    public var longestPause: Duration

    /// Creates a policy. By default, it allows three attempts. The two pauses between them last at most half a second
    /// and one second, unless the server demands longer ones.
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
