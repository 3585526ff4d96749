private import Glibc
import LinuxSystem
import Sealing

/// A plugin's running program. A single socket serves as its standard input and output. The program inherits standard
/// error from this process.
///
/// A socket is used because writing to a pipe would raise SIGPIPE, and kill this process, if the plugin had exited.
struct PluginProcess: ~Copyable {
    let program: String
    private let socket: FileDescriptor
    private var process: ChildProcess

    /// Starts `age-plugin-NAME`. Throws `plugin`.
    ///
    /// - Parameter folders: the folders to search, separated by colons; nil for the folders in PATH.
    init(_ name: String, in folders: String?, stateMachine: String) throws(AgeError) {
        let program = "age-plugin-" + name
        let folders = folders ?? getenv("PATH").map { String(cString: $0) } ?? ""
        guard PluginName.isValid(name), let path = programPath(of: program, in: folders) else {
            throw AgeError(.plugin, "the plugin \(program) is not installed (not in PATH)")
        }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw PluginProcess.unstartable(program, errno)
        }
        let own = FileDescriptor(owning: ends[0])
        let other = FileDescriptor(owning: ends[1])
        guard own.number >= 0, other.number >= 0 else { throw PluginProcess.unstartable(program, errno) }
        do throws(SystemError) {
            process = try ChildProcess(
                path, [program, "--age-plugin=" + stateMachine], input: .descriptor(other.number), output: other.number)
        } catch { throw PluginProcess.unstartable(program, error.number) }
        self.program = program
        socket = own
    }

    deinit {
        // A plugin exits at the end of its input. The deinitializer of `process` then waits for that exit.
        shutdown(socket.number, Int32(SHUT_RDWR))
    }

    private static func unstartable(_ program: String, _ error: Int32) -> AgeError {
        AgeError(
            .plugin, "the plugin \(program) cannot be started: \(SystemError.message(for: error))", systemError: error)
    }

    /// Sends or receives bytes, whichever is possible first, and returns both counts. Waiting for both at the same time
    /// avoids a deadlock with a plugin that writes before it reads. Throws `plugin` if the plugin has exited.
    ///
    /// - Parameters:
    ///   - bytes: the bytes to send; if empty, the method only reads.
    ///   - buffer: the buffer for received bytes, with room for at least one.
    mutating func exchange(
        _ bytes: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer, _ wait: inout PatientWait
    ) throws(AgeError) -> (sent: Int, received: Int) {
        while true {
            let events = wait.events(of: socket.number, Int16(bytes.isEmpty ? POLLIN : POLLIN | POLLOUT))
            if !bytes.isEmpty, events & ~Int16(POLLIN) != 0 {
                let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
                let count = send(socket.number, bytes.baseAddress, bytes.count, flags)
                if count >= 0 { return (count, 0) }
                if !PluginProcess.mayTryAgain { throw ended() }
            }
            guard bytes.isEmpty || events & Int16(POLLIN) != 0 else { continue }
            let count = recv(socket.number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { return (0, count) }
            if count == 0 || !PluginProcess.mayTryAgain { throw ended() }
        }
    }

    /// Whether a system call that has failed with the current `errno` may be repeated.
    private static var mayTryAgain: Bool { errno == EINTR || errno == EAGAIN }

    /// Waits for the plugin to exit, or terminates it after two seconds. Returns an error that says how it ended.
    private mutating func ended() -> AgeError {
        shutdown(socket.number, Int32(SHUT_RDWR))
        let how =
            switch process.end() {
            case .status(let code): "exit status \(code)"
            case .signal(let signal): "signal \(signal)"
            case .unseen: "its exit status is unknown"
            }
        return AgeError(.plugin, "the plugin \(program) ended before it had finished (\(how))")
    }
}
