import CLinux
import Glibc

/// What the tool changes in its own process before it touches a secret, and what was there before, so that another
/// program can be started in the state that it expects.
struct ProcessState {
    // Swift sees the constant and the functions' parameter as two types.
    private static let coreSize = __rlimit_resource_t(RLIMIT_CORE.rawValue)

    let coreLimit: rlimit
    let dumpable: Int32
    let mask: mode_t
    let brokenPipe: sigaction

    /// No core dumps, no reading of this process's memory by the user's other programs, files for the user alone, and
    /// a closed pipe as an error of the write instead of a silent death. What was before is returned.
    ///
    /// Where the system refuses one of these, the tool works on: they are a second line.
    static func harden() -> ProcessState {
        occupyStandardDescriptors()
        removeCrashReporter()
        var limit = rlimit()
        getrlimit(Self.coreSize, &limit)
        // The soft limit alone: an ordinary user could never raise the hard one again.
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        setrlimit(Self.coreSize, &none)
        let dumpable = vault_set_dumpable(0)
        var ignored = sigaction()
        ignored.__sigaction_handler.sa_handler = SIG_IGN
        var brokenPipe = sigaction()
        sigaction(SIGPIPE, &ignored, &brokenPipe)
        return ProcessState(coreLimit: limit, dumpable: dumpable, mask: umask(0o077), brokenPipe: brokenPipe)
    }

    /// Puts back what was before, to be called just before another program takes this process over.
    func restore() {
        var (limit, action) = (coreLimit, brokenPipe)
        setrlimit(Self.coreSize, &limit)
        _ = vault_set_dumpable(dumpable)
        umask(mask)
        sigaction(SIGPIPE, &action, nil)
    }

    /// Swift's runtime, on a terminal or when its environment variable says so, answers a crash, and the keys for
    /// SIGQUIT, by starting a debugger that prints from this process's memory. A secret might be there.
    ///
    /// Nothing is to be restored: another program starts without these handlers anyway.
    private static func removeCrashReporter() {
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            var action = sigaction()
            guard sigaction(number, nil, &action) == 0, !action.isIgnored else { continue }
            signal(number, SIG_DFL)
        }
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
