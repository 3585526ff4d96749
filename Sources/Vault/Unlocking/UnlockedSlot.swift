import LinuxSystem
import SealedLog
import Sealing

/// The wrapping key of one key slot in the kernel's keyring, where
/// ``Keychain/VaultKeys/unlock(for:onlyInThisSession:)`` keeps it. Never the data key: a slot that is removed or
/// replaced makes it worthless.
struct UnlockedSlot {
    private let description: String

    private static let prefix = "vault:"

    init(_ vaultID: [UInt8], _ salt: [UInt8]) {
        description = UnlockedSlot.prefix(ofVault: vaultID) + Hexadecimal.string(of: salt)
    }

    static func prefix(ofVault id: [UInt8]?) -> String { prefix + (id.map { Hexadecimal.string(of: $0) + ":" } ?? "") }

    /// Returns the key; nil if there is none, or if the system has no keyring for this process: opening a vault goes on
    /// with the next way.
    func read() throws(LogError) -> SecretBytes? {
        var key: SecretBytes
        do { key = try SecretBytes(zeros: SecretBox.keySize, isKey: true) } catch { throw LogError(.outOfMemory) }
        let count = key.withUnsafeMutableBytes { buffer in try? KernelKeyring.read(description, into: buffer) }
        guard count == SecretBox.keySize else { return nil }
        return key
    }

    /// Whether there is a key.
    var isKept: Bool {
        do throws(LogError) {
            guard (try read()) != nil else { return false }
            return true
        } catch { return false }
    }

    func store(_ key: UnsafeRawBufferPointer, for seconds: UInt32, in scope: KernelKeyring.Scope) throws(SystemError) {
        try KernelKeyring.store(key, as: description, timeout: seconds, scope: scope)
    }
}
