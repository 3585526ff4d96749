private import CSodium
import LinuxSystem

/// The hash function BLAKE2b (RFC 7693), using libsodium's `crypto_generichash`.
package enum KeyedHash {
    /// The size of the vault's hashes in bytes.
    @inlinable package static var size: Int { 32 }

    /// Writes a hash of `output.count` bytes. The hash depends on this size, so a shorter hash is not a prefix of a
    /// longer one. An empty key selects the unkeyed hash. Throws ``SealingError/Code/length`` unless the output has 16
    /// to 64 bytes, and the key is empty or has 16 to 64 bytes.
    package static func hash(
        _ bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer = .init(start: nil, count: 0),
        into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.isEmpty || (16...64).contains(key.count), (16...64).contains(output.count) else {
            throw SealingError(.length)
        }
        try Wiping.leavingNoTraces(orThrow: .length) {
            crypto_generichash(output.pointer, output.count, bytes.pointer, UInt64(bytes.count), key.pointer, key.count)
        }
    }

    /// Returns a hash of ``size`` bytes. Throws ``SealingError/Code/length`` unless the key has 0 or 16 to 64 bytes.
    package static func hash(
        _ bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) throws(SealingError) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: size)
        try hash.withMutableRawBytes { (output) throws(SealingError) in
            try KeyedHash.hash(bytes, key: key, into: output)
        }
        return hash
    }
}

/// An incremental computation of a 32-byte unkeyed BLAKE2b hash.
package struct RunningHash: ~Copyable {
    // The state is on the heap, because libsodium aligns it to 64 bytes, more than Swift does for stored properties.
    private let state = OpaquePointer(
        UnsafeMutableRawPointer.allocate(byteCount: crypto_generichash_statebytes(), alignment: 64))

    package init() { _ = crypto_generichash_init(state, nil, 0, KeyedHash.size) }

    deinit { UnsafeMutableRawPointer(state).deallocate() }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = crypto_generichash_update(state, bytes.pointer, UInt64(bytes.count))
    }

    package static func hash(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hash = RunningHash()
        hash.update(bytes)
        return hash.finish()
    }

    package static func hash(of text: String) -> [UInt8] { text.utf8.span.bytes.withUnsafeBytes { hash(of: $0) } }

    /// Returns 62 bits of a string's hash as a number, for example to number a lock.
    package static func number(of text: String) -> UInt64 {
        hash(of: text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) } & (1 << 62 - 1)
    }

    package consuming func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: KeyedHash.size)
        _ = crypto_generichash_final(state, &hash, KeyedHash.size)
        return hash
    }
}

/// The hash function SipHash-2-4, using libsodium's `crypto_shorthash`. It detects accidental changes, but an attacker
/// who has the key can make changes that it does not detect.
package enum ShortHash {
    @inlinable package static var keySize: Int { 16 }

    /// Returns the hash of `bytes`. Throws ``SealingError/Code/length`` unless the key has 16 bytes.
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

package enum KeyDerivation {
    /// Derives a subkey with libsodium's `crypto_kdf_derive_from_key`, which is BLAKE2b with the identifier as salt and
    /// the context as personalization. Throws ``SealingError/Code/length`` unless the key has 32 bytes, the
    /// context has 8 bytes, and the subkey has 16 to 64 bytes.
    package static func subkey(
        _ identifier: UInt64, context: StaticString, of key: UnsafeRawBufferPointer,
        into subkey: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard key.count == 32, context.utf8CodeUnitCount == 8, (16...64).contains(subkey.count) else {
            throw SealingError(.length)
        }
        try context.utf8Start.withMemoryRebound(to: CChar.self, capacity: 8) { (context) throws(SealingError) in
            try Wiping.leavingNoTraces(orThrow: .length) {
                crypto_kdf_derive_from_key(subkey.pointer, subkey.count, identifier, context, key.pointer)
            }
        }
    }

    /// The cost parameters of Argon2id, version 1.3 (RFC 9106).
    package struct StretchLimits: Hashable, Sendable {
        package let passes: UInt64
        /// The amount of memory in bytes.
        package let memory: UInt64

        package init(passes: UInt64, memory: UInt64) {
            self.passes = passes
            self.memory = memory
        }

        /// The second recommendation of RFC 9106, section 4, but with one lane: 3 passes over 64 MiB, about 0.1 s.
        package static let recommended = StretchLimits(passes: 3, memory: 64 << 20)

        /// Returns limits with 3 passes and enough memory for stretching to take about `time` on this machine. The
        /// limits are never lower than ``recommended``, and never higher than a reader accepts.
        package static func measured(for time: Duration) -> StretchLimits {
            let sample = StretchLimits(passes: 1, memory: 32 << 20)
            let secret = [UInt8](repeating: 0, count: 8)
            let salt = [UInt8](repeating: 0, count: saltSize)
            var key = [UInt8](repeating: 0, count: 32)
            let taken = ContinuousClock().measure {
                try? secret.withUnsafeBytes { secret in
                    try salt.withUnsafeBytes { salt in
                        try key.withUnsafeMutableBytes { try stretch(secret, salt: salt, limits: sample, into: $0) }
                    }
                }
            }
            return affordable(in: time, as: sample, took: taken)
        }

        static func affordable(in time: Duration, as sample: StretchLimits, took taken: Duration) -> StretchLimits {
            let cost = Double(sample.cost) * (time / max(taken, .microseconds(1)))
            let bounded = min(max(cost, Double(recommended.cost)), Double(largestCost))
            return StretchLimits(
                passes: recommended.passes, memory: UInt64(bounded) / recommended.passes / (1 << 20) * (1 << 20))
        }

        /// Whether a reader accepts the limits. Without this check, a forged vault file could cause days of work.
        package var isWithinBounds: Bool {
            (1...10).contains(passes) && (8 << 10...StretchLimits.largestCost).contains(memory)
        }

        package static let bounds = "1 to 10 passes over at least 8 KiB, passes times memory at most 768 MiB"

        /// The number of bytes that Argon2id processes in all its passes together; `UInt64.max` on overflow.
        package var cost: UInt64 {
            let (cost, isBeyond) = passes.multipliedReportingOverflow(by: memory)
            return isBeyond ? .max : cost
        }

        /// The maximum total ``cost`` that a reader accepts from an unauthenticated file: under a second of work.
        package static let largestCost: UInt64 = 768 << 20
    }

    @inlinable package static var saltSize: Int { 16 }

    /// Derives a key from a passphrase with Argon2id. Throws ``SealingError/Code/limits`` if `limits` are out of range,
    /// ``SealingError/Code/outOfMemory`` if their memory cannot be allocated, and ``SealingError/Code/length`` unless
    /// the salt has 16 bytes and the key has 32 bytes.
    package static func stretch(
        _ passphrase: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, limits: StretchLimits,
        into key: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard limits.isWithinBounds else { throw SealingError(.limits) }
        guard salt.count == saltSize, key.count == 32 else { throw SealingError(.length) }
        let count = passphrase.count
        try passphrase.pointer.withMemoryRebound(to: CChar.self, capacity: count) { (text) throws(SealingError) in
            try Wiping.leavingNoTraces(16_384, orThrow: .outOfMemory) {
                crypto_pwhash(
                    key.pointer, UInt64(key.count), text, UInt64(count), salt.pointer, limits.passes,
                    Int(limits.memory), crypto_pwhash_ALG_ARGON2ID13)
            }
        }
    }
}
