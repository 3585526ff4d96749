import Glibc
import LinuxSystem
import Sealing

/// A relay of bytes from one descriptor to another, with secrets replaced. It never blocks, because it reads or writes
/// only when `poll` reports that the call can succeed. It writes everything that it has read before it reads more.
final class Relay {
    /// The maximum size of a read or write in bytes. A pipe that `poll` reports as writable accepts this many.
    private static let pieceSize = 4_096

    private let source: Int32
    private let target: Int32
    /// The source of the bytes, if it is a pipe. The relay then owns the pipe.
    private var pipe: FileDescriptor?
    /// The user's terminal, if the relay reads from it.
    private var keyboard: RawTerminal?
    private var redactor: Redactor
    private var pending: [UInt8] = []
    private(set) var hasEnded = false
    /// The error that stopped writing to the target; nil if there was none.
    private(set) var failure: Int32?

    /// Creates a relay from a pipe's read end. If a write to `target` fails, it closes this end, so the writer notices.
    init(from pipe: consuming FileDescriptor, to target: Int32, hiding patterns: [Redactor.Pattern]) {
        source = pipe.number
        self.target = target
        redactor = Redactor(patterns)
        self.pipe = consume pipe
    }

    init(sharing source: Int32, to target: Int32, hiding patterns: [Redactor.Pattern]) {
        self.source = source
        self.target = target
        redactor = Redactor(patterns)
    }

    /// Creates a relay for the keys that the user types while this process controls the terminal.
    init(keysOf keyboard: RawTerminal, to target: Int32) {
        source = keyboard.keys
        self.target = target
        redactor = Redactor([])
        self.keyboard = keyboard
    }

    var interest: pollfd {
        if !pending.isEmpty { return pollfd(fd: target, events: Int16(POLLOUT), revents: 0) }
        return pollfd(fd: hasEnded || keyboard?.isInUse == false ? -1 : source, events: Int16(POLLIN), revents: 0)
    }

    var isIdle: Bool { pending.isEmpty }
    var holdsLittle: Bool { redactor.holdsLittle }

    /// Reads or writes once. Call it when `poll` reports an event for ``interest``.
    ///
    /// - Parameter buffer: the buffer into which bytes are read.
    func proceed(_ buffer: inout SecretBytes) {
        if pending.isEmpty { receive(&buffer) } else { send() }
    }

    private func receive(_ buffer: inout SecretBytes) {
        // While this process is in the background, typed keys are meant for the shell and are not read.
        if let keyboard, !keyboard.isInFront { return }
        let count = buffer.withUnsafeMutableBytes { read(source, $0.baseAddress, min($0.count, Relay.pieceSize)) }
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        // If a shell has taken the terminal since the check above, the read fails, because SIGTTIN is blocked.
        if count < 0, let keyboard, !keyboard.isInFront { return }
        // Once the last program has closed its end of the pseudoterminal, reads from this process's end fail with EIO.
        guard count > 0 else {
            redactor.finish(into: &pending)
            hasEnded = true
            return
        }
        buffer.withUnsafeBytes { redactor.redact(UnsafeRawBufferPointer(rebasing: $0[..<count]), into: &pending) }
        if failure != nil { pending = [] }
    }

    /// Queues even the bytes that the redactor is holding back because they may begin a secret.
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
        pending = []
        failure = number
        guard pipe != nil else { return }
        pipe = nil
        hasEnded = true
    }

    /// Writes all remaining bytes, and blocks until they are written.
    func finish() {
        redactor.finish(into: &pending)
        while !pending.isEmpty {
            var wait = interest
            if poll(&wait, 1, -1) >= 0 { send() }
        }
    }
}
