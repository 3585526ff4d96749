import CLinux
import CVaultCommand
import Glibc
import LinuxSystem
import Vault

/// A background process that clears the clipboard after a timeout, if the clipboard still contains the copied value.
///
/// The process runs this program under another name. It opens no vault, and receives a keyed hash instead of the value.
enum ClipboardClearing {
    /// The name of the process. Process lists show it together with the clipboard and the timeout.
    private static let programName = "vault-clear-clipboard"
    private static let keySize = 32

    /// Starts the process. Destroying the returned object terminates the process, unless the object was detached.
    ///
    /// - Throws: ``CommandError`` if the process cannot be started, or exits immediately.
    static func start(
        _ clipboard: Clipboard, afterSeconds seconds: Int, unlessChangedFrom text: borrowing SecretBytes
    ) throws -> ChildProcess {
        let pipe = try Pipe()
        let nothing = FileDescriptor(owning: open("/dev/null", O_RDWR | O_CLOEXEC))
        let words = [programName, clipboard.rawValue, String(seconds), TerminalClipboard.path ?? ""]
        let process = try started(words, input: pipe.reading.number, output: nothing.number)
        let number = pipe.writing.number
        let key = (0..<keySize).map { _ in UInt8.random(in: .min ... .max) }
        discard(pipe.reading)
        let error = try (key + hash(text, key)).withRawBytes { SystemCall.writeAll($0, to: number) }
        guard error == 0 else { throw CommandError.system("The process that clears the clipboard ended early", error) }
        return process
    }

    /// Starts this program as a new process, from /proc/self/exe or, if /proc is missing, from its executable's path.
    private static func started(_ words: [String], input: Int32, output: Int32) throws -> ChildProcess {
        let start = { (path: String) throws(SystemError) in
            try ChildProcess(
                path, words, input: .descriptor(input), output: output, errors: output, outlivesTerminal: true)
        }
        do throws(SystemError) {
            do throws(SystemError) { return try start("/proc/self/exe") } catch {
                guard error.isMissing, let path = vault_program_path() else { throw error }
                return try start(String(cString: path))
            }
        } catch {
            throw CommandError.system("The process that clears the clipboard could not be started", error.number)
        }
    }

    private static func hash(_ text: borrowing SecretBytes, _ key: [UInt8]) throws -> [UInt8] {
        try text.withUnsafeBytes { text in try key.withUnsafeBytes { try KeyedHash.hash(text, key: $0) } }
    }

    /// Whether this process was started to clear the clipboard.
    static var isThisProcess: Bool { vault_argument(0).flatMap(String.init(validatingCString:)) == programName }

    static func run(_ words: [String]) throws -> ExitCode {
        // Leaves the working directory, whose file system otherwise could not be unmounted while this process runs.
        chdir("/")
        let expected = try ValueInput.read(from: STDIN_FILENO, named: "The hash", isExact: true).unsafeArray()
        guard words.count == 3, let clipboard = Clipboard(rawValue: words[0]), let seconds = Int(words[1]),
            expected.count == keySize + KeyedHash.size
        else { return .usage }
        Clock.sleep(secondsWithSuspension: seconds)
        if clipboard != .terminal {
            let key = Array(expected.prefix(keySize))
            guard let contents = try clipboard.contents(), try key + hash(contents, key) == expected else {
                return .success
            }
        }
        try clipboard.clear(words[2])
        return .success
    }
}
