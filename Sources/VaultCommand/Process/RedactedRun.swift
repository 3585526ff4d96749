import CLinux
import Glibc
import LinuxSystem
import Sealing

/// A program that runs as a child, with secrets replaced in its output. This process passes signals on to the child,
/// and ends with the child's exit status. If this process is killed, the kernel kills the child.
///
/// If standard output or standard error is a terminal, the child gets its own terminal in a new session. Otherwise, the
/// child stays in this process's group, and the terminal's signals reach both processes.
struct RedactedRun: ~Copyable {
    /// How long, in milliseconds, to hold back a few bytes that may be the start of a secret. After the program has
    /// ended, this process waits just as long for more output.
    private static let pause: Int32 = 50
    /// How often, in milliseconds, to check whether this process is in the foreground. No signal reports this.
    private static let glance: Int32 = 100

    private let signals: AwaitedSignals
    private let child: pid_t
    private let outputs: [Relay]
    private let input: Relay?
    private let terminal: PseudoTerminal?
    /// The stream to which the output from the child's terminal is written.
    private let screen: Int32
    /// The user's terminal; nil if the child does not receive the keys typed there.
    private let keyboard: RawTerminal?

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
        keyboard = isTyped ? RawTerminal(STDIN_FILENO) : nil
        input = keyboard.flatMap { keyboard in terminal.map { Relay(keysOf: keyboard, to: $0.outer.number) } }
    }

    /// Opens a pipe for one of the child's streams, and adds the child's end of the pipe to `ends`.
    private static func pipe(
        to stream: Int32, _ patterns: [Redactor.Pattern], _ outputs: inout [Relay], _ ends: inout [Int32]
    ) throws(CommandError) -> ProgramStart.Stream {
        guard !ProcessState.former.closedStreams.contains(stream) else { return .same }
        var pipe: [Int32] = [-1, -1]
        guard vault_pipe(&pipe) == 0 else { throw .system("Cannot open a pipe", errno) }
        outputs.append(Relay(from: FileDescriptor(owning: pipe[0]), to: stream, hiding: patterns))
        ends.append(pipe[1])
        return .descriptor(pipe[1])
    }

    private func relay() throws -> ChildProcess.Exit {
        var buffer = try SecretBytes(zeros: 4_096)
        var exit: ChildProcess.Exit?
        var isStopping = false
        while exit == nil || outputs.contains(where: { !$0.hasEnded || !$0.isIdle }) {
            followTerminal()
            let relays = outputs + [input].compactMap { exit == nil ? $0 : nil }
            var polled = [pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)]
            polled += relays.map(\.interest)
            let isWaitingForMore = exit != nil && outputs.allSatisfy(\.isIdle)
            let isPausing = isWaitingForMore || outputs.contains(where: \.holdsLittle)
            let idle = keyboard?.isInUse == false ? RedactedRun.glance : -1
            let patience = isStopping ? 0 : isPausing ? RedactedRun.pause : idle
            let ready = try SystemCall.retrying("Cannot wait for the program's output") {
                poll(&polled, nfds_t(polled.count), patience)
            }
            if ready == 0 {
                // If the program has ended, another process that it started may still keep the streams open.
                if isWaitingForMore { break }
                let holding = outputs.filter(\.holdsLittle)
                for output in holding { output.flush() }
                // Before this process stops, it shows the output that the child wrote before stopping.
                if isStopping, holding.isEmpty {
                    isStopping = false
                    stop()
                }
            }
            if polled[0].revents != 0, let end = takeSignal(&isStopping) { exit = end }
            for (relay, state) in zip(relays, polled.dropFirst()) where state.revents != 0 {
                let isShown = terminal != nil && relay !== input
                signals.withJobControl(at: isShown ? screen : nil) { relay.proceed(&buffer) }
            }
        }
        for output in outputs { output.finish() }
        // EPIPE and EIO only mean that a reader or a terminal is gone. The run still ends with the child's exit status.
        let failure = outputs.compactMap(\.failure).first { $0 != EPIPE && $0 != EIO }
        if let failure { throw CommandError.unwritableOutput(failure) }
        return exit ?? .unseen
    }

    /// Takes a signal, and passes it on or handles a change of the child's state. Returns the exit of an ended child.
    ///
    /// - Parameter isStopping: set to whether the child has stopped, because this process must then stop too.
    private func takeSignal(_ isStopping: inout Bool) -> ChildProcess.Exit? {
        guard let signal = signals.next() else { return nil }
        if signal.number == SIGCHLD {
            while let change = ChildProcess.change(of: child) {
                isStopping = change == .stopped
                if case .ended(let exit) = change { return exit }
            }
        }
        if signal.number == SIGCONT {
            isStopping = false
            keyboard?.forget()
        }
        pass(on: signal)
        return nil
    }

    private func pass(on signal: vault_signal) {
        // SIGCHLD for the child and signals that this process caused, such as SIGPIPE, are not passed on.
        guard signal.is_of_child == 0, signal.sender != getpid() else { return }
        var number = signal.number
        let isTerminals = signal.is_from_kernel != 0 && SignalSet.ofTerminal.contains(number)
        guard let terminal else {
            // The kernel has already sent the terminal's signals to the child, which is in this process's group.
            if !isTerminals { kill(child, number) }
            return
        }
        if number == SIGWINCH {
            terminal.takeSize(of: screen)
            // The kernel notifies the child of a new size, so the signal from the user's terminal is not passed on.
            if isTerminals { return }
        }
        // No other process in the child's session could continue the child after a stop. The kernel therefore ignores
        // stop signals that the child does not handle, so SIGSTOP is sent instead.
        if SignalSet.stopping.contains(number), handlesOrIgnores(number, process: child) != true { number = SIGSTOP }
        kill(signal.is_from_kernel != 0 || [SIGSTOP, SIGCONT].contains(number) ? -child : child, number)
    }

    /// Stops this process after the child has stopped, so that the parent process sees the same state.
    private func stop() {
        keyboard?.end()
        raise(SIGSTOP)
        keyboard?.forget()
        terminal?.takeSize(of: screen)
    }

    /// Uses the user's terminal only in the foreground, so that a background job behaves as the program alone would.
    private func followTerminal() {
        guard case .taken(let modes)? = keyboard?.follow(interruptedBy: signals.descriptor) else { return }
        if let modes { terminal?.take(modes) }
        terminal?.takeSize(of: screen)
    }
}

/// The signals in ``SignalSet/catchable``, read from a descriptor instead of being delivered. Most are passed on to the
/// child; SIGCHLD reports its state. Signals that this process ignores are included: the child might not ignore them.
private struct AwaitedSignals: ~Copyable {
    private let pending: FileDescriptor
    /// The signals that were blocked before this value was created.
    let former: SignalSet

    init() throws(CommandError) {
        former = SignalSet.catchable.block()
        let problem = "Signals cannot be received"
        let number = try SystemCall.retrying(problem) { vault_signal_descriptor(SignalSet.catchable.bits) }
        pending = FileDescriptor(owning: number)
    }

    /// A descriptor that is readable when a signal is pending.
    var descriptor: Int32 { pending.number }

    /// Consumes and returns a pending signal, or returns nil if none is pending.
    func next() -> vault_signal? {
        var signal = vault_signal()
        return vault_next_signal(pending.number, &signal) == 0 ? signal : nil
    }

    /// Runs `body`. If this process is in the background of `terminal`, unblocks SIGTTIN and SIGTTOU, so that job
    /// control stops it when `body` uses the terminal. Otherwise, `body` would fail or disturb the foreground programs.
    func withJobControl<Result>(at terminal: Int32?, _ body: () -> Result) -> Result {
        guard let terminal, !ProcessState.isInFront(at: terminal) else { return body() }
        let signals = SignalSet([SIGTTIN, SIGTTOU])
        signals.unblock()
        defer { signals.block() }
        return body()
    }
}

extension ChildProcess.Exit {
    /// Ends this process with the child's exit status or signal.
    func endThisProcess() -> Never {
        switch self {
        case .status(let status): exit(status)
        case .unseen: exit(ExitCode.notStarted.rawValue)
        case .signal(let number):
            Glibc.signal(number, SIG_DFL)
            SignalSet([number]).unblock()
            raise(number)
            // The first process in a container survives a signal's default action, and exits with a status instead.
            exit(128 + number)
        }
    }
}
