private import CSodium

/// Authenticated encryption: libsodium's secretbox, XSalsa20-Poly1305.
///
/// A box is a tag of 16 bytes, followed by as many bytes as the plaintext has.
package enum SecretBox {
    @inlinable package static var keySize: Int { 32 }
    @inlinable package static var tagSize: Int { 16 }

    /// Seals `plaintext` into `box`. The two may not overlap.
    ///
    /// - Throws: ``SealingError/Code/length`` unless the key has 32 bytes and the box 16 more than the plaintext.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, nonce: Nonce, key: UnsafeRawBufferPointer,
        into box: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == keySize, box.count == plaintext.count + tagSize else { throw SealingError(.length) }
        let status = nonce.withUnsafeBytes { nonce in
            crypto_secretbox_easy(
                box.pointer, plaintext.pointer, UInt64(plaintext.count), nonce.pointer, key.pointer)
        }
        guard status == 0 else { throw SealingError(.length) }
    }

    /// Opens `box` into `plaintext`. The two may not overlap.
    ///
    /// - Throws: ``SealingError/Code/forged`` if the box was not sealed with this key and nonce or has been changed;
    ///   ``SealingError/Code/length`` unless the key has 32 bytes and the box 16 more than the plaintext.
    package static func open(
        _ box: UnsafeRawBufferPointer, nonce: Nonce, key: UnsafeRawBufferPointer,
        into plaintext: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == keySize, box.count == plaintext.count + tagSize else { throw SealingError(.length) }
        let status = nonce.withUnsafeBytes { nonce in
            Wiping.leavingNoTraces {
                crypto_secretbox_open_easy(
                    plaintext.pointer, box.pointer, UInt64(box.count), nonce.pointer, key.pointer)
            }
        }
        guard status == 0 else { throw SealingError(.forged) }
    }
}

/// The 24 bytes that distinguish a box from every other box under its key.
///
/// Nonces are random, never counted: two diverged copies of a vault would count alike.
package struct Nonce: Hashable, Sendable {
    @inlinable package static var size: Int { 24 }

    @usableFromInline let first, second, third: UInt64

    /// - Precondition: 24 bytes.
    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Nonce.size)
        first = bytes.loadUnaligned(as: UInt64.self)
        second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        third = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    }

    @inlinable
    package func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try Swift.withUnsafeBytes(of: (first, second, third), body)
    }
}

/// Random nonces, drawn from the system many at a time: one costs 0.26 µs alone and far less in bulk.
///
/// Create one for each piece of work. After a fork, the child would use the same remaining nonces.
package struct NonceSource {
    private var pool: [UInt8] = []
    private var used = 0
    private let batch: Int

    /// - Parameter expected: the approximate number that will be drawn.
    package init(expected: Int) {
        batch = min(max(expected, 1), 256) * Nonce.size
    }

    package mutating func next() -> Nonce {
        if used == pool.count {
            pool = RandomBytes.array(batch)
            used = 0
        }
        defer { used += Nonce.size }
        return pool.withUnsafeBytes { Nonce(UnsafeRawBufferPointer(rebasing: $0[used..<used + Nonce.size])) }
    }
}
