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
        guard let typed = getpass(text) else { return nil }
        // The buffer belongs to the C library, which does not wipe it.
        defer { explicit_bzero(typed, strlen(typed)) }
        return String(cString: typed)
    }
}
