import CLinux
import Formats
import Glibc
import LinuxSystem
import SealedFormat
import Sealing
import Vault

/// Other programs that a command runs, and their command lines.
enum OtherProgram {
    /// Runs a program, which writes its own errors to standard error, and returns the line that it prints.
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

    /// Reports a wait to the user. Scripts get no report, since they cannot react to it.
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

    /// The word by which other programs start this one. It is the name in the PATH or, if that is missing or belongs to
    /// another program such as HashiCorp's Vault, the path of the executable.
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

    /// Returns the path of a program's file, which is the value of the variable or `path` in the home folder.
    static func path(_ path: String, orIn name: String) throws(CommandError) -> String {
        if let path = environmentVariable(name) { return absolutePath(path) }
        guard let home = environmentVariable("HOME") else {
            throw CommandError.other("HOME is not set. Set it, or \(name).")
        }
        return "\(home)/\(path)"
    }
}
