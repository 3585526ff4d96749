import Formats

// Words of a command line: how they are read, and how they are written so that they are read back.

extension String {
    /// Whether the word begins as options do. A single dash is an argument: by custom, standard input.
    var isOption: Bool { utf8.count > 1 && utf8.first == UInt8(ascii: "-") }

    /// The word for a shell, in quotation marks only if it needs them.
    var shellWord: String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
        return isEmpty || !utf8.allSatisfy(plain.utf8.contains) ? ShellQuoting.quoted(self) : self
    }
}
