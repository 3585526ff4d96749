/// How often an unreachable server is asked again, and at what distances.
public struct RetryPolicy: Hashable, Sendable {
    /// How often it is asked in all; at least once.
    public var attempts: Int
    /// The first pause; each next one is twice as long.
    public var firstPause: Duration
    /// No pause is longer, whatever the server asks for.
    public var longestPause: Duration

    /// Three attempts, with half a second and a second between them.
    public init(attempts: Int = 3, firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(30)) {
        self.attempts = max(1, attempts)
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// Asks once.
    public static let once = RetryPolicy(attempts: 1)

    /// Asks until there is an answer or the attempts are used up. Half of each pause is random, so that the clients of a server that
    /// comes back do not all come at once.
    ///
    /// - Throws: ``ServiceError``: a rejection at once; `unreachable` after the last attempt, or when the task is cancelled.
    func run<Result: Sendable>(
        _ sleep: @Sendable (Duration) async throws -> Void, _ ask: () async throws(ServiceError) -> Result
    ) async throws(ServiceError) -> Result {
        var pause = firstPause
        for attempt in 1... {
            do { return try await ask() } catch {
                guard error.kind == .unreachable, attempt < attempts else { throw error }
                let wanted = error.retryAfter.map { max($0, pause) } ?? pause * Double.random(in: 0.5...1)
                do { try await sleep(min(wanted, longestPause)) } catch {
                    throw .unreachable("The task was cancelled.")
                }
                pause = min(pause * 2, longestPause)
            }
        }
        throw .unreachable("The server was not asked.")
    }
}
