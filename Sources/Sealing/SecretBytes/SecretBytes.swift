private import CSodium
import LinuxSystem

/// Secret bytes in guarded memory: between inaccessible pages, locked against swapping, left out of core dumps,
/// and wiped when the value goes.
///
/// It cannot be copied and has no textual form. Read it through ``withBytes(_:)``; each way that takes the bytes out
/// into ordinary memory says *unsafe* in its name.
///
/// Guarded memory costs two pages and about 25 µs to make and free. It is for keys and opened values, not for
/// thousands of them.
public struct SecretBytes: ~Copyable {
    /// The number of secret bytes.
    public private(set) var count: Int

    /// Whether the pages are locked against swapping.
    ///
    /// The system refuses past the limit `ulimit -l`, 8 MiB as a rule. The bytes are guarded and wiped all the same.
    public let isLockedInMemory: Bool

    /// What the allocation holds, a multiple of 16, at least 16. The bytes past `count` are zero, so that a value can be
    /// sealed with its padding without another copy.
    @usableFromInline package let paddedCapacity: Int

    @usableFromInline let base: UnsafeMutableRawPointer

    /// Makes guarded memory of `count` zero bytes.
    ///
    /// - Throws: ``SealingError/Code/outOfMemory``.
    public init(zeroCount count: Int) throws(SealingError) {
        try Sodium.start()
        guard count >= 0, count <= Int.max - 16 else { throw SealingError(.length) }
        let capacity = SecretBytes.paddedSize(count)
        guard let base = sodium_malloc(capacity) else { throw SealingError(.outOfMemory) }
        // sodium_malloc locks the pages but keeps silent where that fails; asking once more tells.
        isLockedInMemory = sodium_mlock(base, capacity) == 0
        // The fresh memory is filled with 0xdb.
        base.initializeMemory(as: UInt8.self, repeating: 0, count: capacity)
        self.base = base
        self.count = count
        paddedCapacity = capacity
    }

    deinit {
        sodium_free(base)
    }

    /// `count` rounded up to a multiple of 16, at least 16: what a value takes before its tag.
    @inlinable
    package static func paddedSize(_ count: Int) -> Int {
        max(16, (count + 15) & ~15)
    }

    /// Shortens the secret; the bytes past the new end are wiped.
    package mutating func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count)
        sodium_memzero(base + newCount, paddedCapacity - newCount)
        count = newCount
    }

    /// The secret followed by its zero padding, to a multiple of 16 and at least 16.
    @inlinable
    package borrowing func withPaddedBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: SecretBytes.paddedSize(count)))
    }

    /// All the guarded memory, to open a padded value into; ``truncate(to:)`` it afterwards.
    @inlinable
    package mutating func withUnsafeMutablePaddedBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(start: base, count: paddedCapacity))
    }
}

// The memory belongs to one value at a time, since the type is move-only: it is written only through `mutating`
// calls, which have exclusive access, and reading it from several threads at once changes nothing.
extension SecretBytes: @unchecked Sendable {}
