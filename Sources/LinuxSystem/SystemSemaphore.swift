private import Glibc

/// A semaphore of the system, which starts at zero. A thread that waits for it sleeps at once, while one that waits for
/// a mutex of the standard library spins first.
///
/// The type is Sendable, though unchecked: the pointer never changes, and any thread may call the functions of
/// sem_overview(7).
package final class SystemSemaphore: @unchecked Sendable {
    private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(handle, 0, 0) }

    deinit {
        sem_destroy(handle)
        handle.deallocate()
    }

    package func signal() { sem_post(handle) }

    package func wait() { while sem_wait(handle) != 0 {} }

    /// Waits for a signal. Returns false if there was none for so long, or if the wait was interrupted.
    package func wait(seconds: Int) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += seconds
        return sem_timedwait(handle, &deadline) == 0
    }
}
