import CLinux
import CVaultCommand
import Glibc

/// The process's former state, which the tool changes before it touches a secret and restores before it starts another
/// program.
struct ProcessState {
    // Swift sees the constant and the functions' parameter as two types.
    private static let coreSize = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    /// Signals that would end the process during a write. If they are ignored, the write fails instead.
    private static let ofWrites = [SIGPIPE, SIGXFSZ]

    let coreLimit: rlimit
    let dumpable: Int32
    let mask: mode_t
    /// The former actions of ``ofWrites``.
    let writeActions: [sigaction]

    /// Forbids core dumps and reading of this process's memory by the user's other programs, makes new files private,
    /// and turns a closed pipe or a file size limit into an error instead of a silent death. Returns the former state.
    ///
    /// If the system refuses one of these, the tool continues: they are a second line of defence.
    static func harden() -> ProcessState {
        vault_restore_environment()
        occupyStandardDescriptors()
        var limit = rlimit()
        getrlimit(Self.coreSize, &limit)
        // Only the soft limit: an ordinary user could never raise the hard one again.
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        setrlimit(Self.coreSize, &none)
        let dumpable = vault_set_dumpable(0)
        let actions = ofWrites.map(ignore)
        // An interrupted compaction leaves no temporary file behind.
        vault_remove_temporary_on_signals()
        return ProcessState(coreLimit: limit, dumpable: dumpable, mask: umask(0o077), writeActions: actions)
    }

    /// Restores the former state, just before another program replaces this one.
    func restore() {
        var limit = coreLimit
        setrlimit(Self.coreSize, &limit)
        _ = vault_set_dumpable(dumpable)
        umask(mask)
        for (number, action) in zip(Self.ofWrites, writeActions) {
            var action = action
            sigaction(number, &action, nil)
        }
    }

    /// Ends the process silently by SIGPIPE, as a closed pipe ends other programs, unless the signal was ignored at the
    /// start.
    func endByClosedPipe() {
        guard let action = writeActions.first, !action.isIgnored else { return }
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
    }

    private static func ignore(_ number: Int32) -> sigaction {
        var (ignored, former) = (sigaction(), sigaction())
        ignored.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(number, &ignored, &former)
        return former
    }

    /// Opens /dev/null in place of closed standard streams. Otherwise the vault's file would get such a number, and a
    /// value meant for standard output would be written into it. They are opened the wrong way round, so that reading
    /// and writing fail as before.
    private static func occupyStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

extension sigaction {
    /// Whether the process ignores the signal, as `nohup` arranges.
    var isIgnored: Bool {
        unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

/// Retries around system calls.
enum SystemCall {
    /// Repeats a call that a signal interrupted. Returns nil and the error's number if it failed.
    static func retrying(_ call: () -> Int) -> (result: Int?, error: Int32) {
        while true {
            let result = call()
            if result >= 0 { return (result, 0) }
            if errno != EINTR { return (nil, errno) }
        }
    }

    /// Writes a text as ``writeAll(_:to:)`` writes bytes.
    @discardableResult
    static func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes all bytes, in as few calls as possible. Returns 0 or the error's number.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let (written, error) = retrying { write(descriptor, part.baseAddress, part.count) }
            if let written {
                rest = rest.dropFirst(written)
            } else if error == EAGAIN {
                // The pipe is non-blocking: wait for the reader instead of losing the rest.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else {
                return error
            }
        }
        return 0
    }
}
