import Foundation

/// Where a password comes from: never an argument or the environment, which other processes can see.
enum PasswordInput {
    /// Asks on the terminal, without echo; otherwise the first line of standard input.
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
            // The end of the line that is typed is not shown either.
            defer { try? FileHandle.standardError.write(contentsOf: Data("\n".utf8)) }
            return terminalLine()
        }
    }

    /// A line as it comes from the terminal, which lets go of it at once; no buffer of a library keeps it.
    private static func terminalLine() -> String? {
        // A terminal's lines are no longer.
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
