private import Glibc

extension FailureLog {
    /// Writes `vault: KEY: SENTENCE` and a newline to standard error. Control characters are escaped, as in `\u{a}`.
    @Sendable public static func standardErrorLine(_ error: VaultError, key: String) {
        // In one write, so that lines of several threads do not mix.
        var line = "vault: \(key): \(error.message)".escapingControlCharacters + "\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension String {
    /// A key is checked only where it is used: one from outside could pass for a line of its own.
    fileprivate var escapingControlCharacters: String {
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar.properties.generalCategory == .control {
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
