import Foundation

/// The terminal on standard input without its echo. A signal that ends or stops the program brings the echo back first.
///
/// By handlers: the program has several threads, any of which may get the signal. They call nothing but what a handler may call, and
/// read nothing but what lies there before they are installed.
enum HiddenEcho {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP]
    /// The terminal's modes: as they were, and without echo.
    nonisolated(unsafe) private static let modes = UnsafeMutablePointer<termios>.allocate(capacity: 2)

    /// Runs something while what is typed is not shown.
    static func during<Result>(_ body: () -> Result) -> Result {
        guard tcgetattr(STDIN_FILENO, modes) == 0 else { return body() }
        modes[1] = modes[0]
        modes[1].c_lflag &= ~tcflag_t(ECHO)
        let former = signals.map(install)
        defer { for (number, var action) in zip(signals, former) { sigaction(number, &action, nil) } }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &modes[1])
        // What was pasted beyond the line is dropped: it must not reach the shell as a command.
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

    /// The handler serves once; when it raises the signal again, that does what it does by default.
    private static func handle(_ number: Int32) {
        var action = sigaction()
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_NODEFER | SA_RESTART
        action.__sigaction_handler.sa_handler = { number in
            tcsetattr(STDIN_FILENO, TCSAFLUSH, HiddenEcho.modes)
            raise(number)
            // It was stopped, and goes on.
            HiddenEcho.handle(number)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &HiddenEcho.modes[1])
        }
        sigaction(number, &action, nil)
    }
}
