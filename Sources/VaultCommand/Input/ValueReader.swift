import Glibc
import Vault

/// Reads the value that `set` stores from a pipe or a file, straight into guarded memory.
struct ValueReader {
    /// For errors: "standard input", or the file's path.
    let source: String
    /// Keeps every byte, including a final newline.
    let isExact: Bool

    func readFile(at path: String) throws -> SecretBytes {
        let (opened, error) = SystemCall.retrying { Int(open(path, O_RDONLY | O_CLOEXEC)) }
        guard let opened else { throw CommandError.system("\(source) could not be opened", error) }
        defer { close(Int32(opened)) }
        return try read(from: Int32(opened))
    }

    func read(from descriptor: Int32) throws -> SecretBytes {
        guard isatty(descriptor) == 0 else { throw UsageError.visibleInput(source) }
        let largest = Keychain.maximumValueSize
        // One byte more than the largest value with its newline is enough to refuse it.
        let value = try SecretBytes.growing(from: likelySize(descriptor), to: largest + 2) { buffer, used in
            while used < buffer.count {
                let free = UnsafeMutableRawBufferPointer(rebasing: buffer[used...])
                let (count, error) = SystemCall.retrying { Glibc.read(descriptor, free.baseAddress, free.count) }
                guard let count else { throw CommandError.system("\(source) could not be read", error) }
                if count == 0 {
                    if !isExact { used = ValueReader.sizeWithoutFinalNewline(UnsafeRawBufferPointer(buffer), used) }
                    return true
                }
                used += count
            }
            return false
        }
        guard value.count <= largest else { throw CommandError.tooLarge }
        return value
    }

    /// Returns the size without the final newline, if it is the only one: `echo` adds one to a token, but a private key
    /// of several lines includes its last one. A carriage return is part of the value.
    static func sizeWithoutFinalNewline(_ bytes: UnsafeRawBufferPointer, _ size: Int) -> Int {
        let newline = UInt8(ascii: "\n")
        guard size > 0, bytes[size - 1] == newline, !bytes[..<(size - 1)].contains(newline) else { return size }
        return size - 1
    }

    /// Returns a file's size and one byte more, so that reading it to the end needs no growing; a page for anything
    /// else.
    private func likelySize(_ descriptor: Int32) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 4096 }
        return max(4096, status.st_size + 1)
    }
}

// MARK: - Input of unknown length

extension SecretBytes {
    /// Reads an input of unknown length into guarded memory, which is doubled as needed.
    ///
    /// - Parameters:
    ///   - limit: the largest size in bytes. An input that fills it is refused.
    ///   - fill: gets the memory and how many of its bytes are used, and uses more. It returns true at the end of the
    ///     input, false once the memory is full.
    /// - Throws: ``CommandError``, and what `fill` throws.
    static func growing(
        from capacity: Int, to limit: Int, _ fill: (UnsafeMutableRawBufferPointer, inout Int) throws -> Bool
    ) throws -> SecretBytes {
        var size = min(capacity, limit)
        var isComplete = false
        var held = try SecretBytes(unsafeCapacity: size) { buffer in
            var used = 0
            isComplete = try fill(buffer, &used)
            return used
        }
        while !isComplete {
            guard size < limit else { throw CommandError.tooLarge }
            size = min(size * 2, limit)
            held = try held.withUnsafeBytes { old in
                try SecretBytes(unsafeCapacity: size) { buffer in
                    buffer.copyMemory(from: old)
                    var used = old.count
                    isComplete = try fill(buffer, &used)
                    return used
                }
            }
        }
        return held
    }
}

extension CommandError {
    static let tooLarge = invalid(
        "The value is too large (at most \(Keychain.maximumValueSize >> 20) MiB); nothing was stored."
    )
}
