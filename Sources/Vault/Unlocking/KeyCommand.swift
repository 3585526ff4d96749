import Age
private import CLinux
private import Glibc
package import LinuxSystem
package import SealedFormat

/// A command that prints the contents of a key file, such as `tpm2_unseal`, `systemd-creds decrypt` or `gpg -d`.
///
/// The command is run by the shell, as git's helpers are. Its standard input is empty, because the input of this
/// process may contain a value. It inherits standard error, and can prompt at the terminal.
struct KeyCommand {
    let line: String
    let prompter: any PluginPrompter

    /// Runs the command and parses its output as a key file. Throws the errors of
    /// ``ChildProcess/output(of:_:input:whenSilent:)``, and an error if the output is not a key file.
    func key() throws(LogError) -> KeyFile {
        guard !line.isEmpty else { throw LogError(.commandFailed, "it is empty") }
        let output = try ChildProcess.output(of: "/bin/sh", ["sh", "-c", line], input: .empty) {
            prompter.waiting(forCommand: line)
        }
        return try KeyFile.parse(output, from: "The output of \(line.quoted)")
    }
}

extension ChildProcess {
    /// The maximum size in bytes of a program's output. A key file has the same maximum size.
    private static var outputLimit: Int { 1 << 20 }

    /// Runs a program until it exits, and returns its standard output. The program inherits this process's standard
    /// error. Throws `commandFailed` with the reason, or `outOfMemory`.
    ///
    /// - Parameter tell: a closure that is called once, when the program has printed nothing for five seconds.
    package static func output(
        of program: String, _ arguments: [String], input: Input, whenSilent tell: @escaping () -> Void
    ) throws(LogError) -> SecretBytes {
        var ends: [Int32] = [-1, -1]
        guard vault_pipe(&ends) == 0 else {
            throw LogError(.commandFailed, "cannot open a pipe", systemError: errno)
        }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        var process: ChildProcess
        do throws(SystemError) {
            process = try ChildProcess(program, arguments, input: input, output: writing.number)
        } catch { throw LogError(.commandFailed, "\(program) cannot be started", systemError: error.number) }
        // The program now holds the only write end of the pipe, so the output ends when the program exits.
        discard(writing)
        var wait = PatientWait(notifying: tell)
        let output = try read(reading.number, &wait)
        // If the program is still writing, it is killed by SIGPIPE once the pipe is closed.
        discard(reading)
        let exit = wait.end(of: &process)
        guard let output else { throw LogError(.commandFailed, "its output is larger than 1 MiB") }
        switch exit {
        case .status(0): return output
        case .status(let status): throw LogError(.commandFailed, "it ended with status \(status)")
        case .signal(let signal): throw LogError(.commandFailed, "signal \(signal) ended it")
        case .unseen: throw LogError(.commandFailed, "its exit status is unknown; this program might ignore SIGCHLD")
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
