private import Glibc

/// A point in time after which waiting for a lock ends.
package struct Deadline: Sendable, Comparable {
    private let nanoseconds: UInt64

    package init(after timeout: Duration) {
        let (seconds, attoseconds) = timeout.components
        let bounded = UInt64(min(max(seconds, 0), 1 << 32))
        nanoseconds = Deadline.now + bounded * 1_000_000_000 + UInt64(max(attoseconds, 0) / 1_000_000_000)
    }

    package static func < (left: Deadline, right: Deadline) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Tries again and again, at growing distances from 50 µs to 5 ms, until it succeeds or time is up.
    ///
    /// flock(2) has no timeout of its own short of a signal, which a library must not send.
    func poll<Failure: Error>(_ attempt: () throws(Failure) -> Bool) throws(Failure) -> Bool {
        var pause = 50_000
        while try !attempt() {
            guard Deadline.now < nanoseconds else { return false }
            var time = timespec(tv_sec: 0, tv_nsec: pause)
            nanosleep(&time, nil)
            pause = min(pause * 2, 5_000_000)
        }
        return true
    }
}
