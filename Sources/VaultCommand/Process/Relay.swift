import Glibc
import LinuxSystem
import Sealing

/// Passes bytes from one descriptor to another, with secrets replaced. It never waits for either: a call is made when
/// `poll` says that it can be. What was read goes on before more is read.
final class Relay {
    /// Few enough for a pipe that is ready to be written to.
    private static let pieceSize = 4_096

    private let source: Int32
    private let target: Int32
    /// The source, if nothing else uses it.
    private var pipe: FileDescriptor?
    /// The source, if a person types there.
    private var keyboard: RawTerminal?
    private var redactor: Redactor
    private var pending: [UInt8] = []
    /// Whether nothing more comes.
    private(set) var hasEnded = false
    /// Why the target takes nothing more; nil as long as it does.
    private(set) var failure: Int32?

    /// Takes the end of a pipe. If the target takes nothing more, its writer learns of it.
    init(from pipe: consuming FileDescriptor, to target: Int32, hiding patterns: [Redactor.Pattern]) {
        (source, self.target, redactor) = (pipe.number, target, Redactor(patterns))
        self.pipe = consume pipe
    }

    init(sharing source: Int32, to target: Int32, hiding patterns: [Redactor.Pattern]) {
        (self.source, self.target, redactor) = (source, target, Redactor(patterns))
    }

    /// Passes on what is typed, while the terminal is this process's.
    init(keysOf keyboard: RawTerminal, to target: Int32) {
        (source, self.target, redactor) = (keyboard.keys, target, Redactor([]))
        self.keyboard = keyboard
    }

    /// What to wait for.
    var interest: pollfd {
        if !pending.isEmpty { return pollfd(fd: target, events: Int16(POLLOUT), revents: 0) }
        return pollfd(fd: hasEnded || keyboard?.isInUse == false ? -1 : source, events: Int16(POLLIN), revents: 0)
    }

    var isIdle: Bool { pending.isEmpty }
    var holdsLittle: Bool { redactor.holdsLittle }

    /// Reads or writes once, when ``interest`` is ready.
    ///
    /// - Parameter buffer: memory for what is read.
    func proceed(_ buffer: inout SecretBytes) {
        if pending.isEmpty { receive(&buffer) } else { send() }
    }

    private func receive(_ buffer: inout SecretBytes) {
        // What a shell is told is not the program's.
        if let keyboard, !keyboard.isInFront { return }
        let count = buffer.withUnsafeMutableBytes { read(source, $0.baseAddress, min($0.count, Relay.pieceSize)) }
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        // So fails what is read after the terminal has become a shell's, with the signal for that held back.
        if count < 0, let keyboard, !keyboard.isInFront { return }
        // A terminal that no program has open any more fails with EIO.
        guard count > 0 else {
            redactor.finish(into: &pending)
            hasEnded = true
            return
        }
        buffer.withUnsafeBytes { redactor.redact(UnsafeRawBufferPointer(rebasing: $0[..<count]), into: &pending) }
        if failure != nil { pending = [] }
    }

    /// Passes on what is held back, though more may come.
    func flush() { redactor.flush(into: &pending) }

    private func send() {
        let count = pending.withRawBytes { write(target, $0.baseAddress, min($0.count, Relay.pieceSize)) }
        if count >= 0 {
            pending.removeFirst(count)
        } else if errno != EINTR, errno != EAGAIN {
            breakOff(errno)
        }
    }

    private func breakOff(_ number: Int32) {
        (pending, failure) = ([], number)
        guard pipe != nil else { return }
        pipe = nil
        hasEnded = true
    }

    /// Writes all that is left, and waits for that.
    func finish() {
        redactor.finish(into: &pending)
        while !pending.isEmpty {
            var wait = interest
            if poll(&wait, 1, -1) >= 0 { send() }
        }
    }
}
