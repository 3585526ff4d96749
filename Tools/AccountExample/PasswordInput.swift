import Foundation

/// Reads a password: never from an argument or the environment, which other processes can see.
enum PasswordInput {
    /// Asks on the terminal, without echo; otherwise reads the first line of standard input.
    static func read(for userName: String) throws(Failure) -> String {
        let line = isatty(STDIN_FILENO) == 1 ? prompt("Password of \(userName): ") : readLine()
        guard let line, !line.isEmpty else {
            throw Failure(.usage, "There is no password on standard input.")
        }
        return line
    }

    private static func prompt(_ text: String) -> String? {
        HiddenEcho.during {
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
            // Without echo, the end of the typed line is not shown either.
            defer { try? FileHandle.standardError.write(contentsOf: Data("\n".utf8)) }
            return terminalLine()
        }
    }

    /// Reads a line from the terminal past the library's buffers, which would keep it.
    private static func terminalLine() -> String? {
        // The longest line of a terminal.
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { buffer in
            defer { explicit_bzero(buffer.baseAddress!, buffer.count) }
            var count = -1
            repeat {
                count = Foundation.read(STDIN_FILENO, buffer.baseAddress, buffer.count)
            } while count < 0 && errno == EINTR
            guard count > 0 else { return nil }
            let line = buffer[..<count]
            return String(decoding: line.last == UInt8(ascii: "\n") ? line.dropLast() : line, as: UTF8.self)
        }
    }
}

/// Turns off the echo of the terminal on standard input. A signal that ends or stops the program restores it first.
///
/// Signal handlers do that: the program has several threads, any of which may get the signal. They call only what a
/// handler may call, and read only what was set before they were installed.
enum HiddenEcho {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP]
    /// The terminal's modes: as they were, and without echo.
    nonisolated(unsafe) private static let modes = UnsafeMutablePointer<termios>.allocate(capacity: 2)

    /// Runs `body` without echo.
    static func during<Result>(_ body: () -> Result) -> Result {
        guard tcgetattr(STDIN_FILENO, modes) == 0 else { return body() }
        modes[1] = modes[0]
        modes[1].c_lflag &= ~tcflag_t(ECHO)
        let former = signals.map(install)
        defer { for (number, var action) in zip(signals, former) { sigaction(number, &action, nil) } }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &modes[1])
        // Drops what was pasted beyond the line: it must not reach the shell as a command.
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, modes) }
        return body()
    }

    /// - Returns: what the signal did before. One that was ignored stays so.
    private static func install(_ number: Int32) -> sigaction {
        var former = sigaction()
        sigaction(number, nil, &former)
        guard former.__sigaction_handler.sa_handler == nil else { return former }
        handle(number)
        return former
    }

    /// Installs the handler for one signal. When it raises the signal again, the default action follows.
    private static func handle(_ number: Int32) {
        var action = sigaction()
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_NODEFER | SA_RESTART
        action.__sigaction_handler.sa_handler = { number in
            tcsetattr(STDIN_FILENO, TCSAFLUSH, HiddenEcho.modes)
            raise(number)
            // The program was stopped and continues.
            HiddenEcho.handle(number)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &HiddenEcho.modes[1])
        }
        sigaction(number, &action, nil)
    }
}
