private import CSodium

/// An incremental HMAC-SHA256 (RFC 2104), using libsodium's `crypto_auth_hmacsha256`. The key may have any length.
package struct RunningHMAC: ~Copyable {
    /// The size of an HMAC in bytes.
    @inlinable package static var size: Int { 32 }

    /// The state of the HMAC. It is secret, since anyone who has it can extend the message and compute the new code.
    private var state: SecretBytes

    /// Starts computing an HMAC with a key. Throws ``SealingError/Code/outOfMemory``.
    package init(key: UnsafeRawBufferPointer) throws(SealingError) {
        var initial = try SecretBytes(zeros: crypto_auth_hmacsha256_statebytes(), isKey: true)
        try RunningHMAC.call(on: &initial) { crypto_auth_hmacsha256_init($0, key.pointer, key.count) }
        state = initial
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(SealingError) {
        try RunningHMAC.call(on: &state) { crypto_auth_hmacsha256_update($0, bytes.pointer, UInt64(bytes.count)) }
    }

    /// Returns the code. Compare it with an expected code using ``SecretBytes/isEqual(to:)``.
    package consuming func finish() throws(SealingError) -> SecretBytes {
        var result = try SecretBytes(zeros: RunningHMAC.size, isKey: true)
        try result.withUnsafeMutableBytes { (result) throws(SealingError) in
            try RunningHMAC.call(on: &state) { crypto_auth_hmacsha256_final($0, result.pointer) }
        }
        return result
    }

    private static func call(
        on state: inout SecretBytes, _ function: (UnsafeMutablePointer<crypto_auth_hmacsha256_state>) -> Int32
    ) throws(SealingError) {
        try state.withUnsafeMutableBytes { (state) throws(SealingError) in
            guard let base = state.baseAddress else { throw SealingError(.length) }
            let typed = base.assumingMemoryBound(to: crypto_auth_hmacsha256_state.self)
            try Wiping.leavingNoTraces(orThrow: .length) { function(typed) }
        }
    }
}

/// Key derivation with HKDF-SHA256 (RFC 5869). It is implemented here because libsodium before 1.0.19 lacks it.
package enum HKDF {
    @inlinable package static var largestOutput: Int { 255 * RunningHMAC.size }

    /// Fills `output` with derived bytes. Throws ``SealingError/Code/outOfMemory``, or ``SealingError/Code/length`` if
    /// `output` has more than 8,160 bytes.
    package static func derive(
        from secret: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard output.count <= largestOutput else { throw SealingError(.length) }
        var extraction = try RunningHMAC(key: salt)
        try extraction.update(secret)
        try expand(extraction.finish(), info, into: output)
    }

    /// Computes each block as the HMAC of the previous block, the info, and the block's number, starting at 1.
    private static func expand(
        _ key: borrowing SecretBytes, _ info: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        var block = try SecretBytes(zeros: 0)
        var done = 0
        var number: UInt8 = 1
        while done < output.count {
            var hash = try key.withUnsafeBytes { (key) throws(SealingError) in try RunningHMAC(key: key) }
            try block.withUnsafeBytes { (block) throws(SealingError) in try hash.update(block) }
            try hash.update(info)
            try withUnsafeBytes(of: number) { (number) throws(SealingError) in try hash.update(number) }
            block = try hash.finish()
            let part = min(block.count, output.count - done)
            block.withUnsafeBytes { block in
                let target = UnsafeMutableRawBufferPointer(rebasing: output[done..<done + part])
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<part]))
            }
            done += part
            number &+= 1
        }
    }
}
