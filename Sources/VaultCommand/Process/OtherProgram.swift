import CLinux
import Formats
import Glibc
import LinuxSystem
import SealedFormat
import Vault

/// Other programs that a command runs, and their command lines.
enum OtherProgram {
    /// Runs a program and returns the line that it prints. The program inherits this process's standard error.
    static func run(_ words: [String]) throws(CommandError) -> String {
        do throws(LogError) {
            let output = try ChildProcess.output(of: words.first ?? "", words, input: .inherited) {
                reportWaiting("Waiting for \(words.first ?? "")")
            }
            guard let text = output.unsafeString() else { throw LogError(.commandFailed, "its output is not UTF-8") }
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        } catch {
            let command = words.joined(separator: " ")
            throw CommandError.other("`\(command)` failed: \(reason(error)).")
        }
    }

    /// Tells a user at a terminal what vault is waiting for. Scripts get no message, because they cannot react to it.
    static func reportWaiting(_ text: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        SystemCall.writeAll("vault: \(text.forTerminal), or press Ctrl-C.\n", to: STDERR_FILENO)
    }

    static func reason(_ error: LogError) -> String {
        error.systemError.map { "\(error.detail): \(SystemError.message(for: $0))" } ?? error.detail
    }

    static func path(of name: String) -> String? {
        environmentVariable("PATH").flatMap { programPath(of: name, in: $0) }
    }

    /// The command with which other programs start this one: its name if the PATH leads to this executable, otherwise
    /// the executable's path. Another program in the PATH, such as HashiCorp Vault, may have the same name.
    static var ownWord: String {
        guard let own = vault_program_path().map({ absolutePath(String(cString: $0)) }) else { return "vault" }
        let name = ["vault", "svault"].first { name in path(of: name).map { isSameFile($0, own) } ?? false }
        return name ?? own
    }

    static func isSameFile(_ one: String, _ other: String) -> Bool {
        var first = stat()
        var second = stat()
        return stat(one, &first) == 0 && stat(other, &second) == 0
            && (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
    }

    static func isInstalled(_ name: String) -> Bool { path(of: name) != nil }

    static func line(_ words: [String]) -> String { words.map(\.shellWord).joined(separator: " ") }

    /// Returns the value of the environment variable `name` or, if it is unset, `path` in the home folder.
    static func path(_ path: String, orIn name: String) throws(CommandError) -> String {
        if let path = environmentVariable(name) { return absolutePath(path) }
        guard let home = environmentVariable("HOME") else {
            throw CommandError.other("HOME is not set. Set it, or \(name).")
        }
        return "\(home)/\(path)"
    }
}
