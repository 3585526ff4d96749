private import CSodium

package enum Wiping {
    /// Overwrites with zeros, in a way that the compiler does not leave out.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        sodium_memzero(bytes.pointer, bytes.count)
    }

    /// Makes a call of libsodium, and overwrites what it leaves on the stack and in registers.
    ///
    /// libsodium 1.0.18 leaves the first 32 bytes of an opened box, what was hashed, the key and the result of a hash, and derived
    /// keys. Its calls were seen to use 1.9 KiB of stack, Argon2id 6.8 KiB.
    ///
    /// - Parameter size: how much of the stack to overwrite, in bytes.
    static func leavingNoTraces(_ size: Int = 4_096, _ call: () -> Int32) -> Int32 {
        let status = lowered(call)
        vault_clear_vector_registers()
        sodium_stackzero(size)
        return status
    }

    /// Makes a call from a little further down the stack: the first bytes below its caller are those that `sodium_stackzero` needs for
    /// itself, and does not overwrite.
    @inline(never)
    private static func lowered(_ call: () -> Int32) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 16) { _ in call() }
    }
}
