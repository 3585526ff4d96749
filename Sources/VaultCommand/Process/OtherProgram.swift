import CLinux
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
            let output = try ChildProcess.output(of: words.first ?? "", words, input: .inherited) {
                tellWaiting("Waiting for \(words.first ?? "")")
            }
            guard let text = output.unsafeString() else { throw LogError(.commandFailed, "its output is not UTF-8") }
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        } catch {
            let command = words.joined(separator: " ")
            throw CommandError(code: "other", exit: .other, message: "`\(command)` failed: \(reason(error)).")
        }
    }

    /// Tells a person what is waited for. A script has nobody who could do anything about it.
    static func tellWaiting(_ text: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        SystemCall.writeAll("vault: \(text.forTerminal), or press Ctrl-C.\n", to: STDERR_FILENO)
    }

    /// Returns why a program did not do what it was run for.
    static func reason(_ error: LogError) -> String {
        error.systemError.map { "\(error.detail): \(SystemError.message(for: $0))" } ?? error.detail
    }

    /// Returns the first program of this name on the PATH.
    static func path(of name: String) -> String? {
        environmentVariable("PATH").flatMap { programPath(of: name, in: $0) }
    }

    /// Returns the word by which another program starts this one: a name on the PATH; where that is another program's,
    /// such as HashiCorp's Vault, or there is none, the path of the executable.
    static var ownWord: String {
        guard let own = vault_program_path().map({ absolutePath(String(cString: $0)) }) else { return "vault" }
        let name = ["vault", "svault"].first { name in path(of: name).map { isSameFile($0, own) } ?? false }
        return name ?? own
    }

    static func isSameFile(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0
            && (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
    }

    /// Returns whether the PATH has a program of this name.
    static func isInstalled(_ name: String) -> Bool { path(of: name) != nil }

    /// Returns a line for a shell.
    static func line(_ words: [String]) -> String {
        words.map(\.shellWord).joined(separator: " ")
    }

    // MARK: Their files

    /// Returns the path of a program's file: what the variable says, or `path` in the home folder.
    static func path(_ path: String, orIn name: String) throws(CommandError) -> String {
        if let path = environmentVariable(name) { return absolutePath(path) }
        guard let home = environmentVariable("HOME") else {
            throw CommandError(code: "other", exit: .other, message: "HOME is not set. Set it, or \(name).")
        }
        return "\(home)/\(path)"
    }
}
