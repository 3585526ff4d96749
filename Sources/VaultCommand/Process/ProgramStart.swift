import CVaultCommand
import Glibc
import LinuxSystem
import Sealing

/// A program to start with secrets. It receives them in its environment, in files in memory, or on its standard input.
///
/// The program's name and arguments are the last arguments of this process, byte for byte.
struct ProgramStart: ~Copyable {
    /// The additional environment variables: each is `NAME=VALUE`, followed by a zero byte.
    private let variables: SecretBytes
    /// The descriptor that becomes the program's standard input; nil to let it inherit this process's own.
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

    /// Replaces this process with the program, which keeps the process ID, the terminal and the open streams. The
    /// kernel frees this process's memory, including the secrets.
    ///
    /// - Throws: an error if the program cannot be started. Otherwise, this method does not return.
    consuming func replaceThisProcess() throws(CommandError) -> Never {
        let error = withVariables {
            ProcessState.restore()
            // Redirects standard input only after `restore()`, which may close it.
            if let input, dup2(input, STDIN_FILENO) < 0 { return errno }
            return vault_execute(firstWord)
        }
        throw failure(error)
    }

    enum Stream: Hashable {
        case descriptor(Int32)
        /// The child's controlling terminal.
        case terminal
        /// This process's corresponding stream, or none if that was closed when this process started.
        case same
    }

    /// Starts the program as a child that the kernel kills when this process ends. Otherwise, if this process were
    /// killed by SIGKILL, the child would keep running with the secrets, and its output would be lost.
    ///
    /// - Parameters:
    ///   - terminal: the path of a terminal, which becomes the controlling terminal of a new session.
    ///   - signals: the signals that are blocked in the child. In this process, all signals must be blocked.
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

    /// Returns the number by which the C code identifies `stream`.
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

    /// Returns the error for a program that could not be started, with the exit code that env(1) uses.
    private func failure(_ number: Int32) -> CommandError {
        let name = vault_argument(firstWord).map { String(cString: $0) } ?? ""
        if number == ENOENT {
            return CommandError(code: "unavailable", exit: .notInstalled, message: "\"\(name)\" was not found.")
        }
        let hint = number == E2BIG ? " If a value is too large for a variable, pass it as a file with --file." : ""
        let words = SystemError.message(for: number)
        return CommandError(
            code: "unavailable", exit: .notExecutable, message: "\"\(name)\" could not be started: \(words).\(hint)")
    }
}
