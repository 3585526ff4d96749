import Formats

// Words of a command line: parsing, and quoting so that they are parsed back unchanged.

extension String {
    /// Whether the word looks like an option. A single dash is an argument: by convention, standard input.
    var isOption: Bool { utf8.count > 1 && utf8.first == UInt8(ascii: "-") }

    /// The word for a shell, quoted only if necessary.
    var shellWord: String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
        return isEmpty || !utf8.allSatisfy(plain.utf8.contains) ? ShellQuoting.quoted(self) : self
    }
}
