private import CLinux
@preconcurrency private import Glibc

/// A program that this process starts. Destroying this value terminates it if it is still running and not detached.
///
/// The program inherits the environment. It gets no file that this process has opened, except its standard streams.
package struct ChildProcess: ~Copyable {
    package enum Input {
        case inherited, empty
        case descriptor(Int32)
    }

    package enum Exit: Hashable, Sendable {
        case status(Int32)
        case signal(Int32)
        /// The status is unknown, because this process ignores SIGCHLD or other code in it has waited for the program.
        case unseen
    }

    /// The number of times that ``end()`` checks for an exit before it sends SIGTERM, and again before SIGKILL.
    private static let patience = 200
    /// The pause between checks of whether the program has ended, in microseconds.
    private static let pause: UInt32 = 10_000

    private let number: pid_t
    /// How the program ended; nil until this process has waited for its exit.
    private var exit: Exit?

    /// - Parameters:
    ///   - program: the program's path; a name without a slash is looked up in PATH.
    ///   - arguments: the arguments; the first is the program's name by convention.
    ///   - outlivesTerminal: whether the program runs in its own session, which does not end with the terminal. Such a
    ///     program does not receive the files that this process itself has inherited.
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

    deinit { if exit == nil { _ = ChildProcess.end(number) } }

    /// Starts the program. Returns 0, or an error number.
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
        // The program must not inherit this process's blocked signals, or its ignored signals SIGPIPE and SIGXFSZ.
        var none = sigset_t()
        var defaults = sigset_t()
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

    package func send(_ signal: Int32) { kill(number, signal) }

    /// Lets the program continue to run after this value is destroyed.
    package consuming func detach() { exit = .unseen }

    package mutating func exitIfEnded() -> Exit? {
        if exit == nil { exit = ChildProcess.wait(number, WNOHANG) }
        return exit
    }

    package mutating func wait() -> Exit {
        let found = exit ?? ChildProcess.wait(number, 0) ?? .unseen
        exit = found
        return found
    }

    /// Waits about two seconds for the program to exit by itself, then terminates it.
    package mutating func end() -> Exit {
        let found = exit ?? ChildProcess.end(number)
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

    package enum Change: Hashable, Sendable {
        case ended(Exit)
        case stopped
    }

    /// Returns the latest state change of a child that other code has started; nil if there is no new one.
    package static func change(of process: Int32) -> Change? { change(process, WNOHANG | WUNTRACED) }

    /// Returns how the process ended; nil while it runs.
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
