private import CSodium

/// Authenticated encryption with libsodium's secretbox, which is XSalsa20-Poly1305. A box consists of a 16-byte tag,
/// followed by the ciphertext, which is as long as the plaintext.
package enum SecretBox {
    @inlinable package static var keySize: Int { 32 }
    @inlinable package static var tagSize: Int { 16 }

    /// Seals `plaintext` into `box`. The buffers must not overlap. Throws ``SealingError/Code/length`` unless the key
    /// has 32 bytes and the box is 16 bytes longer than the plaintext.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, nonce: Nonce, key: UnsafeRawBufferPointer,
        into box: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == keySize, box.count == plaintext.count + tagSize else { throw SealingError(.length) }
        let status = nonce.withUnsafeBytes { nonce in
            crypto_secretbox_easy(box.pointer, plaintext.pointer, UInt64(plaintext.count), nonce.pointer, key.pointer)
        }
        guard status == 0 else { throw SealingError(.length) }
    }

    /// Opens `box` into `plaintext`, with the same requirements as ``seal(_:nonce:key:into:)``. Throws
    /// ``SealingError/Code/forged`` if the box was changed or was not sealed with this key and nonce.
    package static func open(
        _ box: UnsafeRawBufferPointer, nonce: Nonce, key: UnsafeRawBufferPointer,
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == keySize, box.count == plaintext.count + tagSize else { throw SealingError(.length) }
        try nonce.withUnsafeBytes { (nonce) throws(SealingError) in
            try Wiping.leavingNoTraces(orThrow: .forged) {
                crypto_secretbox_open_easy(
                    plaintext.pointer, box.pointer, UInt64(box.count), nonce.pointer, key.pointer)
            }
        }
    }
}

/// The 24 bytes that distinguish a box from every other box under its key. They are random, because counters would
/// reach the same values in two diverged copies of a vault.
package struct Nonce: Hashable, Sendable {
    @inlinable package static var size: Int { 24 }

    @usableFromInline let first, second, third: UInt64

    /// - Precondition: `bytes` has 24 bytes.
    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Nonce.size)
        first = bytes.loadUnaligned(as: UInt64.self)
        second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        third = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    }

    /// The nonce's first 8 bytes.
    package var start: UInt64 { first }

    @inlinable
    package func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try Swift.withUnsafeBytes(of: self, body) }
}

/// A source of random nonces. It requests ever larger batches, since a request to the system takes 0.26 µs even for one
/// nonce. Create a source for each task: a forked child process would reuse a source's remaining nonces.
package struct NonceSource {
    private static let greatestBatch = 256

    private var pool: [UInt8] = []
    private var used = 0

    package init() {}

    package mutating func next() -> Nonce {
        if used == pool.count {
            pool = RandomBytes.array(min(max(pool.count * 2, Nonce.size), NonceSource.greatestBatch * Nonce.size))
            used = 0
        }
        defer { used += Nonce.size }
        return pool.withUnsafeBytes { Nonce(UnsafeRawBufferPointer(rebasing: $0[used..<used + Nonce.size])) }
    }

    package static func one() -> Nonce {
        var source = NonceSource()
        return source.next()
    }
}

extension UnsafeRawBufferPointer {
    /// The buffer's address. If an empty buffer has no address, this is a placeholder, which libsodium never reads.
    var pointer: UnsafePointer<UInt8> {
        baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafePointer(bitPattern: 16).unsafelyUnwrapped
    }
}

extension UnsafeMutableRawBufferPointer {
    var pointer: UnsafeMutablePointer<UInt8> {
        baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafeMutablePointer(bitPattern: 16).unsafelyUnwrapped
    }
}

package enum Wiping {
    /// Overwrites bytes with zeros in a way that the compiler cannot optimize away.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) { sodium_memzero(bytes.pointer, bytes.count) }

    /// Calls a function of libsodium or of another library, and then overwrites the traces of secrets that the call has
    /// left in registers and in `size` bytes of stack.
    ///
    /// libsodium 1.0.18 leaves behind the first 32 bytes of an opened box, a hash's input, key and result, and derived
    /// keys. In measurements, its functions used up to 1.9 KiB of stack, and Argon2id 6.8 KiB.
    package static func leavingNoTraces(
        _ size: Int = 4_096, orThrow code: SealingError.Code, _ call: () -> Int32
    ) throws(SealingError) {
        let status = lowered(call)
        vault_clear_vector_registers()
        sodium_stackzero(size)
        guard status == 0 else { throw SealingError(code) }
    }

    /// Calls a function with its stack frame 256 bytes lower than usual. The bytes in between are left unused, because
    /// `sodium_stackzero` has its own frame there and so does not overwrite them.
    @inline(never)
    private static func lowered(_ call: () -> Int32) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 16) { _ in call() }
    }
}

/// Bytes from the system's random number generator.
package enum RandomBytes {
    // randombytes_buf calls getrandom(2) and aborts if that fails. It does not need `sodium_init`.
    package static func fill(_ buffer: UnsafeMutableRawBufferPointer) { randombytes_buf(buffer.pointer, buffer.count) }

    package static func array(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }
}

/// Hexadecimal encoding of secrets, in time that depends only on their length.
package enum Hexadecimal {
    /// Writes two lowercase hexadecimal digits for each byte, then a zero byte. Throws ``SealingError/Code/length`` if
    /// `digits` does not have exactly the required size.
    package static func encode(
        _ bytes: UnsafeRawBufferPointer, into digits: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard digits.count == bytes.count * 2 + 1 else { throw SealingError(.length) }
        _ = digits.pointer.withMemoryRebound(to: CChar.self, capacity: digits.count) {
            sodium_bin2hex($0, digits.count, bytes.pointer, bytes.count)
        }
    }

    package static func string(of bytes: [UInt8]) -> String {
        let size = bytes.count * 2 + 1
        return String(unsafeUninitializedCapacity: size) { digits in
            // Encoding cannot fail, because the buffer has the required size.
            try? bytes.withUnsafeBytes { try encode($0, into: .init(start: digits.baseAddress, count: size)) }
            return size - 1
        }
    }

    /// Decodes digits of either case. Returns nil if the text is invalid or does not encode exactly `count` bytes.
    package static func bytes(_ digits: Substring, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let isRead = Array(digits.utf8).withUnsafeBytes { digits in
            bytes.withUnsafeMutableBytes { decode(digits, into: $0) }
        }
        return isRead ? bytes : nil
    }

    /// Decodes hexadecimal digits of either case. Returns false if the text is invalid or has the wrong length.
    package static func decode(_ digits: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard digits.count == bytes.count * 2 else { return false }
        var count = 0
        let status = digits.pointer.withMemoryRebound(to: CChar.self, capacity: digits.count) {
            sodium_hex2bin(bytes.pointer, bytes.count, $0, digits.count, nil, &count, nil)
        }
        return status == 0 && count == bytes.count
    }
}
