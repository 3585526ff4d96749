private import CLinux
private import Glibc
import SealedLog
import Sealing
import Synchronization

/// Tells a thread that waits for a descriptor that it is to end.
final class StopSignal: Sendable {
    private let sent = Guarded(false)
    /// Readable once the signal is sent; -1, which the system passes over, if there is no descriptor to be had.
    private let descriptor = FileDescriptor(owning: vault_event_descriptor())
    /// In milliseconds: how long a thread that has no descriptor to be woken by may sleep.
    private static let longestSleep: Int32 = 1_000

    var isSent: Bool { sent.withLock { $0 } }

    func send() {
        sent.withLock { $0 = true }
        var one: UInt64 = 1
        _ = write(descriptor.number, &one, MemoryLayout.size(ofValue: one))
    }

    /// Waits until a descriptor is readable.
    ///
    /// - Returns: false if the signal was sent.
    func wait(for other: borrowing FileDescriptor) -> Bool {
        wait(for: other.number, descriptor.number < 0 ? StopSignal.longestSleep : -1)
    }

    /// Lets some time pass.
    ///
    /// - Returns: false if the signal was sent.
    func wait(milliseconds: Int32) -> Bool {
        wait(for: -1, milliseconds)
    }

    private func wait(for other: Int32, _ milliseconds: Int32) -> Bool {
        var descriptors = [descriptor.number, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Where the system has no memory for that, rather late than without a pause.
        if poll(&descriptors, nfds_t(descriptors.count), milliseconds) < 0, errno != EINTR {
            Pause.microseconds(100_000)
        }
        return !isSent
    }
}
