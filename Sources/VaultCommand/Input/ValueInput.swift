import Glibc
import Sealing
import Vault

/// Reads the value that `set` stores, straight into guarded memory.
enum ValueInput {
    /// Reads a file byte for byte.
    static func readFile(at path: String) throws -> SecretBytes {
        let (opened, error) = SystemCall.retrying { Int(open(path, O_RDONLY | O_CLOEXEC)) }
        guard let opened else { throw CommandError.system("\(path) could not be opened", error) }
        defer { close(Int32(opened)) }
        return try read(from: Int32(opened), named: path, isExact: true)
    }

    /// Reads a pipe or a file to its end. Errors name the `source`. An exact value keeps its final newline.
    static func read(from descriptor: Int32, named source: String, isExact: Bool) throws -> SecretBytes {
        guard isatty(descriptor) == 0 else { throw UsageError.visibleInput(source) }
        let largest = Keychain.maximumValueSize
        // One byte more than the largest value with its newline is enough to refuse it.
        let value = try SecretBytes.growing(from: likelySize(descriptor), to: largest + 2) { buffer, used in
            while used < buffer.count {
                let free = UnsafeMutableRawBufferPointer(rebasing: buffer[used...])
                let (count, error) = SystemCall.retrying { Glibc.read(descriptor, free.baseAddress, free.count) }
                guard let count else { throw CommandError.system("\(source) could not be read", error) }
                if count == 0 {
                    if !isExact { dropFinalNewline(buffer, &used) }
                    return true
                }
                used += count
            }
            return false
        }
        guard value.count <= largest else { throw CommandError.tooLarge }
        return value
    }

    /// Drops the final newline if it is the only one: `echo` adds one to a token, but a private key of several lines
    /// includes its last one. A carriage return is part of the value.
    private static func dropFinalNewline(_ bytes: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        let newline = UInt8(ascii: "\n")
        if used > 0, bytes[used - 1] == newline, !bytes[..<(used - 1)].contains(newline) {
            used -= 1
        }
    }

    /// Returns a file's size and one byte more, so that reading it needs no growing; a page for anything else.
    private static func likelySize(_ descriptor: Int32) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 4096 }
        return max(4096, status.st_size + 1)
    }

    // MARK: At the terminal

    /// How long to wait after the byte of Esc before it counts as that key: the bytes of other keys arrive together.
    private static let escapeMilliseconds: Int32 = 50

    /// Asks for a value twice, without showing it.
    ///
    /// - Throws: ``CommandError``: refused if the two inputs differ, or if Ctrl-D cancels an empty one.
    static func ask(for name: String) throws -> SecretBytes {
        let terminal = try HiddenTerminal.open()
        let first = try readLine("Value of \(name.forTerminal) (not shown): ", terminal)
        let second = try readLine("Repeat the value: ", terminal)
        guard first.isEqual(to: second) else {
            throw CommandError.refused("The two inputs differ; nothing was stored.")
        }
        return first
    }

    private static func readLine(_ prompt: String, _ terminal: borrowing HiddenTerminal) throws -> SecretBytes {
        let descriptor = terminal.descriptor
        SystemCall.writeAll(prompt, to: descriptor)
        // The newline that was typed is not shown either.
        defer { SystemCall.writeAll("\n", to: descriptor) }
        var editor = LineEditor(keys: terminal.keys)
        return try SecretBytes.growing(from: 4096, to: Keychain.maximumValueSize + 1) { line, used in
            while used < line.count {
                let patience = editor.awaitsEscape ? escapeMilliseconds : -1
                switch try terminal.next(to: line.baseAddress! + used, within: patience) {
                case .byte:
                    switch editor.takeByte(line, &used) {
                    case .goesOn: break
                    case .finished: return true
                    case .cancelled: throw CommandError.refused("Cancelled; nothing was stored.")
                    }
                case .pause: editor.endEscape()
                case .interruption:
                    editor = LineEditor(keys: terminal.keys)
                    used = 0
                    SystemCall.writeAll(prompt, to: descriptor)
                case .end: throw CommandError.system("The terminal could not be read", EIO)
                }
            }
            return false
        }
    }
}

extension SecretBytes {
    /// Reads an input of unknown length into guarded memory, which is doubled as needed. One that fills `limit` bytes
    /// is refused.
    ///
    /// - Parameter fill: gets the memory and how many of its bytes are used, and uses more. It returns true at the end
    ///   of the input, false once the memory is full.
    fileprivate static func growing(
        from capacity: Int, to limit: Int, _ fill: (UnsafeMutableRawBufferPointer, inout Int) throws -> Bool
    ) throws -> SecretBytes {
        var isComplete = false
        func filled(_ size: Int, _ start: UnsafeRawBufferPointer) throws -> SecretBytes {
            try SecretBytes(unsafeCapacity: size) { buffer in
                buffer.copyMemory(from: start)
                var used = start.count
                isComplete = try fill(buffer, &used)
                return used
            }
        }
        var size = min(capacity, limit)
        var held = try filled(size, UnsafeRawBufferPointer(start: nil, count: 0))
        while !isComplete {
            guard size < limit else { throw CommandError.tooLarge }
            size = min(size * 2, limit)
            held = try held.withUnsafeBytes { try filled(size, $0) }
        }
        return held
    }
}

extension CommandError {
    static let tooLarge = invalid(
        "The value is too large (at most \(Keychain.maximumValueSize >> 20) MiB); nothing was stored.")
}
