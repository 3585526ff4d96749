private import CLinux
private import Glibc
import LinuxSystem
import SealedLog
import Sealing

/// A command whose standard output is the contents of a key file: `tpm2_unseal`, `systemd-creds decrypt`, `gpg -d`.
///
/// The shell runs it, as git runs its helpers. Its standard input is empty, since ours may carry a value; its standard
/// error is ours, and a person may answer at the terminal.
struct KeyCommand {
    let line: String

    /// A key file has at most so many bytes; one more shows that there were more.
    private static let outputLimit = 1 << 20 + 1

    /// Runs the command, and takes its output as a key file's contents. Throws as ``output()`` and for those.
    func key() throws(LogError) -> KeyFile { try KeyFile.parse(output(), from: "The output of `\(line)`") }

    /// Runs the command and returns its output. Throws `commandFailed`, with how it ended; `outOfMemory`.
    func output() throws(LogError) -> SecretBytes {
        guard !line.isEmpty else { throw LogError(.commandFailed, "it is empty") }
        var ends: [Int32] = [-1, -1]
        guard vault_pipe(&ends) == 0 else { throw LogError(.commandFailed, "it cannot be started", systemError: errno) }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        let process = try start(writingTo: writing.number)
        // Only the command has the other end from now on: its exit is the output's end.
        discard(writing)
        let output = Result { () throws(LogError) in try KeyCommand.read(reading.number) }
        discard(reading)
        let status = KeyCommand.wait(for: process)
        guard status == 0 else {
            let isTooLong = (try? output.get().count) == KeyCommand.outputLimit
            throw LogError(
                .commandFailed, isTooLong ? "its output is larger than 1 MiB" : KeyCommand.words(for: status))
        }
        return try output.get()
    }

    private func discard(_ descriptor: consuming FileDescriptor) {}

    private func start(writingTo descriptor: Int32) throws(LogError) -> pid_t {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO)
        // What this process ignores, such as SIGPIPE, the command must not ignore too.
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let words = ["sh", "-c", line].map { (word: String) in strdup(word) }
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, "/bin/sh", &actions, &attributes, words + [nil], environ)
        guard failure == 0 else { throw LogError(.commandFailed, "/bin/sh cannot be started", systemError: failure) }
        return process
    }

    private static func read(_ descriptor: Int32) throws(LogError) -> SecretBytes {
        var held = try secret(4_096)
        var used = 0
        while true {
            let count = held.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress?.advanced(by: used), buffer.count - used)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw LogError(.commandFailed, "its output cannot be read", systemError: errno) }
            used += count
            if count == 0 || used == outputLimit {
                held.truncate(to: used)
                return held
            }
            guard used == held.count else { continue }
            var larger = try secret(min(held.count * 2, outputLimit))
            larger.withUnsafeMutableBytes { larger in held.withUnsafeBytes { larger.copyMemory(from: $0) } }
            held = larger
        }
    }

    private static func secret(_ count: Int) throws(LogError) -> SecretBytes {
        do { return try SecretBytes(zeros: count) } catch { throw LogError(.outOfMemory) }
    }

    private static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        return status
    }

    /// How a command ended that did not succeed; `status` is that of waitpid(2).
    private static func words(for status: Int32) -> String {
        let signal = status & 0x7f
        if status < 0 { return "its end was not seen" }
        return signal == 0 ? "it ended with status \(status >> 8 & 0xff)" : "signal \(signal) ended it"
    }
}
