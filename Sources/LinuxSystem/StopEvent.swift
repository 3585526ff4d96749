private import CLinux
private import Glibc

/// An event that signals a waiting thread to stop.
package final class StopEvent: Sendable {
    private let isSet = Mutex(false)
    /// A descriptor that is readable once the event is signalled; -1, which poll(2) ignores, if none could be opened.
    private let event = FileDescriptor(owning: vault_event_descriptor())

    package init() {}

    package var isSignalled: Bool { isSet.withLock { $0 } }
    package var descriptor: Int32 { event.number }

    package func signal() {
        isSet.withLock { $0 = true }
        var one: UInt64 = 1
        _ = write(event.number, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits until a descriptor is readable, time is up, or the event is signalled. Returns false if it is signalled.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor to wait for; -1 for none.
    ///   - milliseconds: the maximum wait; -1 for no limit.
    @discardableResult
    package func wait(for descriptor: Int32 = -1, milliseconds: Int32) -> Bool {
        var descriptors = [event.number, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // If poll(2) lacks memory, this thread sleeps instead of spinning, and may notice the event 0.1 seconds late.
        if poll(&descriptors, nfds_t(descriptors.count), milliseconds) < 0, errno != EINTR {
            Clock.sleep(microseconds: 100_000)
        }
        return !isSignalled
    }
}
