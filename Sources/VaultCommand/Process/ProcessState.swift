import CLinux
import CVaultCommand
import Glibc
import LinuxSystem

enum ProcessState {
    /// The process's state before ``harden()``, which is restored for the programs that this process starts.
    struct Former {
        var closedStreams: [Int32] = []
        /// The signals among SIGPIPE and SIGXFSZ that were not already ignored. ``harden()`` ignores them.
        var endingSignals: [Int32] = []
        var ignoresChildren = false
        var fileModeMask: mode_t = 0o022
        /// Whether the system refused to protect this process's memory from being read.
        var isDumpable = false
    }

    private static let held = Mutex(Former())

    static var former: Former { held.withLock { $0 } }

    /// Forbids core dumps and reads of this process's memory by the user's other programs, and makes new files private.
    /// A closed pipe or an exceeded file size limit becomes an error, because its signal would end the process
    /// silently. If the system refuses one of these measures, the tool continues, because they are only a second line
    /// of defence. ``Notes/warnIfMemoryIsOpen(asJSON:)`` warns if the memory can be read.
    ///
    /// - Returns: whether a closed pipe would have ended the process, because SIGPIPE was not ignored.
    static func harden() -> Bool {
        vault_restore_environment()
        var former = Former()
        former.closedStreams = occupyStandardDescriptors()
        vault_forbid_core_dumps()
        former.isDumpable = vault_forbid_reading() != 0
        former.endingSignals = [SIGPIPE, SIGXFSZ].filter { !isIgnored($0) }
        for number in former.endingSignals { signal(number, SIG_IGN) }
        // This process may have inherited an ignored SIGCHLD, but it must notice when its children exit.
        former.ignoresChildren = isIgnored(SIGCHLD)
        if former.ignoresChildren { signal(SIGCHLD, SIG_DFL) }
        // Installs signal handlers that remove the temporary file of an interrupted compaction.
        vault_remove_temporary_on_signals()
        former.fileModeMask = umask(0o077)
        held.withLock { [former] in $0 = former }
        return former.endingSignals.contains(SIGPIPE)
    }

    /// Restores the state before ``harden()`` for the program that replaces this process. When the kernel starts the
    /// program, it makes the memory readable again and resets handled signals to their default action.
    static func restore() {
        let former = former
        vault_permit_core_dumps(0)
        for number in former.endingSignals { signal(number, SIG_DFL) }
        if former.ignoresChildren { signal(SIGCHLD, SIG_IGN) }
        umask(former.fileModeMask)
        for descriptor in former.closedStreams { close(descriptor) }
    }

    /// Runs `body` with the core dump limit and file mode mask from before ``harden()``, so that a child inherits them.
    static func withFormerLimits<Result>(_ body: () -> Result) -> Result {
        vault_permit_core_dumps(0)
        umask(former.fileModeMask)
        defer {
            vault_forbid_core_dumps()
            umask(0o077)
        }
        return body()
    }

    /// Returns whether the process ignores the signal `number`, for example because of `nohup`.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        return sigaction(number, nil, &action) == 0
            && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Returns whether this process is in the foreground of `terminal`, or `terminal` is not its controlling terminal.
    static func isInFront(at terminal: Int32) -> Bool {
        let group = tcgetpgrp(terminal)
        return group < 0 || group == getpgrp()
    }

    /// Opens /dev/null for closed standard streams. Otherwise, the vault file could get the descriptor of such
    /// a stream, and output would be written into the vault. Each stream is opened in the wrong direction, so that
    /// reads and writes fail as before.
    ///
    /// - Returns: the numbers of the closed streams.
    private static func occupyStandardDescriptors() -> [Int32] {
        let closed = (STDIN_FILENO...STDERR_FILENO).filter { fcntl($0, F_GETFD) < 0 }
        for descriptor in closed { _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) }
        return closed
    }
}

enum SystemCall {
    /// Calls `call`, and repeats it if a signal interrupts it. If it fails, the error message begins with `problem`.
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

    /// Writes a string. Ignores failures.
    static func writeAll(_ text: String, to descriptor: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    /// Writes all bytes, in as few calls as possible. Returns 0 or the error number.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let written = write(descriptor, part.baseAddress, part.count)
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // The pipe is nonblocking and full. Waits for the reader, so that the unwritten bytes are not lost.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
