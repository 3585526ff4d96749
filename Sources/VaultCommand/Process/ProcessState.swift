import CLinux
import CVaultCommand
import Glibc
import LinuxSystem

enum ProcessState {
    /// What ``harden()`` has changed, and what another program is to find as it was.
    struct Former {
        var closedStreams: [Int32] = []
        /// Of SIGPIPE and SIGXFSZ, those that ended the process, and are ignored now.
        var endingSignals: [Int32] = []
        var ignoresChildren = false
        var fileModeMask: mode_t = 0o022
        /// Whether the system has refused to forbid the reading of this process's memory.
        var isDumpable = false
    }

    private static let held = Mutex(Former())

    static var former: Former { held.withLock { $0 } }

    /// Forbids core dumps and reading of this process's memory by the user's other programs, makes new files private,
    /// and turns a closed pipe or a file size limit into an error instead of a silent death. If the system refuses one
    /// of these, the tool continues: they are a second line of defence. ``Notes/warnIfMemoryIsOpen(asJSON:)`` says so.
    ///
    /// - Returns: whether a closed pipe would have ended the process, as it ends others: SIGPIPE was not ignored.
    static func harden() -> Bool {
        vault_restore_environment()
        var former = Former()
        former.closedStreams = occupyStandardDescriptors()
        vault_forbid_core_dumps()
        former.isDumpable = vault_forbid_reading() != 0
        former.endingSignals = [SIGPIPE, SIGXFSZ].filter { !isIgnored($0) }
        for number in former.endingSignals { signal(number, SIG_IGN) }
        // A parent may ignore the end of its children, which is inherited. Here it must be seen.
        former.ignoresChildren = isIgnored(SIGCHLD)
        if former.ignoresChildren { signal(SIGCHLD, SIG_DFL) }
        // An interrupted compaction leaves no temporary file behind.
        vault_remove_temporary_on_signals()
        former.fileModeMask = umask(0o077)
        held.withLock { [former] in $0 = former }
        return former.endingSignals.contains(SIGPIPE)
    }

    /// Makes the process as it was, for the program that is to replace this one. The kernel does the rest: it lets the
    /// memory of a new program be read again, and gives signals that have a handler their default action.
    static func restore() {
        let former = former
        vault_permit_core_dumps(0)
        for number in former.endingSignals { signal(number, SIG_DFL) }
        if former.ignoresChildren { signal(SIGCHLD, SIG_IGN) }
        umask(former.fileModeMask)
        for descriptor in former.closedStreams { close(descriptor) }
    }

    /// Runs `body` with the limits that a child process is to inherit.
    static func withFormerLimits<Result>(_ body: () -> Result) -> Result {
        vault_permit_core_dumps(0)
        umask(former.fileModeMask)
        defer {
            vault_forbid_core_dumps()
            umask(0o077)
        }
        return body()
    }

    /// Whether the process ignores the signal, as `nohup` arranges.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        return sigaction(number, nil, &action) == 0
            && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Whether this process may use a terminal: it is not in the background there, or the terminal is not its own.
    static func isInFront(at terminal: Int32) -> Bool {
        let group = tcgetpgrp(terminal)
        return group < 0 || group == getpgrp()
    }

    /// Opens /dev/null in place of closed standard streams. Otherwise the vault's file would get such a number, and a
    /// value meant for standard output would be written into it. They are opened the wrong way round, so that reading
    /// and writing fail as before.
    ///
    /// - Returns: those that were closed.
    private static func occupyStandardDescriptors() -> [Int32] {
        let closed = (STDIN_FILENO...STDERR_FILENO).filter { fcntl($0, F_GETFD) < 0 }
        for descriptor in closed { _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) }
        return closed
    }
}

enum SystemCall {
    /// Repeats a call that a signal interrupts. The error for one that fails begins with `problem`.
    static func retrying<Result: SignedInteger>(
        _ problem: @autoclosure () -> String, _ call: () -> Result
    ) throws(CommandError) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            let number = errno
            if number != EINTR { throw .system(problem(), number) }
        }
    }

    /// Writes a text. A failure is ignored.
    static func writeAll(_ text: String, to descriptor: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    /// Writes all bytes, in as few calls as possible. Returns 0 or the error's number.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let written = write(descriptor, part.baseAddress, part.count)
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // The pipe is non-blocking: wait for the reader instead of losing the rest.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
