private import CLinux
@preconcurrency private import Glibc

/// Another program that this one starts and waits for. One that was not waited for is ended.
///
/// It gets this process's environment and standard streams, but no other file that this process has opened.
package struct ChildProcess: ~Copyable {
    package enum Input {
        case inherited, empty
        case descriptor(Int32)
    }

    /// How a program has ended.
    package enum Exit: Hashable, Sendable {
        case status(Int32)
        case signal(Int32)
        /// This process ignores its children, or something else in it has waited for this one.
        case unseen
    }

    /// How long a program may take to end by itself, and then once more after SIGTERM.
    private static let patience = 200
    private static let pause: UInt32 = 10_000

    private let number: pid_t
    /// nil while the process was not waited for.
    private var exit: Exit?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: its path; a name without a slash is looked up in PATH.
    ///   - arguments: the first is the program's name by custom.
    ///   - output: the descriptor that becomes its standard output.
    ///   - errors: the descriptor that becomes its standard error.
    ///   - outlivesTerminal: gives it a session of its own, which does not end with the terminal, and none of the files
    ///     that this process has inherited.
    package init(
        _ program: String, _ arguments: [String], input: Input, output: Int32, errors: Int32 = STDERR_FILENO,
        outlivesTerminal: Bool = false
    ) throws(SystemError) {
        var started: pid_t = 0
        let error = ChildProcess.spawn(program, arguments, input, output, errors, outlivesTerminal, &started)
        guard error == 0 else { throw SystemError(error, "start") }
        number = started
        vault_permit_core_dumps(started)
    }

    deinit {
        if exit == nil { _ = ChildProcess.end(number) }
    }

    /// Returns 0, or why it failed.
    private static func spawn(
        _ program: String, _ arguments: [String], _ input: Input, _ output: Int32, _ errors: Int32,
        _ outlivesTerminal: Bool, _ process: inout pid_t
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { return ENOMEM }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnattr_init(&attributes) == 0 else { return ENOMEM }
        defer { posix_spawnattr_destroy(&attributes) }
        var error =
            switch input {
            case .inherited: 0 as Int32
            case .empty: posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
            }
        if error == 0 { error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        if error == 0 { error = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
        var flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        if error == 0, outlivesTerminal { error = vault_spawn_apart(&actions, &flags) }
        guard error == 0 else { return error }
        // This process may have blocked signals, or ignore those of closed pipes and full files: the program does not.
        var (none, defaults) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&defaults)
        for number in [SIGPIPE, SIGXFSZ] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, flags)
        var copies = arguments.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return posix_spawnp(&process, program, &actions, &attributes, &copies, __environ)
    }

    // MARK: Ending

    /// Sends it a signal.
    package func send(_ signal: Int32) { kill(number, signal) }

    /// Lets the program run without this process.
    package consuming func detach() { exit = .unseen }

    /// Returns nil while the program runs.
    package mutating func exitIfEnded() -> Exit? {
        if exit == nil { exit = ChildProcess.wait(number, WNOHANG) }
        return exit
    }

    /// Waits for the program's end.
    package mutating func wait() -> Exit {
        if let exit { return exit }
        let found = ChildProcess.wait(number, 0) ?? .unseen
        exit = found
        return found
    }

    /// Gives the program a while to end by itself, and then ends it.
    package mutating func end() -> Exit {
        if let exit { return exit }
        let found = ChildProcess.end(number)
        exit = found
        return found
    }

    private static func end(_ process: pid_t) -> Exit {
        for signal in [SIGTERM, SIGKILL] {
            for _ in 0..<patience {
                if let exit = wait(process, WNOHANG) { return exit }
                usleep(pause)
            }
            kill(process, signal)
        }
        return wait(process, 0) ?? .unseen
    }

    /// A change in what a child does.
    package enum Change: Hashable, Sendable {
        case ended(Exit)
        /// A signal has stopped it.
        case stopped
    }

    /// Returns what a child that was started in another way has done since this was asked; nil if it runs on.
    package static func change(of process: Int32) -> Change? { change(process, WNOHANG | WUNTRACED) }

    /// Returns nil for a process that still runs.
    private static func wait(_ process: pid_t, _ options: Int32) -> Exit? {
        guard case .ended(let exit) = change(process, options) else { return nil }
        return exit
    }

    private static func change(_ process: pid_t, _ options: Int32) -> Change? {
        var status: Int32 = 0
        while true {
            let found = waitpid(process, &status, options)
            if found < 0, errno == EINTR { continue }
            guard found != 0 else { return nil }
            guard found == process else { return .ended(.unseen) }
            let signal = status & 0x7F
            if signal == 0x7F { return .stopped }
            return .ended(signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal))
        }
    }
}
