private import CLinux
private import Glibc

/// Tells a thread that waits for something to stop.
package final class StopEvent: Sendable {
    private let isSet = Mutex(false)
    /// Readable once the thread shall stop; -1, which poll(2) passes over, if the system has no descriptor left.
    private let event = FileDescriptor(owning: vault_event_descriptor())

    package init() {}

    package var isSignalled: Bool { isSet.withLock { $0 } }
    package var descriptor: Int32 { event.number }

    package func signal() {
        isSet.withLock { $0 = true }
        var one: UInt64 = 1
        _ = write(event.number, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits until a descriptor is readable, the event is signalled or the time is up. Returns false if it was
    /// signalled.
    ///
    /// - Parameters:
    ///   - descriptor: -1 for none.
    ///   - milliseconds: -1 for no limit.
    @discardableResult
    package func wait(for descriptor: Int32 = -1, milliseconds: Int32) -> Bool {
        var descriptors = [event.number, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // If the system has no memory for that, rather late than without a pause.
        if poll(&descriptors, nfds_t(descriptors.count), milliseconds) < 0, errno != EINTR {
            Clock.sleep(microseconds: 100_000)
        }
        return !isSignalled
    }
}
