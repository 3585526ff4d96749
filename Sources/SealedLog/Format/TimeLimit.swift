/// Separates possible times of states from impossible ones. A wrong clock may have set an impossible time, or an
/// attacker whose state should win every merge; Format.md, "Times of states".
struct TimeLimit: Hashable, Sendable {
    /// The largest difference between two clocks in milliseconds, one day.
    static let tolerance: UInt64 = 86_400_000

    private let latest: UInt64

    /// - Parameter now: the present time of a trusted clock.
    init(at now: UInt64) { latest = now + min(TimeLimit.tolerance, .max - now) }

    /// Returns whether a clock that is at most a day ahead can have set the time.
    func isPossible(_ time: UInt64) -> Bool { time <= latest }

    /// Returns whether one time counts as later than another. Impossible times are before all others.
    func isLater(_ time: UInt64, than other: UInt64) -> Bool {
        isPossible(time) == isPossible(other) ? time > other : isPossible(time)
    }

    func latest(_ time: UInt64?, _ other: UInt64?) -> UInt64? {
        guard let time, let other else { return time ?? other }
        return isLater(time, than: other) ? time : other
    }

    /// - Parameters:
    ///   - former: the time of the other state.
    ///   - now: the present time of this machine's clock.
    ///   - began: returns when the vault was created. It is called only if the result depends on it.
    static func following<Failure: Error>(
        _ former: UInt64, at now: UInt64, vaultFrom began: () throws(Failure) -> UInt64
    ) throws(Failure) -> UInt64 {
        // Clocks differ and are set back, but a later state must have a later time, also in a merge. Only the largest
        // number has no successor.
        let later = max(now, former + (former < .max ? 1 : 0))
        // An impossible time is replaced by the present one, unless the clock, before the vault's creation, is wrong
        // itself.
        if TimeLimit(at: now).isPossible(former) { return later }
        return try now < began() ? later : now
    }
}
