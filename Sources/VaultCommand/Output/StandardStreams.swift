import Glibc
import Vault

enum StandardOutput {
    static let isTerminal = isatty(STDOUT_FILENO) == 1

    static func write(_ text: String) throws(CommandError) {
        var text = text
        let error = text.withUTF8 { SystemCall.writeAll(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) }
        try check(error)
    }

    static func write(_ bytes: [UInt8]) throws(CommandError) {
        try check(bytes.withUnsafeBytes { SystemCall.writeAll($0, to: STDOUT_FILENO) })
    }

    /// Straight from guarded memory, through no buffer.
    static func write(_ secret: borrowing SecretBytes) throws(CommandError) {
        try check(secret.withUnsafeBytes { SystemCall.writeAll($0, to: STDOUT_FILENO) })
    }

    private static func check(_ error: Int32) throws(CommandError) {
        if error != 0 { throw .system("Standard output could not be written", error) }
    }
}

enum StandardError {
    /// Writes lines for a person. Where that fails there is nobody to be told.
    static func write(_ text: String) {
        var text = text
        _ = text.withUTF8 { SystemCall.writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
    }
}
