/// Tells the times of states that can be from those that a wrong clock has set, or somebody who wanted to be the last
/// for ever: Format.md, "Times of states".
struct TimeLimit: Hashable, Sendable {
    /// How far clocks may be apart.
    static let tolerance: UInt64 = 86_400_000

    private let latest: UInt64

    /// - Parameter now: by the clock that is believed.
    init(at now: UInt64) { latest = now + min(TimeLimit.tolerance, .max - now) }

    /// Whether clocks that differ by a day at most can have set a time.
    func isPossible(_ time: UInt64) -> Bool { time <= latest }

    /// Whether one time counts as later than another: impossible ones are before all others.
    func isLater(_ time: UInt64, than other: UInt64) -> Bool {
        isPossible(time) == isPossible(other) ? time > other : isPossible(time)
    }

    /// Returns the later one of two times.
    func latest(_ time: UInt64?, _ other: UInt64?) -> UInt64? {
        guard let time, let other else { return time ?? other }
        return isLater(time, than: other) ? time : other
    }

    /// Returns the time of a state that follows another one.
    ///
    /// - Parameters:
    ///   - former: that of the other one.
    ///   - now: by this machine's clock.
    ///   - began: when the vault was created; asked for only if it decides.
    static func following<Failure: Error>(
        _ former: UInt64, at now: UInt64, vaultFrom began: () throws(Failure) -> UInt64
    ) throws(Failure) -> UInt64 {
        // Clocks differ, and go back: what follows is later all the same, also in the eyes of a merge. After the
        // largest number there is no later one.
        let later = max(now, former + (former < .max ? 1 : 0))
        // A time that a wrong clock has set ends with it. But a clock from before the vault is wrong itself.
        if TimeLimit(at: now).isPossible(former) { return later }
        return try now < began() ? later : now
    }
}
