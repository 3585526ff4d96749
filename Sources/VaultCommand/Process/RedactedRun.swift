import CLinux
import Glibc
import LinuxSystem
import Sealing

/// Runs a program as a child, hides secrets in what it prints, and stands in for it towards everybody else: signals are
/// passed on, and the end is the child's. If this process is killed, the child is too.
///
/// If standard output or standard error is a terminal, the child has a terminal of its own in its place, in a session
/// of its own. Otherwise it stays in this process's group, and the terminal's signals reach both.
struct RedactedRun: ~Copyable {
    /// Milliseconds after which a few bytes that may be the beginning of a secret are shown. So long is also waited for
    /// more output once the program has ended.
    private static let pause: Int32 = 50
    /// So often is looked, in milliseconds, whether this process has come to the foreground: no signal says so.
    private static let glance: Int32 = 100

    private let signals: AwaitedSignals
    private let child: pid_t
    /// What the child prints.
    private let outputs: [Relay]
    /// What is typed for the child.
    private let input: Relay?
    private let terminal: PseudoTerminal?
    /// The stream that shows what the child writes to its terminal.
    private let screen: Int32
    /// The person's terminal, if the child reads its keys.
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
        keyboard = isTyped ? RawTerminal(STDIN_FILENO) : nil
        input = keyboard.flatMap { keyboard in terminal.map { Relay(keysOf: keyboard, to: $0.outer.number) } }
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
            let ready = try SystemCall.retrying("The program's output could not be awaited") {
                poll(&polled, nfds_t(polled.count), patience)
            }
            if ready == 0 {
                // Another process that the program has started may keep its streams open.
                if isWaitingForMore { break }
                let holding = outputs.filter(\.holdsLittle)
                for output in holding { output.flush() }
                // What the program has written before it stopped is shown before that is.
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
        // A reader or a terminal that is gone has ended the program, as without this process between them.
        let failure = outputs.compactMap(\.failure).first { $0 != EPIPE && $0 != EIO }
        if let failure { throw CommandError.unwritableOutput(failure) }
        return exit ?? .unseen
    }

    /// Passes on a signal, or learns from it what the child has done. Returns the child's end, if it is that.
    ///
    /// - Parameter isStopping: is set to whether the child has stopped, and this process has to.
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
        // Writing where nobody reads is told by a signal too, which this process sends to itself.
        guard signal.is_of_child == 0, signal.sender != getpid() else { return }
        var number = signal.number
        let isTerminals = signal.is_from_kernel != 0 && SignalSet.ofTerminal.contains(number)
        guard let terminal else {
            // The kernel has sent it to the child as well, which is in the same group.
            if !isTerminals { kill(child, number) }
            return
        }
        if number == SIGWINCH {
            terminal.takeSize(of: screen)
            // By that, the kernel tells the child itself.
            if isTerminals { return }
        }
        // Nothing in the child's session could continue it, so that the kernel lets no such signal stop it.
        if SignalSet.stopping.contains(number), handlesOrIgnores(number, process: child) != true { number = SIGSTOP }
        kill(signal.is_from_kernel != 0 || [SIGSTOP, SIGCONT].contains(number) ? -child : child, number)
    }

    /// Stops as the child has: who waits for this process waits for what it stands in for.
    private func stop() {
        keyboard?.end()
        raise(SIGSTOP)
        keyboard?.forget()
        terminal?.takeSize(of: screen)
    }

    /// Has the keys of the person's terminal in the foreground only: a job in the background runs as the program alone.
    private func followTerminal() {
        guard case .taken(let modes)? = keyboard?.follow(interruptedBy: signals.descriptor) else { return }
        if let modes { terminal?.take(modes) }
        terminal?.takeSize(of: screen)
    }
}

/// Signals that are not delivered, but read: all that can be, to be passed on to a child or to learn from them. A
/// signal that this process ignores may be one that the child does not.
private struct AwaitedSignals: ~Copyable {
    private let pending: FileDescriptor
    /// The signals that were blocked before.
    let former: SignalSet

    init() throws(CommandError) {
        former = SignalSet.catchable.block()
        let problem = "Signals cannot be received"
        let number = try SystemCall.retrying(problem) { vault_signal_descriptor(SignalSet.catchable.bits) }
        pending = FileDescriptor(owning: number)
    }

    /// Readable when one is pending.
    var descriptor: Int32 { pending.number }

    /// Takes one that is pending; nil if none is.
    func next() -> vault_signal? {
        var signal = vault_signal()
        return vault_next_signal(pending.number, &signal) == 0 ? signal : nil
    }

    /// Lets a terminal that other programs have stop this process when `body` uses it. With the signals for that held
    /// back, `body` would get an error, or change the terminal under the other programs.
    func withJobControl<Result>(at terminal: Int32?, _ body: () -> Result) -> Result {
        guard let terminal, !ProcessState.isInFront(at: terminal) else { return body() }
        let signals = SignalSet([SIGTTIN, SIGTTOU])
        signals.unblock()
        defer { signals.block() }
        return body()
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
            SignalSet([number]).unblock()
            raise(number)
            // The first process of a container outlives a signal's default action.
            exit(128 + number)
        }
    }
}
