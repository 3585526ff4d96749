import Glibc
import LinuxSystem
import Vault

/// One way to set the clipboard: a program that serves the text to other programs, or a terminal escape sequence.
enum Clipboard: String, CaseIterable {
    case wlCopy = "wl-copy"
    case xclip, xsel
    /// The terminal emulator's clipboard, set by the escape sequence OSC 52.
    case terminal = "osc52"

    /// The clipboards that may work in this environment, in order of preference.
    static var candidates: [Clipboard] {
        let wayland: [Clipboard] = environmentVariable("WAYLAND_DISPLAY") == nil ? [] : [.wlCopy]
        let x11: [Clipboard] = environmentVariable("DISPLAY") == nil ? [] : [.xclip, .xsel]
        return wayland + x11 + (TerminalClipboard.path == nil ? [] : [.terminal])
    }

    /// Copies `text` to the clipboard. If there is a timeout, first starts the process that will clear the clipboard,
    /// so that an interruption cannot leave the text there.
    ///
    /// - Parameter seconds: the time after which the clipboard is cleared; nil to keep the text.
    /// - Returns: whether the text was copied.
    /// - Throws: ``CommandError`` if the text is too long for the terminal, or if a system call fails.
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
            // Without a type, wl-copy would run a program to guess it. Versions before 2.3 lack --sensitive.
            let words = ["wl-copy", "--type", "text/plain"]
            // wl-copy first copies its input to a temporary file. Setting TMPDIR keeps that file in memory.
            if let folder = ScratchFolder.runtimeFolder { setenv("TMPDIR", folder, 1) }
            return try Clipboard.feed(text, to: words + ["--sensitive"]) || Clipboard.feed(text, to: words)
        case .xclip: return try Clipboard.feed(text, to: Clipboard.xclipInput)
        case .xsel: return try Clipboard.feed(text, to: ["xsel", "--clipboard", "--input"])
        case .terminal:
            guard let path = TerminalClipboard.path else { return false }
            return try TerminalClipboard.copy(text, to: path)
        }
    }

    /// Returns the clipboard's contents, or nil if they cannot be read. A terminal's clipboard can never be read.
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
        // xclip cannot clear the clipboard, so it serves an empty string instead.
        case .xclip: _ = try Clipboard.feed(nothing, to: Clipboard.xclipInput)
        case .xsel: _ = try Clipboard.feed(nothing, to: ["xsel", "--clipboard", "--clear"])
        case .terminal: TerminalClipboard.clear(terminal)
        }
    }

    private static let xclipInput = ["xclip", "-selection", "clipboard", "-in"]

    /// Pipes text to a program, because arguments appear in process lists. Returns whether the program succeeded.
    private static func feed(_ text: borrowing SecretBytes, to words: [String]) throws -> Bool {
        let pipe = try Pipe()
        guard var process = try start(words, input: .descriptor(pipe.reading.number)) else { return false }
        // If this process kept the pipe's reading end open, the write could block forever once the program exits.
        discard(pipe.reading)
        let number = pipe.writing.number
        _ = text.withUnsafeBytes { SystemCall.writeAll($0, to: number) }
        discard(pipe.writing)
        return process.wait() == .status(0)
    }

    /// Returns the output of a program, or nil if the program failed.
    private static func output(of words: [String]) throws -> SecretBytes? {
        let pipe = try Pipe()
        guard var process = try start(words, input: .empty, output: pipe.writing.number) else { return nil }
        discard(pipe.writing)
        let output = try ValueInput.read(from: pipe.reading.number, named: words[0], isExact: true)
        guard process.wait() == .status(0) else { return nil }
        return output
    }

    /// Starts a program without this process's standard streams, because the program may keep running in the background
    /// to serve the text. Returns nil if the program is not installed.
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
