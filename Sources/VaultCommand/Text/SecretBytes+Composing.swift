import Sealing
import Vault

extension SecretBytes {
    /// Puts what `write` emits into guarded memory of just that size. `write` runs twice, first to be counted.
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
