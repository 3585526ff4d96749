/// The bounds within which property lists are read and written, so that whatever is written can be read back.
package enum Limits {
    /// Of a file, in bytes.
    package static let size = 64 << 20
    /// Containers inside each other: a tree this deep is freed on the stack of any thread.
    package static let depth = 512
    /// Values in a tree. A binary file may refer to one object many times, and so hold a tree far larger than itself.
    package static let values = 1_000_000
}
