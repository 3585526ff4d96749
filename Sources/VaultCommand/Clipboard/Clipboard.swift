import Glibc
import LinuxSystem
import Sealing
import Vault

/// A way to the clipboard: a program that serves the text to others, or an escape sequence of the terminal.
enum Clipboard: String, CaseIterable {
    case wlCopy = "wl-copy"
    case xclip, xsel
    /// OSC 52, named after the number of the escape sequence.
    case terminal = "osc52"

    /// Returns the clipboards that the environment suggests, the best first.
    static var candidates: [Clipboard] {
        let wayland: [Clipboard] = environmentVariable("WAYLAND_DISPLAY") == nil ? [] : [.wlCopy]
        let x11: [Clipboard] = environmentVariable("DISPLAY") == nil ? [] : [.xclip, .xsel]
        return wayland + x11 + (TerminalClipboard.path == nil ? [] : [.terminal])
    }

    /// Copies a text, which another process clears after some seconds. That process is started first, so that an
    /// interruption cannot leave the text in the clipboard.
    ///
    /// - Parameter seconds: the time after which the text is cleared; nil to keep it.
    /// - Returns: whether the text was copied.
    /// - Throws: ``CommandError`` if the terminal cannot take the text, or if the system fails.
    func copy(_ text: borrowing SecretBytes, clearedAfter seconds: Int?) throws -> Bool {
        guard let seconds else { return try copy(text) }
        var clearing = try ClipboardClearing.start(self, afterSeconds: seconds, unlessChangedFrom: text)
        let result = Result { try copy(text) }
        if case .success(true) = result {
            clearing.detach()
        } else {
            clearing.send(SIGTERM)
            _ = clearing.wait()
        }
        return try result.get()
    }

    private func copy(_ text: borrowing SecretBytes) throws -> Bool {
        switch self {
        case .wlCopy:
            // With a type, wl-copy starts no program to guess one. Versions before 2.3 do not support --sensitive.
            let words = ["wl-copy", "--type", "text/plain"]
            // wl-copy first writes its input to a temporary file. The runtime folder of a Wayland session is in memory.
            if let folder = ScratchFolder.runtimeFolder { setenv("TMPDIR", folder, 1) }
            return try Clipboard.feed(text, to: words + ["--sensitive"]) || Clipboard.feed(text, to: words)
        case .xclip: return try Clipboard.feed(text, to: Clipboard.xclipInput)
        case .xsel: return try Clipboard.feed(text, to: ["xsel", "--clipboard", "--input"])
        case .terminal:
            guard let path = TerminalClipboard.path else { return false }
            return try TerminalClipboard.copy(text, to: path)
        }
    }

    /// Returns the contents of the clipboard; nil if they cannot be read, as in a terminal.
    func contents() throws -> SecretBytes? {
        switch self {
        case .wlCopy: try Clipboard.output(of: ["wl-paste", "--no-newline", "--type", "text/plain"])
        case .xclip: try Clipboard.output(of: ["xclip", "-selection", "clipboard", "-out"])
        case .xsel: try Clipboard.output(of: ["xsel", "--clipboard", "--output"])
        case .terminal: nil
        }
    }

    /// - Parameter terminal: the path of the terminal to which the text was copied.
    func clear(_ terminal: String) throws {
        let nothing = try SecretBytes(zeroCount: 0)
        switch self {
        case .wlCopy: _ = try Clipboard.feed(nothing, to: ["wl-copy", "--clear"])
        // xclip cannot clear the clipboard, but can serve another text: an empty one.
        case .xclip: _ = try Clipboard.feed(nothing, to: Clipboard.xclipInput)
        case .xsel: _ = try Clipboard.feed(nothing, to: ["xsel", "--clipboard", "--clear"])
        case .terminal: TerminalClipboard.clear(terminal)
        }
    }

    private static let xclipInput = ["xclip", "-selection", "clipboard", "-in"]

    /// Runs a program with a text as its standard input, which process lists do not show. Returns whether it succeeded.
    private static func feed(_ text: borrowing SecretBytes, to words: [String]) throws -> Bool {
        let pipe = try Pipe()
        guard var process = try start(words, input: .descriptor(pipe.reading.number)) else { return false }
        // With this end open, writing would block forever if the program ended without reading.
        discard(pipe.reading)
        let number = pipe.writing.number
        _ = text.withUnsafeBytes { SystemCall.writeAll($0, to: number) }
        discard(pipe.writing)
        return process.wait() == .status(0)
    }

    /// Returns the output of a program; nil if it failed.
    private static func output(of words: [String]) throws -> SecretBytes? {
        let pipe = try Pipe()
        guard var process = try start(words, input: .empty, output: pipe.writing.number) else { return nil }
        discard(pipe.writing)
        let output = try ValueInput.read(from: pipe.reading.number, named: words[0], isExact: true)
        guard process.wait() == .status(0) else { return nil }
        return output
    }

    /// Starts a program that may keep running in the background to serve the text, and therefore gets none of the
    /// standard streams. Returns nil if the program is not installed.
    private static func start(
        _ words: [String], input: ChildProcess.Input, output: Int32? = nil
    ) throws -> ChildProcess? {
        let nothing = FileDescriptor(owning: open("/dev/null", O_RDWR | O_CLOEXEC))
        do throws(SystemError) {
            return try ChildProcess(
                words[0], words, input: input, output: output ?? nothing.number, errors: nothing.number,
                outlivesTerminal: true)
        } catch {
            if error.isMissing { return nil }
            throw CommandError.system("\(words[0]) could not be started", error.number)
        }
    }
}
