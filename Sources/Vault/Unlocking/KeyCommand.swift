import Age
private import CLinux
private import Glibc
package import LinuxSystem
package import SealedLog
package import Sealing

/// A command whose standard output is the contents of a key file: `tpm2_unseal`, `systemd-creds decrypt`, `gpg -d`.
///
/// The shell runs it, as git runs its helpers. Its standard input is empty, since ours may carry a value; its standard
/// error is ours, and a person may answer at the terminal.
struct KeyCommand {
    let line: String
    let prompter: any PluginPrompter

    /// Runs the command, and takes its output as a key file's contents. Throws as ``ChildProcess/output(of:_:input:)``
    /// and for what cannot be a key file.
    func key() throws(LogError) -> KeyFile {
        guard !line.isEmpty else { throw LogError(.commandFailed, "it is empty") }
        let output = try ChildProcess.output(of: "/bin/sh", ["sh", "-c", line], input: .empty) {
            prompter.waiting(forCommand: line)
        }
        return try KeyFile.parse(output, from: "The output of \(line.quoted)")
    }
}

extension ChildProcess {
    /// The maximum size of the output in bytes, which is that of a key file.
    private static var outputLimit: Int { 1 << 20 }

    /// Runs a program to its end and returns what it has printed; its standard error is ours. Throws `commandFailed`,
    /// with how it ended; `outOfMemory`.
    ///
    /// - Parameter tell: called once if the program is silent for five seconds.
    package static func output(
        of program: String, _ arguments: [String], input: Input, whenSilent tell: @escaping () -> Void
    ) throws(LogError) -> SecretBytes {
        var ends: [Int32] = [-1, -1]
        guard vault_pipe(&ends) == 0 else {
            throw LogError(.commandFailed, "no pipe can be opened", systemError: errno)
        }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        var process: ChildProcess
        do throws(SystemError) {
            process = try ChildProcess(program, arguments, input: input, output: writing.number)
        } catch { throw LogError(.commandFailed, "\(program) cannot be started", systemError: error.number) }
        // Only the program has the other end from now on: its exit is the output's end.
        discard(writing)
        var wait = PatientWait(notifying: tell)
        let output = try read(reading.number, &wait)
        // One that goes on printing is ended by that.
        discard(reading)
        let exit = wait.end(of: &process)
        guard let output else { throw LogError(.commandFailed, "its output is larger than 1 MiB") }
        switch exit {
        case .status(0): return output
        case .status(let status): throw LogError(.commandFailed, "it ended with status \(status)")
        case .signal(let signal): throw LogError(.commandFailed, "signal \(signal) ended it")
        case .unseen: throw LogError(.commandFailed, "its end was not seen, since this program ignores SIGCHLD")
        }
    }

    private static func discard(_ descriptor: consuming FileDescriptor) {}

    private static func read(_ descriptor: Int32, _ wait: inout PatientWait) throws(LogError) -> SecretBytes? {
        try SecretBytes.growing(
            from: 4_096, to: outputLimit + 1, isKey: true, orThrow: { _ in LogError(.outOfMemory) },
            { (memory, used) throws(LogError) in
                let free = UnsafeMutableRawBufferPointer(rebasing: memory[used...])
                _ = wait.events(of: descriptor, Int16(POLLIN))
                let count = Glibc.read(descriptor, free.baseAddress, free.count)
                if count < 0, errno == EINTR { return false }
                guard count >= 0 else { throw LogError(.commandFailed, "its output is unreadable", systemError: errno) }
                used += count
                return count == 0
            })
    }
}
