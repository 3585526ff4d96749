private import Glibc

/// Waiting for another program, which may wait for a person: after a while of silence, it is told once what is waited
/// for.
package struct PatientWait {
    /// How long a program may be silent before that.
    package static let usualPatience: Duration = .seconds(5)

    private let patience: Duration
    private let tell: () -> Void
    private var deadline: Deadline
    private var isTold = false

    package init(_ patience: Duration = PatientWait.usualPatience, telling tell: @escaping () -> Void) {
        (self.patience, self.tell, deadline) = (patience, tell, Deadline(after: patience))
    }

    /// Starts the silence anew: the program has done something, or it was this one that it waited for.
    package mutating func restart() { deadline = Deadline(after: patience) }

    /// Waits until a descriptor can be read or written, as it is asked for by flags of poll(2), and returns the flags
    /// that hold.
    package mutating func events(of descriptor: Int32, _ flags: Int16) -> Int16 {
        var waiting = pollfd(fd: descriptor, events: flags, revents: 0)
        while true {
            let count = poll(&waiting, 1, milliseconds)
            if count > 0 { return waiting.revents }
            if count < 0, errno != EINTR, errno != EAGAIN { return Int16(POLLERR) }
            tellIfDue()
        }
    }

    /// Waits for a program's end.
    package mutating func end(of process: inout ChildProcess) -> ChildProcess.Exit {
        while !isTold {
            if let exit = process.exitIfEnded() { return exit }
            usleep(5_000)
            tellIfDue()
        }
        return process.wait()
    }

    /// Until it is told; -1 afterwards.
    private var milliseconds: Int32 {
        isTold ? -1 : Int32(clamping: max(0, deadline.millisecondsLeft) + 1)
    }

    private mutating func tellIfDue() {
        guard !isTold, deadline.hasPassed else { return }
        isTold = true
        tell()
    }
}
