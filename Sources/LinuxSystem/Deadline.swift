/// A point in time at which waiting ends, by a clock that stops while the machine is suspended.
package struct Deadline: Comparable, Sendable {
    private let instant: SuspendingClock.Instant

    /// Longer waits than a century end after one: a sum of instants must not overflow.
    private static let longest: Duration = .seconds(100 * 365 * 24 * 3_600)

    package static var now: Deadline { Deadline(instant: .now) }

    private init(instant: SuspendingClock.Instant) { self.instant = instant }

    package init(after timeout: Duration) { self = .now + timeout }

    /// Adds a duration. A negative one counts as zero.
    package static func + (start: Deadline, duration: Duration) -> Deadline {
        Deadline(instant: start.instant + min(max(duration, .zero), longest))
    }

    package static func < (one: Deadline, other: Deadline) -> Bool { one.instant < other.instant }

    package var hasPassed: Bool { self <= .now }

    /// The milliseconds until the deadline; a negative number after it.
    package var millisecondsLeft: Int64 { Int64(SuspendingClock.now.duration(to: instant) / .milliseconds(1)) }
}
