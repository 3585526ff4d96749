import FoundationEssentials
import Synchronization

/// Wakes a manager when a login becomes too old: no store changes then.
final class ExpiryTimer: Sendable {
    private struct State {
        var version = 0
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Date
    private let sleep: @Sendable (Duration) async throws -> Void

    init(now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.now = now
        self.sleep = sleep
    }

    deinit {
        state.withLock { $0.task }?.cancel()
    }

    /// Wakes at this time, in place of the former one.
    ///
    /// - Parameter version: of what ends. If a later version was set already, nothing changes.
    func set(_ end: Date?, version: Int, _ wake: @escaping @Sendable () -> Void) {
        let task = end.map { end in
            Task.detached { [now, sleep] in
                await ExpiryTimer.wait(until: end, now, sleep)
                if !Task.isCancelled { wake() }
            }
        }
        let obsolete = state.withLock { state in
            guard version > state.version else { return task }
            let former = state.task
            state = State(version: version, task: task)
            return former
        }
        obsolete?.cancel()
    }

    /// Sleeps for an hour at most: the clock may be set meanwhile, and the end may be later than a sleep can last.
    private static func wait(until end: Date, _ now: () -> Date, _ sleep: (Duration) async throws -> Void) async {
        while !Task.isCancelled {
            let before = now()
            let remaining = end.timeIntervalSince(before)
            guard remaining > 0 else { return }
            try? await sleep(.seconds(min(remaining, 3_600)))
            // A clock that stands still, or was set back, must not turn this into a busy loop.
            if now() <= before { try? await Task.sleep(for: .seconds(1)) }
        }
    }
}
