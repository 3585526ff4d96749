private import Glibc

/// The system's clocks. Times are in nanoseconds unless stated otherwise.
package enum Clock {
    /// The time since the start of 1970 (UTC).
    package static var realTime: Int64 { now(CLOCK_REALTIME) }
    /// The number of milliseconds since 1970. It does not overflow even if the clock is wrong by centuries.
    package static var milliseconds: UInt64 { time(CLOCK_REALTIME).milliseconds }
    /// The time since the machine started, excluding suspension. It is coarse (a few milliseconds), but cheap to read.
    package static var coarse: Int64 { now(CLOCK_MONOTONIC_COARSE) }

    private static func now(_ clock: clockid_t) -> Int64 { time(clock).nanoseconds }

    private static func time(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }

    package static func sleep(microseconds: UInt32) { usleep(microseconds) }

    /// Sleeps for a number of seconds. Time during which the machine is suspended counts too.
    package static func sleep(secondsWithSuspension seconds: Int) {
        var end = timespec()
        clock_gettime(CLOCK_BOOTTIME, &end)
        end.tv_sec += seconds
        while clock_nanosleep(CLOCK_BOOTTIME, Int32(TIMER_ABSTIME), &end, nil) == EINTR {}
    }
}

extension timespec {
    /// The time in nanoseconds. It wraps around after 2262, which is harmless because these times are only compared.
    var nanoseconds: Int64 { Int64(tv_sec) &* 1_000_000_000 &+ Int64(tv_nsec) }

    /// The time in milliseconds; 0 before 1970, and the maximum value if it overflows.
    fileprivate var milliseconds: UInt64 {
        let (seconds, overflows) = UInt64(max(tv_sec, 0)).multipliedReportingOverflow(by: 1_000)
        let (sum, isBeyond) = seconds.addingReportingOverflow(UInt64(max(tv_nsec, 0)) / 1_000_000)
        return overflows || isBeyond ? .max : tv_sec < 0 ? 0 : sum
    }
}

/// A point in time at which a wait ends. Its clock stops while the machine is suspended.
package struct Deadline: Comparable, Sendable {
    private let instant: SuspendingClock.Instant

    /// The maximum wait, a century. This limit ensures that adding a wait to an instant cannot overflow.
    private static let longest: Duration = .seconds(100 * 365 * 24 * 3_600)

    package static var now: Deadline { Deadline(instant: .now) }

    private init(instant: SuspendingClock.Instant) { self.instant = instant }

    package init(after timeout: Duration) { self = .now + timeout }

    /// Adds a duration. Negative durations count as zero.
    package static func + (start: Deadline, duration: Duration) -> Deadline {
        Deadline(instant: start.instant + min(max(duration, .zero), longest))
    }

    package static func < (one: Deadline, other: Deadline) -> Bool { one.instant < other.instant }

    package var hasPassed: Bool { self <= .now }

    /// The milliseconds until the deadline; negative after it.
    package var millisecondsLeft: Int64 { Int64(SuspendingClock.now.duration(to: instant) / .milliseconds(1)) }
}
