private import Glibc
import LinuxSystem
import Sealing

/// The program of a plugin while it runs. One socket is its standard input and output; its standard error is ours.
///
/// A socket, not pipes: it can be written to without SIGPIPE, which would end this process if the plugin had ended.
struct PluginProcess: ~Copyable {
    let program: String
    private let socket: FileDescriptor
    private var process: ChildProcess

    /// Starts `age-plugin-NAME`. Throws `plugin`.
    ///
    /// - Parameter folders: those to look in, with colons between them; nil for those of PATH.
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
        // The end of its input ends a plugin; the process is waited for after this.
        shutdown(socket.number, Int32(SHUT_RDWR))
    }

    private static func unstartable(_ program: String, _ error: Int32) -> AgeError {
        AgeError(.plugin, "the plugin \(program) cannot be started: \(SystemError.words(for: error))")
    }

    // MARK: Talking

    /// Sends all bytes. Throws `plugin` if the plugin has ended.
    mutating func send(_ bytes: UnsafeRawBufferPointer) throws(AgeError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = Glibc.send(socket.number, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { done += count } else if errno != EINTR { throw ended() }
        }
    }

    /// Waits for bytes, and returns how many have come, at least one. Throws `plugin` if the plugin has ended.
    mutating func receive(into buffer: UnsafeMutableRawBufferPointer) throws(AgeError) -> Int {
        while true {
            let count = recv(socket.number, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return count }
            if count == 0 || errno != EINTR { throw ended() }
        }
    }

    // MARK: Ending

    /// Waits for the plugin's end, and returns the failure that this is while it is expected to work.
    private mutating func ended() -> AgeError {
        shutdown(socket.number, Int32(SHUT_RDWR))
        let how =
            switch process.end() {
            case .status(let code): "exit status \(code)"
            case .signal(let signal): "signal \(signal)"
            case .unseen: "its exit was not seen"
            }
        return AgeError(.plugin, "the plugin \(program) ended before it was done (\(how))")
    }
}
