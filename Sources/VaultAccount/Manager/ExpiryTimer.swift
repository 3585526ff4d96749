import FoundationEssentials
import Synchronization

/// Wakes a manager when a login becomes too old: no store changes then.
final class ExpiryTimer: Sendable {
    private let state = Mutex((version: 0, task: Task<Void, Never>?.none))

    deinit { state.withLock { $0.task }?.cancel() }

    /// Wakes at this time, in place of the former one.
    ///
    /// - Parameter version: of what ends. If a later version was set already, nothing changes.
    func set(
        _ end: Date?, version: Int, _ now: @escaping @Sendable () -> Date,
        _ sleep: @escaping @Sendable (Duration) async throws -> Void, _ wake: @escaping @Sendable () -> Void
    ) {
        let task = end.map { end in
            Task.detached {
                while !Task.isCancelled {
                    let before = now()
                    guard before < end else { return wake() }
                    // An hour at most: the clock may be set meanwhile, and the end may be later than a sleep can last.
                    try? await sleep(.seconds(min(end.timeIntervalSince(before), 3_600)))
                    // A clock that stands still, or was set back, must not turn this into a busy loop.
                    if now() <= before { try? await Task.sleep(for: .seconds(1)) }
                }
            }
        }
        let obsolete = state.withLock { state in
            guard version > state.version else { return task }
            defer { state = (version, task) }
            return state.task
        }
        obsolete?.cancel()
    }
}
