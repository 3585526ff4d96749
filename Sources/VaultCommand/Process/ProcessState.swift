import CLinux
import CVaultCommand
import Glibc
import LinuxSystem

enum ProcessState {
    /// The state before ``harden()``, which other programs are to get.
    struct Former {
        var closedStreams: [Int32] = []
        /// The signals among SIGPIPE and SIGXFSZ that would have ended the process, and are now ignored.
        var endingSignals: [Int32] = []
        var ignoresChildren = false
        var fileModeMask: mode_t = 0o022
        /// Whether the system refuses to protect this process's memory from being read.
        var isDumpable = false
    }

    private static let held = Mutex(Former())

    static var former: Former { held.withLock { $0 } }

    /// Forbids core dumps and reading of this process's memory by the user's other programs, makes new files private,
    /// and turns a closed pipe or a file size limit into an error instead of a silent death. If the system refuses one
    /// of these, the tool continues: they are a second line of defence. ``Notes/warnIfMemoryIsOpen(asJSON:)`` reports
    /// it.
    ///
    /// - Returns: whether a closed pipe would have ended the process, as is the default: SIGPIPE was not ignored.
    static func harden() -> Bool {
        vault_restore_environment()
        var former = Former()
        former.closedStreams = occupyStandardDescriptors()
        vault_forbid_core_dumps()
        former.isDumpable = vault_forbid_reading() != 0
        former.endingSignals = [SIGPIPE, SIGXFSZ].filter { !isIgnored($0) }
        for number in former.endingSignals { signal(number, SIG_IGN) }
        // If the parent ignores SIGCHLD, this process inherits that. Here the end of children must be noticed.
        former.ignoresChildren = isIgnored(SIGCHLD)
        if former.ignoresChildren { signal(SIGCHLD, SIG_DFL) }
        // With these handlers, an interrupted compaction leaves no temporary file behind.
        vault_remove_temporary_on_signals()
        former.fileModeMask = umask(0o077)
        held.withLock { [former] in $0 = former }
        return former.endingSignals.contains(SIGPIPE)
    }

    /// Restores the state of the process for the program that replaces it. The kernel does the rest: the memory of a
    /// new program is readable again, and signals with a handler get their default action.
    static func restore() {
        let former = former
        vault_permit_core_dumps(0)
        for number in former.endingSignals { signal(number, SIG_DFL) }
        if former.ignoresChildren { signal(SIGCHLD, SIG_IGN) }
        umask(former.fileModeMask)
        for descriptor in former.closedStreams { close(descriptor) }
    }

    /// Runs `body` with the limits that a child process should inherit.
    static func withFormerLimits<Result>(_ body: () -> Result) -> Result {
        vault_permit_core_dumps(0)
        umask(former.fileModeMask)
        defer {
            vault_forbid_core_dumps()
            umask(0o077)
        }
        return body()
    }

    /// Whether the process ignores the signal, as with `nohup`.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        return sigaction(number, nil, &action) == 0
            && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Whether this process may use a terminal: it is in the foreground, or the terminal is not its controlling one.
    static func isInFront(at terminal: Int32) -> Bool {
        let group = tcgetpgrp(terminal)
        return group < 0 || group == getpgrp()
    }

    /// Opens /dev/null in place of closed standard streams. Otherwise the vault file could get such a number, and a
    /// value for standard output would be written into it. They are opened in the wrong direction, so that reading and
    /// writing fail as before.
    ///
    /// - Returns: the numbers of the closed streams.
    private static func occupyStandardDescriptors() -> [Int32] {
        let closed = (STDIN_FILENO...STDERR_FILENO).filter { fcntl($0, F_GETFD) < 0 }
        for descriptor in closed { _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) }
        return closed
    }
}

enum SystemCall {
    /// Repeats a call that was interrupted by a signal. The message for a failure begins with `problem`.
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

    /// Writes a text. Failures are ignored.
    static func writeAll(_ text: String, to descriptor: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    /// Writes all bytes, in as few calls as possible. Returns 0 or the number of the error.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let written = write(descriptor, part.baseAddress, part.count)
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // The pipe is nonblocking: wait for the reader instead of losing the rest.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
