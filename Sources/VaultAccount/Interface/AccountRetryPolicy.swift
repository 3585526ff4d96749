public import FoundationEssentials

/// Sets how often an unreachable server is asked again, and with which pauses.
public struct AccountRetryPolicy: Hashable, Sendable {
    /// Limits the attempts; there is at least one.
    public var attempts: Int
    /// Sets the first pause; each later one is twice as long.
    public var firstPause: Duration
    /// Limits each pause. A server that asks for a longer one is not asked again: the call fails at once.
    public var longestPause: Duration

    /// Creates a policy: without arguments three attempts, half a second and a second apart.
    public init(attempts: Int = 3, firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(30)) {
        self.attempts = max(1, attempts)
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// Asks once.
    public static let once = AccountRetryPolicy(attempts: 1)
}

/// Tells the time to an ``AccountManager``, and lets it wait.
public struct AccountClock: Sendable {
    let now: @Sendable () -> Date
    let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a clock, usually for a test.
    ///
    /// - Parameters:
    ///   - now: returns the time.
    ///   - sleep: waits; throws when the task is cancelled.
    public init(now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// The clock of the machine.
    public static let system = AccountClock(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}
