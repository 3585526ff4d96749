private import Glibc

/// Lets some time pass on this thread.
enum Pause {
    static func microseconds(_ count: UInt32) {
        usleep(count)
    }
}
