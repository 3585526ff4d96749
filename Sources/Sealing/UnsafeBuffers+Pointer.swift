// libsodium takes a pointer and a length. An empty buffer may have no address; the pointer that stands for it is
// never read, since the length beside it is 0.

extension UnsafeRawBufferPointer {
    /// The bytes as libsodium takes them.
    var pointer: UnsafePointer<UInt8> {
        baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafePointer(bitPattern: 16).unsafelyUnwrapped
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The bytes as libsodium takes them.
    var pointer: UnsafeMutablePointer<UInt8> {
        baseAddress?.assumingMemoryBound(to: UInt8.self)
            ?? UnsafeMutablePointer(bitPattern: 16).unsafelyUnwrapped
    }
}
