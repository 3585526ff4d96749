/// Quotes words so that a shell reads them unchanged.
package enum ShellQuoting {
    package enum Shell: String, CaseIterable, Sendable {
        /// Any POSIX shell, such as dash, bash or zsh.
        case sh
        case fish
    }

    package static func quoted(_ word: String, for shell: Shell = .sh) -> String {
        var result: [UInt8] = []
        quote(word.utf8, for: shell) { result.append($0) }
        return String(decoding: result, as: UTF8.self)
    }

    /// Quotes bytes for a shell, and passes the result to `write` byte by byte. Between single quotation marks, even
    /// newlines and control characters are literal. A zero byte cannot be part of a word in any shell.
    package static func quote(_ bytes: some Sequence<UInt8>, for shell: Shell, _ write: (UInt8) -> Void) {
        let quote = UInt8(ascii: "'")
        let backslash = UInt8(ascii: "\\")
        write(quote)
        for byte in bytes {
            switch (shell, byte) {
            // sh has no escape within single quotation marks, so the quotation ends and a new one begins.
            case (.sh, quote): [quote, backslash, quote, quote].forEach(write)
            case (.fish, quote), (.fish, backslash): [backslash, byte].forEach(write)
            default: write(byte)
            }
        }
        write(quote)
    }
}

extension String {
    /// The word for a command line, quoted only if a shell would change it.
    package var shellWord: String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
        return isEmpty || !utf8.allSatisfy(plain.utf8.contains) ? ShellQuoting.quoted(self) : self
    }
}
