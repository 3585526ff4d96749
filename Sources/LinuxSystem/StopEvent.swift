private import CLinux
private import Glibc

/// An event that makes a waiting thread stop.
package final class StopEvent: Sendable {
    private let isSet = Mutex(false)
    /// The descriptor becomes readable with the event. It is -1, which poll(2) ignores, if the system has none left.
    private let event = FileDescriptor(owning: vault_event_descriptor())

    package init() {}

    package var isSignalled: Bool { isSet.withLock { $0 } }
    package var descriptor: Int32 { event.number }

    package func signal() {
        isSet.withLock { $0 = true }
        var one: UInt64 = 1
        _ = write(event.number, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits until a descriptor is readable, the event is signalled or the time is up. Returns false if signalled.
    ///
    /// - Parameters:
    /// - descriptor: the descriptor to wait for; -1 for none.
    /// - milliseconds: the longest wait; -1 for no limit.
    @discardableResult
    package func wait(for descriptor: Int32 = -1, milliseconds: Int32) -> Bool {
        var descriptors = [event.number, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Without memory for poll(2), this pauses, since the caller would spin. The event is then noticed late.
        if poll(&descriptors, nfds_t(descriptors.count), milliseconds) < 0, errno != EINTR {
            Clock.sleep(microseconds: 100_000)
        }
        return !isSignalled
    }
}
