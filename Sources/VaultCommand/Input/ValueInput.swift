import Glibc
import LinuxSystem
import Vault

/// Reads values and keys directly into guarded memory.
enum ValueInput {
    /// - Parameter limit: the maximum size in bytes; by default the maximum size of a value.
    static func readFile(at path: String, upTo limit: Int = Keychain.maximumValueSize) throws -> SecretBytes {
        let descriptor = try SystemCall.retrying("\(path) could not be opened") { open(path, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        return try read(from: descriptor, named: path, isExact: true, upTo: limit)
    }

    /// Reads a pipe or a file to its end. Keeps a final newline if `isExact` is true. Errors name the input `source`.
    static func read(
        from descriptor: Int32, named source: String, isExact: Bool, upTo largest: Int = Keychain.maximumValueSize
    ) throws -> SecretBytes {
        guard isatty(descriptor) == 0 else { throw UsageError.visibleInput(source) }
        return try readToEnd(descriptor, named: source, isExact: isExact, upTo: largest)
    }

    /// Reads another program's request from standard input until `isComplete` returns true, or to the end. Waiting for
    /// the end could block, because the program may keep the pipe open while it waits for the answer.
    static func readRequest(
        upTo largest: Int, until isComplete: (UnsafeRawBufferPointer) -> Bool = { _ in false }
    ) throws -> SecretBytes {
        do {
            return try readToEnd(STDIN_FILENO, named: "Standard input", isExact: true, upTo: largest, until: isComplete)
        } catch let error as CommandError where error == .tooLarge {
            throw CommandError.invalid("The request is larger than \(largest >> 10) KiB.")
        }
    }

    private static func readToEnd(
        _ descriptor: Int32, named source: String, isExact: Bool, upTo largest: Int = Keychain.maximumValueSize,
        until isComplete: (UnsafeRawBufferPointer) -> Bool = { _ in false }
    ) throws -> SecretBytes {
        // Two bytes beyond the maximum are enough to detect a value that is too large: one may be a final newline.
        let value = try growing(from: likelySize(descriptor), to: largest + 2) { buffer, used in
            let free = UnsafeMutableRawBufferPointer(rebasing: buffer[used...])
            let count = try SystemCall.retrying("\(source) could not be read") {
                Glibc.read(descriptor, free.baseAddress, free.count)
            }
            if count == 0, !isExact { dropFinalNewline(buffer, &used) }
            used += count
            return count == 0 || isComplete(UnsafeRawBufferPointer(rebasing: buffer[..<used]))
        }
        guard value.count <= largest else { throw CommandError.tooLarge }
        return value
    }

    /// Removes the final newline if it is the only newline. `echo` appends one to a token, but the final newline of a
    /// private key with several lines belongs to the key. A carriage return is part of the value.
    private static func dropFinalNewline(_ bytes: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        let newline = UInt8(ascii: "\n")
        if used > 0, bytes[used - 1] == newline, !bytes[..<(used - 1)].contains(newline) { used -= 1 }
    }

    /// Returns an initial buffer size: a page or, for a file, its size plus one byte, so that the buffer need not grow.
    private static func likelySize(_ descriptor: Int32) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 4096 }
        return max(4096, min(status.st_size, Keychain.maximumValueSize) + 1)
    }

    /// Reads text that is not secret from a file or, if `path` is nil, from standard input, even at a terminal.
    static func readText(at path: String?) throws -> [UInt8] {
        do {
            if let path { return try readFile(at: path).unsafeArray() }
            return try readToEnd(STDIN_FILENO, named: "Standard input", isExact: true).unsafeArray()
        } catch let error as CommandError where error == .tooLarge {
            let size = Keychain.maximumValueSize >> 20
            throw CommandError.invalid("\(path ?? "Standard input") is too large (at most \(size) MiB).")
        }
    }

    /// Reads a key's shares from standard input. A terminal shows them, because a single share reveals nothing.
    static func readShares() throws -> SecretBytes {
        if isatty(STDIN_FILENO) == 1 { StandardError.write("Enter the shares, then press Ctrl-D on a new line:\n") }
        return try readToEnd(STDIN_FILENO, named: "Standard input", isExact: true)
    }

    /// - Parameter check: called before the user repeats the value; throws if the value is invalid.
    /// - Throws: ``CommandError`` (refused) if the inputs differ, or if the user presses Ctrl-D on an empty line; any
    ///   error that `check` throws.
    static func ask(for name: String, _ check: (borrowing SecretBytes) throws -> Void) throws -> SecretBytes {
        try askTwice(
            "Value of \(name.forTerminal) (not shown): ", "Repeat the value: ", consequence: "nothing was stored", check
        )
    }

    /// - Parameter consequence: the end of the error message if the inputs differ or the user cancels the prompt.
    static func askTwice(
        _ prompt: String, _ secondPrompt: String, consequence: String,
        _ check: (borrowing SecretBytes) throws -> Void = { _ in }
    ) throws -> SecretBytes {
        let terminal = try PromptTerminal.open()
        let first = try readLine(prompt, terminal, consequence)
        try check(first)
        let second = try readLine(secondPrompt, terminal, consequence)
        guard first.isEqual(to: second) else { throw CommandError.refused("The two inputs differ; \(consequence).") }
        return first
    }

    static func readLine(
        _ prompt: String, _ terminal: borrowing PromptTerminal, _ consequence: String = "nothing was stored"
    ) throws -> SecretBytes {
        let descriptor = terminal.descriptor
        SystemCall.writeAll(prompt, to: descriptor)
        // Echo is off, so the newline that the user types is not shown, and is written here.
        defer { SystemCall.writeAll("\n", to: descriptor) }
        var editor = LineEditor(keys: terminal.keys)
        return try growing(from: 4096, to: Keychain.maximumValueSize + 1) { line, used in
            // If nothing follows Esc within 50 ms, the Esc key was pressed: other keys send all their bytes at once.
            let free = UnsafeMutableRawBufferPointer(rebasing: line[used...])
            switch try terminal.next(into: free, within: editor.awaitsEscape ? 50 : -1) {
            case .byte:
                switch editor.takeByte(line, &used) {
                case .goesOn: break
                case .finished: return true
                case .cancelled: throw CommandError.refused("Cancelled; \(consequence).")
                }
            case .pause: editor.endEscape()
            case .interruption:
                editor = LineEditor(keys: terminal.keys)
                used = 0
                SystemCall.writeAll(prompt, to: descriptor)
            }
            return false
        }
    }

    /// Reads input of unknown length. Throws if it is longer than `limit` bytes.
    private static func growing(
        from capacity: Int, to limit: Int, _ read: (UnsafeMutableRawBufferPointer, inout Int) throws -> Bool
    ) throws -> SecretBytes {
        let held = try SecretBytes.growing(from: capacity, to: limit, orThrow: { $0 as any Error }, read)
        guard let held else { throw CommandError.tooLarge }
        return held
    }
}

/// The key from `--key-fd`. A descriptor can be read only once, but a command may open its vault several times.
enum GivenKey {
    private static let held = Mutex<KeyFileContents?>(nil)

    static func contents(of descriptor: Int32) throws -> KeyFileContents {
        if let held = held.withLock({ $0 }) { return held }
        // Programs that this command runs to obtain other keys must not inherit the descriptor of this key.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let bytes = try ValueInput.read(from: descriptor, named: "Descriptor \(descriptor)", isExact: true)
        let contents = KeyFileContents(bytes)
        held.withLock { $0 = contents }
        return contents
    }
}
