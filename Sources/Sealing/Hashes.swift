private import CSodium

/// BLAKE2b (RFC 7693): libsodium's `crypto_generichash`.
package enum KeyedHash {
    /// The size of the vault's hashes in bytes.
    @inlinable package static var size: Int { 32 }

    /// Hashes `bytes`.
    ///
    /// - Parameters:
    ///   - key: 16 to 64 bytes, or empty for a hash without a key.
    ///   - output: 16 to 64 bytes. Their number is part of what is hashed.
    /// - Throws: ``SealingError/Code/length`` if a length is out of these bounds.
    package static func hash(
        _ bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer = .init(start: nil, count: 0),
        into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.isEmpty || (16...64).contains(key.count), (16...64).contains(output.count) else {
            throw SealingError(.length)
        }
        let status = Wiping.leavingNoTraces {
            crypto_generichash(
                output.pointer, output.count, bytes.pointer, UInt64(bytes.count), key.pointer, key.count)
        }
        guard status == 0 else { throw SealingError(.length) }
    }
}

/// A 32-byte BLAKE2b hash, without a key, of bytes that arrive in pieces.
package struct RunningHash: ~Copyable {
    // On the heap: libsodium aligns its state to 64 bytes, more than Swift guarantees for a stored property.
    private let state: UnsafeMutableRawPointer

    private var typed: OpaquePointer { OpaquePointer(state) }

    package init() {
        state = .allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
        _ = crypto_generichash_init(typed, nil, 0, KeyedHash.size)
    }

    deinit {
        state.deallocate()
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = crypto_generichash_update(typed, bytes.pointer, UInt64(bytes.count))
    }

    /// Returns the hash. Nothing can be added after it.
    package consuming func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: KeyedHash.size) { buffer, count in
            _ = crypto_generichash_final(typed, UnsafeMutableRawBufferPointer(buffer).pointer, KeyedHash.size)
            count = KeyedHash.size
        }
    }
}

/// SipHash-2-4: libsodium's `crypto_shorthash`. It detects accidents, but not an attacker who knows the key.
package enum ShortHash {
    @inlinable package static var keySize: Int { 16 }

    /// - Throws: ``SealingError/Code/length`` unless the key has 16 bytes.
    package static func hash(
        _ bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws(SealingError) -> UInt64 {
        guard key.count == keySize else { throw SealingError(.length) }
        var output: UInt64 = 0
        let status = withUnsafeMutableBytes(of: &output) {
            crypto_shorthash($0.pointer, bytes.pointer, UInt64(bytes.count), key.pointer)
        }
        guard status == 0 else { throw SealingError(.length) }
        return UInt64(littleEndian: output)
    }
}
