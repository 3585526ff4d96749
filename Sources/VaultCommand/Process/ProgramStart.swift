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

    /// Starts the program as a child, which does not outlive this process: killed by SIGKILL, this one would leave it
    /// behind with the secrets, and nobody would see what it prints.
    ///
    /// - Parameters:
    ///   - terminal: the path of a terminal, for a new session of which it becomes the controlling one.
    ///   - signals: those that are blocked in the child. Here all must be held back.
    func startChild(
        input: Stream, output: Stream, error: Stream, terminal: String?, signals: SignalSet
    ) throws(CommandError) -> pid_t {
        let former = ProcessState.former
        let streams = [self.input.map { .descriptor($0) } ?? input, output, error].enumerated().map(ProgramStart.number)
        var process: pid_t = 0
        let failed = withVariables {
            (terminal ?? "").withCString { path in
                var child = vault_child(
                    first: firstWord, terminal: terminal == nil ? nil : path, input: streams[0], output: streams[1],
                    error: streams[2], blocked: signals.bits, defaults: SignalSet(former.endingSignals).bits,
                    ignored: SignalSet(former.ignoresChildren ? [SIGCHLD] : []).bits)
                return ProcessState.withFormerLimits { vault_spawn(&child, &process) }
            }
        }
        guard failed == 0 else { throw failure(failed) }
        return process
    }

    /// Returns what C knows a stream by.
    private static func number(_ index: Int, _ stream: Stream) -> Int32 {
        switch stream {
        case .descriptor(let descriptor): descriptor
        case .terminal: Int32(VAULT_STREAM_TERMINAL)
        case .same where ProcessState.former.closedStreams.contains(Int32(index)): Int32(VAULT_STREAM_CLOSED)
        case .same: Int32(VAULT_STREAM_SAME)
        }
    }

    private func withVariables<Result>(_ body: () -> Result) -> Result {
        variables.withUnsafeBytes { block in
            guard let start = block.baseAddress?.assumingMemoryBound(to: CChar.self), block.count > 0 else {
                return body()
            }
            _ = vault_put_variables(start, block.count)
            defer { vault_remove_variables(start, block.count) }
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
        let words = SystemError.message(for: number)
        return CommandError(
            code: "unavailable", exit: .notExecutable, message: "\"\(name)\" could not be started: \(words).\(hint)")
    }
}
