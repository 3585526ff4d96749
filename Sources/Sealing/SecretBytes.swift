private import CSodium
import LinuxSystem

/// Secret bytes in guarded memory, which is surrounded by guard pages, locked against swapping, excluded from core
/// dumps, and wiped at the end of its lifetime.
///
/// The type cannot be copied and has no textual form. Read the bytes through ``withBytes(_:)``. Each method that copies
/// them to ordinary memory has *unsafe* in its name.
///
/// Secrets of up to 4 KiB share guarded pages, with canaries between them, and need 32 to 95 bytes more than their
/// size. Keys and larger secrets get separate pages, which cost about 25 µs.
public struct SecretBytes: ~Copyable {
    /// The secret's length in bytes.
    public private(set) var count: Int

    /// Whether the pages are locked against swapping. The system locks at most as much memory as `ulimit -l` allows,
    /// usually 8 MiB. The bytes are guarded and wiped either way.
    public let isLockedInMemory: Bool

    /// The size of the allocation, which is a multiple of 16 and at least 16. The bytes after `count` are zero, so that
    /// a value can be sealed with its padding without another copy.
    @usableFromInline package let paddedCapacity: Int

    @usableFromInline let base: UnsafeMutableRawPointer

    /// The arena and the region that contain the secret; nil if the secret has separate pages.
    private let location: SecretArena.Location?

    private static let libsodiumIsReady = sodium_init() >= 0

    // These initializers are for this package. The module Vault adds public ones, which throw the library's own errors.

    /// Allocates `count` zero bytes.
    ///
    /// - Parameter isKey: whether the secret gets separate pages of memory, between guard pages.
    /// - Throws: `outOfMemory`; `length` if `count` is negative.
    package init(zeros count: Int, isKey: Bool = false) throws(SealingError) {
        // sodium_init fails only if the system has no source of randomness. In that case, nothing can be sealed.
        guard SecretBytes.libsodiumIsReady else { throw SealingError(.outOfMemory) }
        guard count >= 0, count <= Int.max - 16 else { throw SealingError(.length) }
        let capacity = SecretBytes.paddedSize(count)
        if isKey || capacity > SecretArena.largestCapacity {
            guard let base = sodium_malloc(capacity) else { throw SealingError(.outOfMemory) }
            // sodium_malloc does not report a failure to lock the pages, but a separate call to sodium_mlock does.
            isLockedInMemory = sodium_mlock(base, capacity) == 0
            // sodium_malloc fills new memory with 0xdb, but a new secret must consist of zeros.
            base.initializeMemory(as: UInt8.self, repeating: 0, count: capacity)
            self.base = base
            location = nil
        } else {
            guard let block = SecretArena.allocate(capacity),
                let base = UnsafeMutableRawPointer(bitPattern: block.address)
            else { throw SealingError(.outOfMemory) }
            self.base = base
            location = block.location
            isLockedInMemory = block.isLockedInMemory
        }
        self.count = count
        paddedCapacity = capacity
    }

    deinit {
        if let location {
            SecretArena.free(UInt(bitPattern: base), paddedCapacity, at: location)
        } else {
            sodium_free(base)
        }
    }

    /// Returns the size of a padded value, which is `count` rounded up to a multiple of 16, at least 16.
    @inlinable package static func paddedSize(_ count: Int) -> Int { max(16, (count + 15) & ~15) }

    /// Shortens the secret and wipes the bytes after the new end.
    package mutating func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count)
        sodium_memzero(base + newCount, paddedCapacity - newCount)
        count = newCount
    }
}

// The type cannot be copied, so each block of memory belongs to one value at a time. `mutating` methods write with
// exclusive access, and several threads may read at the same time.
extension SecretBytes: @unchecked Sendable {}

extension SecretBytes {
    /// Reads the secret in place. The span cannot leave the closure. Bytes that the closure copies are not guarded.
    @inlinable
    public borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result { try withUnsafeBytes { (bytes) throws(Failure) in try body(bytes.bytes) } }

    /// Reads the secret through a pointer, for C functions. The pointer is valid only inside the closure.
    @inlinable
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try body(UnsafeRawBufferPointer(start: base, count: count)) }

    /// Writes the secret in place. The pointer is valid only inside the closure.
    @inlinable
    public mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try body(UnsafeMutableRawBufferPointer(start: base, count: count)) }

    /// Reads the secret together with its zero padding up to a multiple of 16 bytes, in total at least 16 bytes.
    @inlinable
    package borrowing func withPaddedBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try body(UnsafeRawBufferPointer(start: base, count: SecretBytes.paddedSize(count))) }

    /// Writes to the whole allocation, so that a padded value can be opened into it. Call ``truncate(to:)`` afterwards.
    @inlinable
    package mutating func withUnsafeMutablePaddedBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try body(UnsafeMutableRawBufferPointer(start: base, count: paddedCapacity)) }

    /// Returns whether two secrets are equal. The time depends only on their lengths.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return sodium_memcmp(base, other.base, count) == 0
    }
}

// Ordinary memory is not wiped, may be swapped out, and may be part of a core dump. Any code that has a String or an
// Array can copy it.

extension SecretBytes {
    /// Copies a buffer's bytes into guarded memory. The buffer is not wiped.
    package init(copyOf bytes: UnsafeRawBufferPointer, isKey: Bool = false) throws(SealingError) {
        try self.init(zeros: bytes.count, isKey: isKey)
        withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    }

    /// Returns a secret that consists of `start` followed by this secret's bytes.
    package borrowing func following(_ start: [UInt8], isKey: Bool = true) throws(SealingError) -> SecretBytes {
        var whole = try SecretBytes(zeros: start.count + count, isKey: isKey)
        whole.withUnsafeMutableBytes { whole in
            whole.copyBytes(from: start)
            withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: whole[start.count...]).copyMemory(from: $0) }
        }
        return whole
    }

    /// Returns a copy of this key. The copy gets separate pages of memory, as every key does.
    package borrowing func copyOfKey() throws(SealingError) -> SecretBytes {
        try withUnsafeBytes { (bytes) throws(SealingError) in try SecretBytes(copyOf: bytes, isKey: true) }
    }

    /// Copies an array's bytes into guarded memory. The array is not wiped.
    package init(copyOf bytes: [UInt8]) throws(SealingError) {
        try self.init(zeros: bytes.count)
        withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
    }

    /// Returns the secret's bytes as an array in ordinary memory, which is never wiped.
    public borrowing func unsafeArray() -> [UInt8] { withUnsafeBytes { Array($0) } }

    /// Returns the secret as text in ordinary memory, which is never wiped; nil if the bytes are not valid UTF-8.
    public borrowing func unsafeString() -> String? { withUnsafeBytes { String(validating: $0, as: UTF8.self) } }

    /// Encodes bytes as base64 with padding. The time does not depend on the bytes' values.
    package init(base64Of bytes: UnsafeRawBufferPointer) throws(SealingError) {
        let size = sodium_base64_encoded_len(bytes.count, sodium_base64_VARIANT_ORIGINAL)
        try self.init(zeros: size)
        base.withMemoryRebound(to: CChar.self, capacity: size) {
            _ = sodium_bin2base64($0, size, bytes.pointer, bytes.count, sodium_base64_VARIANT_ORIGINAL)
        }
        // libsodium terminates its text with a zero byte, which is not part of the secret.
        truncate(to: size - 1)
    }

    /// Reads input of unknown length into guarded memory. When full, it grows to twice its size plus 16 bytes. If
    /// `capacity` is a power of two and the length a larger one, the 16 bytes save growing again just to find the end.
    ///
    /// - Parameters:
    ///   - capacity: the expected number of bytes, at least 1.
    ///   - limit: the maximum number of bytes to read.
    ///   - isKey: as in ``init(zeros:isKey:)``.
    ///   - failure: converts an allocation error.
    ///   - read: receives the memory and the number of bytes used, and may change both; returns whether the input has
    ///     ended.
    /// - Returns: the input; nil if it has not ended after `limit` bytes.
    package static func growing<Failure: Error>(
        from capacity: Int, to limit: Int, isKey: Bool = false, orThrow failure: (SealingError) -> Failure,
        _ read: (_ memory: UnsafeMutableRawBufferPointer, _ used: inout Int) throws(Failure) -> Bool
    ) throws(Failure) -> SecretBytes? {
        var held = try zeros(min(capacity, limit), isKey, failure)
        var used = 0
        var hasEnded = false
        while true {
            try held.withUnsafeMutableBytes { (memory) throws(Failure) in
                while used < memory.count, !hasEnded { hasEnded = try read(memory, &used) }
            }
            if hasEnded {
                held.truncate(to: used)
                return held
            }
            guard held.count < limit else { return nil }
            var larger = try zeros(min(held.count * 2 + 16, limit), isKey, failure)
            larger.withUnsafeMutableBytes { larger in held.withUnsafeBytes { larger.copyMemory(from: $0) } }
            held = larger
        }
    }

    private static func zeros<Failure: Error>(
        _ count: Int, _ isKey: Bool, _ failure: (SealingError) -> Failure
    ) throws(Failure) -> SecretBytes {
        do throws(SealingError) { return try SecretBytes(zeros: count, isKey: isKey) } catch { throw failure(error) }
    }
}
