/// Changes of coalescing preferences that are yet to be written.
struct PendingChanges: Sendable {
    private(set) var changes: [String: StoredValue?] = [:]
    /// Whether someone is on the way who will write them.
    private var isScheduled = false
    private var lastWrite: ContinuousClock.Instant?
    /// What clocks can add: a year.
    private static let longestInterval: Duration = .seconds(365 * 86_400)

    /// Adds changes.
    ///
    /// - Returns: when to write them, if nobody is on the way to do that.
    mutating func add(
        _ new: [String: StoredValue?], writingEvery interval: Duration
    ) -> ContinuousClock.Instant? {
        for (key, value) in new { changes.updateValue(value, forKey: key) }
        guard !isScheduled else { return nil }
        isScheduled = true
        return nextWrite(interval)
    }

    /// Called when the time has come that ``add(_:writingEvery:)`` named.
    ///
    /// - Returns: a later time, if there was another write meanwhile.
    mutating func postponed(writingEvery interval: Duration) -> ContinuousClock.Instant? {
        let next = nextWrite(interval)
        guard next <= .now else { return next }
        isScheduled = false
        // From the beginning of a write, and of one that fails too: there may be as many changes while it goes on as after it.
        lastWrite = .now
        return nil
    }

    /// Drops what was written, unless it has changed since.
    mutating func wrote(_ written: [String: StoredValue?]) {
        lastWrite = .now
        for (key, value) in written where changes[key] == .some(value) { changes.removeValue(forKey: key) }
    }

    private func nextWrite(_ interval: Duration) -> ContinuousClock.Instant {
        lastWrite.map { $0 + min(interval, PendingChanges.longestInterval) } ?? .now
    }
}
