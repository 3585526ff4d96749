import CLinux
import Glibc
import LinuxSystem
import Sealing

/// Runs a program as a child, hides secrets in what it prints, and stands in for it towards everybody else: signals are
/// passed on, and the end is the child's.
///
/// If standard output or standard error is a terminal, the child has a terminal of its own in its place, in a session
/// of its own. Otherwise it stays in this process's group, and the terminal's signals reach both.
struct RedactedRun: ~Copyable {
    /// Milliseconds after which a few bytes that may be the beginning of a secret are shown. So long is also waited for
    /// more output once the program has ended.
    private static let pause: Int32 = 50

    private let signals: AwaitedSignals
    private let child: pid_t
    /// What the child prints.
    private let outputs: [Relay]
    /// What is typed for the child.
    private let input: Relay?
    private let terminal: PseudoTerminal?
    /// The stream that shows what the child writes to its terminal.
    private let screen: Int32
    /// The person's terminal, while the child reads its keys.
    private let keyboard: RawTerminal?

    /// Runs the program to its end.
    static func end(
        of program: consuming ProgramStart, hiding patterns: [Redactor.Pattern]
    ) throws -> ChildProcess.Exit {
        try RedactedRun(program, patterns).relay()
    }

    private init(_ program: borrowing ProgramStart, _ patterns: [Redactor.Pattern]) throws {
        let signals = try AwaitedSignals()
        let shown = (output: isatty(STDOUT_FILENO) == 1, error: isatty(STDERR_FILENO) == 1)
        let isTyped = (shown.output || shown.error) && !program.hasInput && isatty(STDIN_FILENO) == 1
        let screen = shown.output ? STDOUT_FILENO : STDERR_FILENO
        let terminal = shown.output || shown.error ? try PseudoTerminal(like: screen, isRaw: isTyped) : nil
        var outputs = terminal.map { [Relay(sharing: $0.outer.number, to: screen, hiding: patterns)] } ?? []
        var ends: [Int32] = []
        defer { for end in ends { close(end) } }
        let output = try shown.output ? .terminal : Self.pipe(to: STDOUT_FILENO, patterns, &outputs, &ends)
        let error = try shown.error ? .terminal : Self.pipe(to: STDERR_FILENO, patterns, &outputs, &ends)
        child = try program.startChild(
            input: isTyped ? .terminal : .same, output: output, error: error, terminal: terminal?.path,
            signals: signals.former)
        self.signals = signals
        self.outputs = outputs
        self.terminal = terminal
        self.screen = screen
        input = isTyped ? terminal.map { Relay(sharing: STDIN_FILENO, to: $0.outer.number) } : nil
        keyboard = isTyped ? RawTerminal(STDIN_FILENO) : nil
    }

    /// Opens a pipe for one of the child's streams. Adds the end that becomes the child's to `ends`.
    private static func pipe(
        to stream: Int32, _ patterns: [Redactor.Pattern], _ outputs: inout [Relay], _ ends: inout [Int32]
    ) throws(CommandError) -> ProgramStart.Stream {
        guard !ProcessState.former.closedStreams.contains(stream) else { return .same }
        var pipe: [Int32] = [-1, -1]
        guard vault_pipe(&pipe) == 0 else { throw .system("No pipe can be opened", errno) }
        outputs.append(Relay(from: FileDescriptor(owning: pipe[0]), to: stream, hiding: patterns))
        ends.append(pipe[1])
        return .descriptor(pipe[1])
    }

    // MARK: Relaying

    private func relay() throws -> ChildProcess.Exit {
        var buffer = try SecretBytes(zeros: 4_096)
        var exit: ChildProcess.Exit?
        while exit == nil || outputs.contains(where: { !$0.hasEnded || !$0.isIdle }) {
            let relays = outputs + [input].compactMap { exit == nil ? $0 : nil }
            var polled = [pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)]
            polled += relays.map(\.interest)
            let isWaitingForMore = exit != nil && outputs.allSatisfy(\.isIdle)
            let timeout = isWaitingForMore || outputs.contains(where: \.holdsLittle) ? RedactedRun.pause : -1
            let ready = try SystemCall.retrying("The program's output could not be awaited") {
                poll(&polled, nfds_t(polled.count), timeout)
            }
            if ready == 0 {
                // Another process that the program has started may keep its streams open.
                if isWaitingForMore { break }
                for output in outputs where output.holdsLittle { output.flush() }
            }
            if polled[0].revents != 0, let end = takeSignal() { exit = end }
            for (relay, state) in zip(relays, polled.dropFirst()) where state.revents != 0 { relay.proceed(&buffer) }
        }
        for output in outputs { output.finish() }
        // A reader or a terminal that is gone has ended the program, as without this process between them.
        let failure = outputs.compactMap(\.failure).first { $0 != EPIPE && $0 != EIO }
        if let failure { throw CommandError.unwritableOutput(failure) }
        return exit ?? .unseen
    }

    /// Returns the child's end, if that is what the signal tells.
    private func takeSignal() -> ChildProcess.Exit? {
        let (number, isFromKernel) = signals.next()
        switch number {
        case ...0: return nil
        case SIGCHLD: return ChildProcess.exit(of: child)
        case SIGWINCH: terminal?.takeSize(of: screen)
        default:
            // A signal of the terminal's has reached the child, unless it is in a session of its own. That the terminal
            // is gone may be told to this process alone.
            if !isFromKernel || number == SIGHUP && terminal == nil {
                kill(child, number)
            } else if terminal != nil {
                kill(-child, number)
            }
            if number == SIGTSTP { stop() }
        }
        return nil
    }

    private func stop() {
        keyboard?.end()
        raise(SIGSTOP)
        keyboard?.begin()
    }
}

/// Signals that are not delivered, but read: those that are passed on to a child, and those that tell something.
private struct AwaitedSignals: ~Copyable {
    private static let numbers = [
        SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD, SIGWINCH,
    ]

    private let pending: FileDescriptor
    /// The signals that were blocked before.
    let former: sigset_t

    /// Leaves out those that the process was told to ignore.
    init() throws(CommandError) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in Self.numbers where !ProcessState.isIgnored(number) { sigaddset(&signals, number) }
        var former = sigset_t()
        sigprocmask(SIG_BLOCK, &signals, &former)
        let problem = "Signals cannot be received"
        let number = try SystemCall.retrying(problem) { vault_signal_descriptor(&signals) }
        pending = FileDescriptor(owning: number)
        self.former = former
    }

    /// Readable when one is pending.
    var descriptor: Int32 { pending.number }

    /// Takes one that is pending; -1 if none is.
    func next() -> (number: Int32, isFromKernel: Bool) {
        var isFromKernel: Int32 = 0
        let number = vault_next_signal(pending.number, &isFromKernel)
        return (number, isFromKernel != 0)
    }
}

extension ChildProcess.Exit {
    /// Ends this process in the same way.
    func endThisProcess() -> Never {
        switch self {
        case .status(let status): exit(status)
        case .unseen: exit(ExitCode.notStarted.rawValue)
        case .signal(let number):
            Glibc.signal(number, SIG_DFL)
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, number)
            sigprocmask(SIG_UNBLOCK, &signals, nil)
            raise(number)
            // The first process of a container outlives a signal's default action.
            exit(128 + number)
        }
    }
}
