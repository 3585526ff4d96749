private import CSodium

/// BLAKE2b (RFC 7693) through libsodium's `crypto_generichash`.
package enum KeyedHash {
    /// The size of the hashes that the vault uses, in bytes.
    @inlinable package static var size: Int { 32 }

    /// Hashes `bytes`.
    ///
    /// - Parameters:
    ///   - key: 16 to 64 bytes, or empty for a hash without a key.
    ///   - output: 16 to 64 bytes; their number is part of what is hashed.
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

/// A 32-byte BLAKE2b hash, without a key, of bytes that come piece by piece.
package struct RunningHash: ~Copyable {
    // On the heap: libsodium's state is aligned to 64 bytes, more than Swift promises for a stored property.
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

    /// Ends the hash; nothing can be added after it.
    package consuming func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: KeyedHash.size) { buffer, count in
            _ = crypto_generichash_final(typed, UnsafeMutableRawBufferPointer(buffer).pointer, KeyedHash.size)
            count = KeyedHash.size
        }
    }
}
