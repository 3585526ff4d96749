import Sealing

/// What a subkey is for; no key serves two purposes. The raw values are the identifiers of Format.md.
package enum KeyPurpose: Int, CaseIterable, Sendable {
    case record = 1
    case page, value, header, memory
}

/// The subkeys of one vault, together in one piece of guarded memory: each piece costs two pages and 15 µs.
package final class KeyRing: Sendable {
    private static let context: StaticString = "vault-01"
    private static var keySize: Int { SecretBox.keySize }
    private static let size = KeyPurpose.allCases.count * keySize

    private let subkeys: SecretBytes

    /// Derives the subkeys.
    ///
    /// - Parameter withDataKey: fills in the 32 bytes of the data key. They are wiped before this returns; the second
    ///   buffer, of 32 bytes too, is room to work in, wiped with them.
    init(
        withDataKey: (_ dataKey: UnsafeMutableRawBufferPointer, _ scratch: UnsafeMutableRawBufferPointer)
            throws(LogError) -> Void
    ) throws(LogError) {
        var memory: SecretBytes
        do throws(SealingError) { memory = try SecretBytes(zeroCount: KeyRing.size + 2 * KeyRing.keySize) } catch {
            throw LogError(error)
        }
        try memory.withUnsafeMutableBytes { (bytes) throws(LogError) in
            let dataKey = UnsafeMutableRawBufferPointer(rebasing: bytes[KeyRing.size..<KeyRing.size + KeyRing.keySize])
            let scratch = UnsafeMutableRawBufferPointer(rebasing: bytes[(KeyRing.size + KeyRing.keySize)...])
            try withDataKey(dataKey, scratch)
            for purpose in KeyPurpose.allCases {
                let offset = UnsafeMutableRawBufferPointer(rebasing: bytes[KeyRing.range(of: purpose)])
                do throws(SealingError) {
                    try KeyDerivation.subkey(
                        UInt64(purpose.rawValue), context: KeyRing.context, of: UnsafeRawBufferPointer(dataKey),
                        into: offset)
                } catch { throw LogError(error) }
            }
        }
        memory.truncate(to: KeyRing.size)
        subkeys = memory
    }

    /// Whether the system let the keys be locked against swapping.
    package var isLockedInMemory: Bool { subkeys.isLockedInMemory }

    private static func range(of purpose: KeyPurpose) -> Range<Int> {
        (purpose.rawValue - 1) * keySize..<purpose.rawValue * keySize
    }

    func withKey<Result, Failure: Error>(
        _ purpose: KeyPurpose, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try subkeys.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[KeyRing.range(of: purpose)]))
        }
    }
}

extension LogError {
    init(_ error: SealingError) {
        switch error.code {
        case .outOfMemory: self.init(.outOfMemory)
        case .forged: self.init(.damaged, "a sealed box does not open")
        default: self.init(.damaged, "a length out of bounds")
        }
    }
}
