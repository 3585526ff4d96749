private import CNettle
import Sealing

/// HMAC (RFC 2104) from nettle, since libsodium does not support SHA-1.
enum HMAC {
    /// Computes the authentication code of a message. Throws `outOfMemory`.
    static func code(
        _ message: [UInt8], key: borrowing SecretBytes, _ algorithm: OneTimeKey.Algorithm
    ) throws(SealingError) -> SecretBytes {
        switch algorithm {
        case .sha1:
            try code(
                message, key, nettle_hmac_sha1_set_key, nettle_hmac_sha1_update, nettle_hmac_sha1_digest,
                SHA1_DIGEST_SIZE)
        case .sha256:
            try code(
                message, key, nettle_hmac_sha256_set_key, nettle_hmac_sha256_update, nettle_hmac_sha256_digest,
                SHA256_DIGEST_SIZE)
        case .sha512:
            try code(
                message, key, nettle_hmac_sha512_set_key, nettle_hmac_sha512_update, nettle_hmac_sha512_digest,
                SHA512_DIGEST_SIZE)
        }
    }

    private typealias Input<Context> = (UnsafeMutablePointer<Context>?, Int, UnsafePointer<UInt8>?) -> Void
    private typealias Output<Context> = (UnsafeMutablePointer<Context>?, Int, UnsafeMutablePointer<UInt8>?) -> Void

    /// Computes the HMAC with the functions of one hash algorithm. The HMAC context is in guarded memory too, because
    /// anyone who obtains its hash states can compute codes without the key.
    private static func code<Context>(
        _ message: [UInt8], _ key: borrowing SecretBytes,
        _ setKey: Input<Context>, _ update: Input<Context>, _ digest: Output<Context>, _ size: Int32
    ) throws(SealingError) -> SecretBytes {
        var context = try SecretBytes(zeros: MemoryLayout<Context>.size)
        var code = try SecretBytes(zeros: Int(size))
        try context.withUnsafeMutableBytes { (context) throws(SealingError) in
            try code.withUnsafeMutableBytes { (code) throws(SealingError) in
                try key.withUnsafeBytes { (key) throws(SealingError) in
                    let context = context.assumingMemoryBound(to: Context.self).baseAddress
                    let code = code.assumingMemoryBound(to: UInt8.self)
                    let key = key.assumingMemoryBound(to: UInt8.self)
                    try Wiping.leavingNoTraces(orThrow: .length) {
                        setKey(context, key.count, key.baseAddress)
                        update(context, message.count, message)
                        digest(context, code.count, code.baseAddress)
                        return 0
                    }
                }
            }
        }
        return code
    }
}
