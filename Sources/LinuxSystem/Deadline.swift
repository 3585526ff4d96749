/// A point in time at which waiting ends, by a clock that stops while the machine is suspended.
///
/// The layout of the standard library's instants is known only at run time. So would be that of each type that contains
/// one, and it would be computed at each start.
package struct Deadline: Comparable, Sendable {
    /// The nanoseconds since the machine started.
    private let nanoseconds: Int64

    package static var now: Deadline { Deadline(nanoseconds: Clock.monotonic) }

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package init(after timeout: Duration) { self = .now + timeout }

    /// Adds a duration. A negative one counts as zero.
    package static func + (start: Deadline, duration: Duration) -> Deadline {
        let added = Int64(clamping: max(0, duration.attoseconds / 1_000_000_000))
        let (sum, isTooLarge) = start.nanoseconds.addingReportingOverflow(added)
        return Deadline(nanoseconds: isTooLarge ? .max : sum)
    }

    package static func < (one: Deadline, other: Deadline) -> Bool { one.nanoseconds < other.nanoseconds }

    package var hasPassed: Bool { self <= .now }

    /// The milliseconds until the deadline; a negative number after it.
    package var millisecondsLeft: Int64 { (nanoseconds - Clock.monotonic) / 1_000_000 }
}
