/// A point in time after which waiting ends, by a clock that stands still while the machine is suspended.
///
/// The standard library's instants have a layout that is known only when a program runs, and so would each type that
/// holds one: it would be laid out at each start.
package struct Deadline: Comparable, Sendable {
    /// Since the machine started.
    private let nanoseconds: Int64

    package static var now: Deadline { Deadline(nanoseconds: Clock.monotonic) }

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package init(after timeout: Duration) { self = .now + timeout }

    /// A negative duration counts as none.
    package static func + (start: Deadline, duration: Duration) -> Deadline {
        let added = Int64(clamping: max(0, duration.attoseconds / 1_000_000_000))
        let (sum, isTooLarge) = start.nanoseconds.addingReportingOverflow(added)
        return Deadline(nanoseconds: isTooLarge ? .max : sum)
    }

    package static func < (one: Deadline, other: Deadline) -> Bool { one.nanoseconds < other.nanoseconds }

    package var hasPassed: Bool { self <= .now }

    /// How long it is until then; negative afterwards.
    package var millisecondsLeft: Int64 { (nanoseconds - Clock.monotonic) / 1_000_000 }
}
