/// Quotes words so that a shell reads them unchanged.
package enum ShellQuoting {
    package enum Shell: String, CaseIterable, Sendable {
        /// Every shell that follows POSIX, such as dash, bash and zsh.
        case sh
        case fish
    }

    package static func quoted(_ word: String, for shell: Shell = .sh) -> String {
        var result: [UInt8] = []
        quote(word.utf8, for: shell) { result.append($0) }
        return String(decoding: result, as: UTF8.self)
    }

    /// Quotes bytes for a shell, one by one. Between single quotation marks, all bytes represent themselves, even
    /// newlines and control characters. Only zero cannot be part of a word in any shell.
    package static func quote(_ bytes: some Sequence<UInt8>, for shell: Shell, _ write: (UInt8) -> Void) {
        let quote = UInt8(ascii: "'")
        let backslash = UInt8(ascii: "\\")
        write(quote)
        for byte in bytes {
            switch (shell, byte) {
            // sh has no escape: the quotation ends, and another begins.
            case (.sh, quote): [quote, backslash, quote, quote].forEach(write)
            case (.fish, quote), (.fish, backslash): [backslash, byte].forEach(write)
            default: write(byte)
            }
        }
        write(quote)
    }
}
