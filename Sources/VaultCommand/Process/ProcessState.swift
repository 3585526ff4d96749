import CLinux
import CVaultCommand
import Glibc

/// What the tool changes in its own process before it touches a secret, and what was there before, so that another
/// program can be started in the state that it expects.
struct ProcessState {
    // Swift sees the constant and the functions' parameter as two types.
    private static let coreSize = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    /// Signals that would end the process in the midst of a write; ignored, they make the write fail.
    private static let ofWrites = [SIGPIPE, SIGXFSZ]

    let coreLimit: rlimit
    let dumpable: Int32
    let mask: mode_t
    /// What was to be done for each of the signals.
    let writeActions: [sigaction]

    /// No core dumps, no reading of this process's memory by the user's other programs, files for the user alone, and a
    /// closed pipe or a file that may not grow as an error of the write instead of a silent death. What was before is
    /// returned.
    ///
    /// Where the system refuses one of these, the tool works on: they are a second line.
    static func harden() -> ProcessState {
        vault_restore_environment()
        occupyStandardDescriptors()
        var limit = rlimit()
        getrlimit(Self.coreSize, &limit)
        // The soft limit alone: an ordinary user could never raise the hard one again.
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        setrlimit(Self.coreSize, &none)
        let dumpable = vault_set_dumpable(0)
        let actions = ofWrites.map(ignore)
        // Not for long: a compaction that is interrupted leaves nothing behind.
        vault_remove_temporary_on_signals()
        return ProcessState(coreLimit: limit, dumpable: dumpable, mask: umask(0o077), writeActions: actions)
    }

    /// Puts back what was before, to be called just before another program takes this process over.
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

    /// Ends the process as a closed pipe ends any other program, without a word; unless whoever started it ignores the
    /// signal.
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

    /// Where the caller closed standard input, output or error, the next file opened would get its number, and a value
    /// meant for standard output would be written into the vault. So the numbers are taken, opened the wrong way round:
    /// reading and writing them fails as it would have.
    private static func occupyStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

extension sigaction {
    /// Whether the process was told, as `nohup` does, to pass the signal over.
    var isIgnored: Bool {
        unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
