private import Glibc

/// The system's clocks, in nanoseconds.
package enum Clock {
    /// Since 1970.
    package static var realTime: Int64 { now(CLOCK_REALTIME) }
    /// Since the machine started, in steps of some milliseconds; reading it costs next to nothing.
    package static var coarse: Int64 { now(CLOCK_MONOTONIC_COARSE) }
    /// Since the machine started.
    static var monotonic: Int64 { now(CLOCK_MONOTONIC) }

    private static func now(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.nanoseconds
    }

    /// Suspends this thread.
    package static func sleep(microseconds: UInt32) {
        usleep(microseconds)
    }
}

extension timespec {
    /// Wraps around where a file system gives times past the year 2262; they are only compared.
    var nanoseconds: Int64 { Int64(tv_sec) &* 1_000_000_000 &+ Int64(tv_nsec) }
}

/// A point in time after which waiting for a lock ends.
package struct Deadline: Sendable, Comparable {
    private let nanoseconds: Int64

    package init(after timeout: Duration) {
        let (seconds, attoseconds) = timeout.components
        nanoseconds =
            Clock.monotonic + min(max(seconds, 0), 1 << 32) * 1_000_000_000 + max(attoseconds, 0) / 1_000_000_000
    }

    package static func < (left: Deadline, right: Deadline) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Tries again and again, at growing intervals from 50 µs to 5 ms, until it succeeds or time is up.
    ///
    /// flock(2) has no timeout of its own short of a signal, which a library must not send.
    package func poll<Failure: Error>(_ attempt: () throws(Failure) -> Bool) throws(Failure) -> Bool {
        var pause: UInt32 = 50
        while try !attempt() {
            guard Clock.monotonic < nanoseconds else { return false }
            Clock.sleep(microseconds: pause)
            pause = min(pause * 2, 5_000)
        }
        return true
    }
}
