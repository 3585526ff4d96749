private import CSodium

package enum Wiping {
    /// Overwrites with zeros, in a way that the compiler does not leave out.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        sodium_memzero(bytes.pointer, bytes.count)
    }
}
