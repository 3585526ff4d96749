import CLinux
import Glibc
import LinuxSystem

/// Runs another program and reads what it prints. Nothing secret goes either way.
enum ChildProcess {
    private static let outputLimit = 64 << 10

    /// Returns a program's standard output without its final newline.
    ///
    /// - Throws: ``CommandError`` if it cannot be started, or does not succeed; its own words are on standard error.
    static func output(of words: [String]) throws(CommandError) -> String {
        var ends: [Int32] = [-1, -1]
        guard vault_pipe(&ends) == 0 else { throw .system("\(words[0]) could not be started", errno) }
        defer { close(ends[0]) }
        let process = Result { () throws(CommandError) in try start(words, writingTo: ends[1]) }
        close(ends[1])
        var bytes: [UInt8] = []
        if case .success = process { bytes = read(ends[0]) }
        var status: Int32 = 0
        while waitpid(try process.get(), &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw CommandError(code: "other", exit: .other, message: "`\(words.joined(separator: " "))` failed.")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func start(_ words: [String], writingTo descriptor: Int32) throws(CommandError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO)
        let arguments = words.map { (word: String) in strdup(word) }
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let failure = posix_spawnp(&process, words[0], &actions, nil, arguments + [nil], environ)
        guard failure == 0 else { throw .system("\(words[0]) could not be started", failure) }
        return process
    }

    private static func read(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < outputLimit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes
    }
}
