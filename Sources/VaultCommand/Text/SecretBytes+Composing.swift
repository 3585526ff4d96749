import Vault

extension SecretBytes {
    /// Creates guarded memory from the bytes that `write` emits. Calls `write` twice, first only to count them.
    init(composing write: ((UInt8) -> Void) -> Void) throws {
        var count = 0
        write { _ in count += 1 }
        try self.init(unsafeCapacity: count) { buffer in
            var used = 0
            write {
                buffer[used] = $0
                used += 1
            }
            return used
        }
    }
}
