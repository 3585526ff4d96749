import Glibc
import Vault

enum StandardOutput {
    /// Whoever was to read the output has gone away.
    struct ClosedPipe: Error {}

    static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// The terminal's width; nil if it is not known, or there is no terminal.
    static var columns: Int? { SystemCall.columns(of: STDOUT_FILENO) }

    /// - Throws: ``ClosedPipe``, ``CommandError``.
    static func write(_ text: String) throws {
        var text = text
        let error = text.withUTF8 { SystemCall.writeAll(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) }
        try check(error)
    }

    static func write(_ bytes: [UInt8]) throws {
        try check(bytes.withUnsafeBytes { SystemCall.writeAll($0, to: STDOUT_FILENO) })
    }

    /// Straight from guarded memory, through no buffer.
    static func write(_ secret: borrowing SecretBytes) throws {
        try check(secret.withUnsafeBytes { SystemCall.writeAll($0, to: STDOUT_FILENO) })
    }

    private static func check(_ error: Int32) throws {
        if error == EPIPE { throw ClosedPipe() }
        if error != 0 { throw CommandError.system("Standard output could not be written", error) }
    }
}

enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

    /// The terminal's width; nil if it is not known, or there is no terminal.
    static var columns: Int? { SystemCall.columns(of: STDERR_FILENO) }

    /// Writes lines for a person. Where that fails there is nobody to be told.
    static func write(_ text: String) {
        var text = text
        _ = text.withUTF8 { SystemCall.writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
    }
}
