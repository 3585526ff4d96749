import CVaultCommand
import Glibc
import LinuxSystem
import Sealing

/// Another program, which gets secrets: by its environment, by files in memory, by its standard input.
///
/// Its words are the last arguments of this process, byte for byte.
struct ProgramStart: ~Copyable {
    /// `NAME=VALUE` and a zero byte for each variable that is added.
    private let variables: SecretBytes
    /// What becomes its standard input; nil for that of this process.
    private let input: Int32?
    private let firstWord: Int32

    var hasInput: Bool { input != nil }

    init(words count: Int, variables: consuming SecretBytes, input: Int32?) {
        self.variables = variables
        self.input = input
        var all: Int32 = 0
        while vault_argument(all) != nil { all += 1 }
        firstWord = all - Int32(clamping: count)
    }

    /// Puts the program in this one's place: with its process, its terminal and its open streams. The secrets in this
    /// one's memory end with it.
    ///
    /// - Throws: always, since it returns only if the program cannot be started.
    consuming func replaceThisProcess() throws(CommandError) -> Never {
        let error = withVariables {
            ProcessState.restore()
            // After that: it may have closed standard input.
            if let input, dup2(input, STDIN_FILENO) < 0 { return errno }
            return vault_execute(firstWord)
        }
        throw failure(error)
    }

    /// What becomes a standard stream of a child.
    enum Stream: Hashable {
        case descriptor(Int32)
        /// The child's controlling terminal.
        case terminal
        /// That of this process, if it was open when this process started.
        case same
    }

    /// Starts the program as a child.
    ///
    /// - Parameters:
    ///   - terminal: the path of a terminal, for a new session of which it becomes the controlling one.
    ///   - signals: those that are blocked in the child.
    func startChild(
        input: Stream, output: Stream, error: Stream, terminal: String?, signals: sigset_t
    ) throws(CommandError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { throw failure(ENOMEM) }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnattr_init(&attributes) == 0 else { throw failure(ENOMEM) }
        defer { posix_spawnattr_destroy(&attributes) }
        let streams = [self.input.map { .descriptor($0) } ?? input, output, error]
        var failed = ProgramStart.redirect(streams, terminal, &actions)
        guard failed == 0 else { throw failure(failed) }
        var (mask, defaults) = (signals, sigset_t())
        sigemptyset(&defaults)
        for number in ProcessState.former.endingSignals { sigaddset(&defaults, number) }
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        // POSIX_SPAWN_SETSID, which Swift does not see.
        let newSession: Int32 = terminal == nil ? 0 : 0x80
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | newSession))
        var process: pid_t = 0
        failed = withVariables {
            ProcessState.withFormerLimits { vault_spawn(firstWord, &actions, &attributes, &process) }
        }
        guard failed == 0 else { throw failure(failed) }
        return process
    }

    /// Returns 0, or why it failed.
    private static func redirect(
        _ streams: [Stream], _ terminal: String?, _ actions: inout posix_spawn_file_actions_t
    ) -> Int32 {
        var results: [Int32] = []
        // Opened in the child, whose new session has begun then, it becomes the controlling terminal. It is opened as
        // standard error, the stream that is redirected last.
        if let terminal {
            results.append(posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, terminal, O_RDWR, 0))
        }
        for (number, stream) in zip(STDIN_FILENO..., streams) {
            switch stream {
            case .descriptor(let descriptor):
                results.append(posix_spawn_file_actions_adddup2(&actions, descriptor, number))
            case .terminal: results.append(posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, number))
            case .same where ProcessState.former.closedStreams.contains(number):
                results.append(posix_spawn_file_actions_addclose(&actions, number))
            case .same: break
            }
        }
        return results.first { $0 != 0 } ?? 0
    }

    private func withVariables<Result>(_ body: () -> Result) -> Result {
        variables.withUnsafeBytes { block in
            guard let start = block.baseAddress?.assumingMemoryBound(to: CChar.self), block.count > 0 else {
                return body()
            }
            _ = vault_put_variables(start, block.count)
            defer { vault_take_variables_back(start, block.count) }
            return body()
        }
    }

    /// env(1) has the same exit codes.
    private func failure(_ number: Int32) -> CommandError {
        let name = vault_argument(firstWord).map { String(cString: $0) } ?? ""
        if number == ENOENT {
            return CommandError(code: "unavailable", exit: .notInstalled, message: "\"\(name)\" was not found.")
        }
        let hint = number == E2BIG ? " A value that is too large for a variable fits into a file: use --file." : ""
        let words = SystemError.words(for: number)
        return CommandError(
            code: "unavailable", exit: .notExecutable, message: "\"\(name)\" could not be started: \(words).\(hint)")
    }
}
