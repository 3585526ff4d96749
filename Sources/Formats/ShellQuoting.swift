/// Words that a shell takes as they are.
package enum ShellQuoting {
    package enum Shell: String, CaseIterable, Sendable {
        /// Every shell that follows POSIX, such as dash, bash and zsh.
        case sh
        case fish
    }

    /// Quotes a word for a shell.
    package static func quoted(_ word: String, for shell: Shell = .sh) -> String {
        var result: [UInt8] = []
        quote(word.utf8, for: shell) { result.append($0) }
        return String(decoding: result, as: UTF8.self)
    }

    /// Quotes bytes for a shell, one byte after the other. All bytes but zero, which no shell can hold, stand for
    /// themselves between single quotation marks, newlines and control characters too.
    package static func quote(_ bytes: some Sequence<UInt8>, for shell: Shell, _ write: (UInt8) -> Void) {
        let (quote, backslash) = (UInt8(ascii: "'"), UInt8(ascii: "\\"))
        write(quote)
        for byte in bytes {
            switch (shell, byte) {
            // In sh there is no escape: the quotation ends, and begins anew.
            case (.sh, quote): [quote, backslash, quote, quote].forEach(write)
            case (.fish, quote), (.fish, backslash): [backslash, byte].forEach(write)
            default: write(byte)
            }
        }
        write(quote)
    }
}
