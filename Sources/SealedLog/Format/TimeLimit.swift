/// The limit between possible and impossible times of states; Format.md, "Times of states". An impossible time was set
/// by a wrong clock, or by an attacker who wants a state to win every merge.
struct TimeLimit: Hashable, Sendable {
    /// The maximum difference between two clocks in milliseconds: one day.
    static let tolerance: UInt64 = 86_400_000

    private let latest: UInt64

    /// Creates the limit for the current time `now` of a trusted clock.
    init(at now: UInt64) { latest = now + min(TimeLimit.tolerance, .max - now) }

    /// Returns whether a clock that is at most a day fast could have set the time.
    func isPossible(_ time: UInt64) -> Bool { time <= latest }

    /// Returns whether one time counts as later than another. All impossible times are earlier than all possible ones.
    func isLater(_ time: UInt64, than other: UInt64) -> Bool {
        isPossible(time) == isPossible(other) ? time > other : isPossible(time)
    }

    func latest(_ time: UInt64?, _ other: UInt64?) -> UInt64? {
        guard let time, let other else { return time ?? other }
        return isLater(time, than: other) ? time : other
    }

    /// Returns the time of a new state that follows another one.
    /// - Parameters:
    ///   - former: the time of the other state.
    ///   - now: the current time of this machine's clock.
    ///   - began: returns the time of the vault's creation. It is called only if the result depends on that time.
    static func following<Failure: Error>(
        _ former: UInt64, at now: UInt64, vaultFrom began: () throws(Failure) -> UInt64
    ) throws(Failure) -> UInt64 {
        // Clocks differ and may be set back, but every copy must recognize the later state by its later time. Only the
        // maximum number has no successor.
        let later = max(now, former + (former < .max ? 1 : 0))
        // After an impossible time, the new state gets the current time. But a clock that shows a time before the
        // vault's creation is wrong itself, and the new state then gets the later time.
        if TimeLimit(at: now).isPossible(former) { return later }
        return try now < began() ? later : now
    }
}
