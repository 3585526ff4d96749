import Formats
import Glibc
import LinuxSystem
import SealedLog
import Sealing
import Vault

/// Other programs that a command runs, and the words of their command lines.
enum OtherProgram {
    /// Runs a program, which writes its own complaints to standard error, and returns the line that it prints.
    static func run(_ words: [String]) throws(CommandError) -> String {
        do throws(LogError) {
            let output = try ChildProcess.output(of: words.first ?? "", words, input: .inherited)
            guard let text = output.unsafeString() else { throw LogError(.commandFailed, "its output is not UTF-8") }
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        } catch {
            let command = words.joined(separator: " ")
            let reason = error.systemError.map { "\(error.detail): \(SystemError.words(for: $0))" } ?? error.detail
            throw CommandError(code: "other", exit: .other, message: "`\(command)` failed: \(reason).")
        }
    }

    /// Returns whether the PATH has a program of this name.
    static func isInstalled(_ name: String) -> Bool {
        (variable("PATH") ?? "").split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    /// Returns a line for a shell.
    static func line(_ words: [String]) -> String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
        return words.map { word in
            word.isEmpty || !word.allSatisfy(plain.contains) ? ShellQuoting.quoted(word) : word
        }.joined(separator: " ")
    }

    // MARK: Their files

    /// Returns the path of a program's file: what the variable says, or `path` in the home folder.
    static func path(_ path: String, orIn name: String) throws(CommandError) -> String {
        if let path = variable(name) { return absolutePath(path) }
        guard let home = variable("HOME") else {
            throw CommandError(code: "other", exit: .other, message: "HOME is not set. Set it, or \(name).")
        }
        return "\(home)/\(path)"
    }

    /// Returns the value of a variable of the environment; nil if it is unset or empty.
    private static func variable(_ name: String) -> String? {
        guard let text = getenv(name).map({ String(cString: $0) }), !text.isEmpty else { return nil }
        return text
    }
}
