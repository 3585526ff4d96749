private import CSodium

/// Derives keys from keys and from passphrases.
package enum KeyDerivation {
    @inlinable package static var contextSize: Int { 8 }

    /// Derives a subkey by libsodium's `crypto_kdf_derive_from_key`: BLAKE2b with the identifier as salt and the
    /// context as personalisation.
    ///
    /// - Throws: ``SealingError/Code/length`` unless the key has 32 bytes, the context 8, and the subkey 16 to 64.
    package static func subkey(
        _ identifier: UInt64, context: StaticString, of key: UnsafeRawBufferPointer,
        into subkey: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == 32, context.utf8CodeUnitCount == contextSize, (16...64).contains(subkey.count) else {
            throw SealingError(.length)
        }
        let status = context.utf8Start.withMemoryRebound(to: CChar.self, capacity: contextSize) { context in
            Wiping.leavingNoTraces {
                crypto_kdf_derive_from_key(subkey.pointer, subkey.count, identifier, context, key.pointer)
            }
        }
        guard status == 0 else { throw SealingError(.length) }
    }

    /// The cost of Argon2id, version 1.3 (RFC 9106).
    package struct StretchLimits: Hashable, Sendable {
        /// The number of passes over the memory.
        package let passes: UInt64
        /// The size of the memory in bytes.
        package let memory: UInt64

        package init(passes: UInt64, memory: UInt64) {
            self.passes = passes
            self.memory = memory
        }

        /// The second recommendation of RFC 9106, section 4, for one lane: 3 passes over 64 MiB, about 0.1 s.
        package static let recommended = StretchLimits(passes: 3, memory: 64 << 20)

        /// Whether a reader accepts the limits. A file states them, and could make its reader work for days.
        package var isWithinBounds: Bool {
            (1...10).contains(passes) && (8 << 10...StretchLimits.largestCost).contains(memory)
        }

        /// The bounds, for messages.
        package static let bounds = "1 to 10 passes over at least 8 KiB, passes times memory at most 768 MiB"

        /// The number of bytes processed, for limits that are within their bounds.
        package var cost: UInt64 { passes * memory }

        /// The largest total cost for limits that are not authenticated yet: less than a second's work.
        package static let largestCost: UInt64 = 768 << 20
    }

    @inlinable package static var saltSize: Int { 16 }

    /// Derives a key of 32 bytes from a passphrase by Argon2id.
    ///
    /// - Throws: ``SealingError/Code/limits`` for limits out of bounds, ``SealingError/Code/outOfMemory`` if their
    ///   memory cannot be allocated, ``SealingError/Code/length`` unless salt and key have 16 and 32 bytes.
    package static func stretch(
        _ passphrase: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, limits: StretchLimits,
        into key: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard limits.isWithinBounds else { throw SealingError(.limits) }
        guard salt.count == saltSize, key.count == 32 else { throw SealingError(.length) }
        let status = passphrase.pointer.withMemoryRebound(to: CChar.self, capacity: passphrase.count) { text in
            Wiping.leavingNoTraces(16_384) {
                crypto_pwhash(
                    key.pointer, UInt64(key.count), text, UInt64(passphrase.count), salt.pointer, limits.passes,
                    Int(limits.memory), crypto_pwhash_ALG_ARGON2ID13)
            }
        }
        guard status == 0 else { throw SealingError(.outOfMemory) }
    }
}
