@preconcurrency private import Glibc
import LinuxSystem
import Sealing

/// The program of a plugin while it runs. One socket is its standard input and output; its standard error is ours.
///
/// A socket, not pipes: it can be written to without SIGPIPE, which would end this process if the plugin had ended.
struct PluginProcess: ~Copyable {
    /// How long a plugin may take to end by itself once its input has ended, and then once more after SIGTERM.
    private static let patience = 200
    private static let pause: UInt32 = 10_000

    let program: String
    private let socket: FileDescriptor
    private let process: pid_t
    /// As waitpid(2) reports it; nil while the process was not waited for.
    private var status: Int32?

    /// Starts `age-plugin-NAME`. Throws `plugin`.
    ///
    /// - Parameter folders: those to look in, with colons between them; nil for those of PATH.
    init(_ name: String, in folders: String?, stateMachine: String) throws(AgeError) {
        let program = "age-plugin-" + name
        guard PluginName.isValid(name), let path = PluginProcess.path(of: program, in: folders) else {
            throw AgeError(.plugin, "the plugin \(program) is not installed (not in PATH)")
        }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw PluginProcess.unstartable(program, errno)
        }
        let own = FileDescriptor(owning: ends[0])
        let other = FileDescriptor(owning: ends[1])
        guard own.number >= 0, other.number >= 0 else { throw PluginProcess.unstartable(program, errno) }
        var started: pid_t = 0
        let error = PluginProcess.spawn(path, [program, "--age-plugin=" + stateMachine], other.number, &started)
        guard error == 0 else { throw PluginProcess.unstartable(program, error) }
        self.program = program
        socket = own
        process = started
    }

    deinit {
        if status == nil { _ = PluginProcess.end(process, socket.number) }
    }

    private static func unstartable(_ program: String, _ error: Int32) -> AgeError {
        AgeError(.plugin, "the plugin \(program) cannot be started: \(SystemError.words(for: error))")
    }

    // MARK: Starting

    /// Returns where the program is; nil if it is in none of the folders. Relative ones do not count: the program that
    /// handles a key must not depend on the folder in which a person works.
    private static func path(of program: String, in folders: String?) -> String? {
        guard let folders = folders ?? getenv("PATH").map({ String(cString: $0) }) else { return nil }
        return folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(program)" }.first { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
        }
    }

    /// Returns 0, or why it failed. Everything else that this process has open is closed in the new one.
    private static func spawn(_ path: String, _ arguments: [String], _ socket: Int32, _ process: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { return ENOMEM }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnattr_init(&attributes) == 0 else { return ENOMEM }
        defer { posix_spawnattr_destroy(&attributes) }
        for standard in [STDIN_FILENO, STDOUT_FILENO] {
            let error = posix_spawn_file_actions_adddup2(&actions, socket, standard)
            guard error == 0 else { return error }
        }
        // This process may have blocked signals, or ignore those of closed pipes and full files: the plugin does not.
        var (none, defaults) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&defaults)
        for number in [SIGPIPE, SIGXFSZ] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var copies = arguments.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return posix_spawn(&process, path, &actions, &attributes, &copies, __environ)
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
        let status = status ?? PluginProcess.end(process, socket.number)
        self.status = status
        let how =
            switch (status & 0x7F, status >> 8 & 0xFF) {
            case (0, let code): "exit status \(code)"
            case (let signal, _): "signal \(signal)"
            }
        return AgeError(.plugin, "the plugin \(program) ended before it was done (\(how))")
    }

    /// Ends the conversation, and waits for the process, which is ended if it does not end by itself: it would stay as
    /// long as this one. Returns its status as waitpid(2) reports it.
    private static func end(_ process: pid_t, _ socket: Int32) -> Int32 {
        shutdown(socket, Int32(SHUT_RDWR))
        var status: Int32 = 0
        for signal in [SIGTERM, SIGKILL] {
            for _ in 0..<patience {
                if hasEnded(process, &status, WNOHANG) { return status }
                usleep(pause)
            }
            kill(process, signal)
        }
        _ = hasEnded(process, &status, 0)
        return status
    }

    /// A process that somebody else has waited for has ended too.
    private static func hasEnded(_ process: pid_t, _ status: inout Int32, _ options: Int32) -> Bool {
        while true {
            let found = waitpid(process, &status, options)
            if found >= 0 { return found == process }
            if errno != EINTR { return true }
        }
    }
}
