import LinuxSystem
import Vault

extension SecretBytes {
    /// Mutex memory that doubles until it holds all of an input of unknown length.
    ///
    /// - Parameters:
    ///   - limit: the largest size in bytes; an input that fills it is refused.
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
        "The value is larger than \(Keychain.maximumValueSize >> 20) MiB, the most that an entry holds; nothing was stored."
    )
}
