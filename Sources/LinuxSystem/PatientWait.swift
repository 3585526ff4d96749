private import Glibc

/// A wait for a program that may itself be waiting for the user. After a period of inactivity, it calls a closure once.
package struct PatientWait {
    package static let usualPatience: Duration = .seconds(5)

    private let patience: Duration
    private let notify: () -> Void
    private var deadline: Deadline
    private var hasNotified = false

    package init(_ patience: Duration = PatientWait.usualPatience, notifying notify: @escaping () -> Void) {
        self.patience = patience
        self.notify = notify
        deadline = Deadline(after: patience)
    }

    /// Restarts the time limit. Call this after the program has been active or has had to wait for this process.
    package mutating func restart() { deadline = Deadline(after: patience) }

    /// Waits until a descriptor is ready for one of these poll(2) events. Returns the events that have occurred.
    package mutating func events(of descriptor: Int32, _ flags: Int16) -> Int16 {
        var waiting = pollfd(fd: descriptor, events: flags, revents: 0)
        while true {
            let count = poll(&waiting, 1, milliseconds)
            if count > 0 { return waiting.revents }
            if count < 0, errno != EINTR, errno != EAGAIN { return Int16(POLLERR) }
            notifyIfDue()
        }
    }

    package mutating func end(of process: inout ChildProcess) -> ChildProcess.Exit {
        while !hasNotified {
            if let exit = process.exitIfEnded() { return exit }
            usleep(5_000)
            notifyIfDue()
        }
        return process.wait()
    }

    /// The timeout for poll(2): the milliseconds until the closure is due, or -1 (none) once it has been called.
    private var milliseconds: Int32 { hasNotified ? -1 : Int32(clamping: max(0, deadline.millisecondsLeft) + 1) }

    private mutating func notifyIfDue() {
        guard !hasNotified, deadline.hasPassed else { return }
        hasNotified = true
        notify()
    }
}
