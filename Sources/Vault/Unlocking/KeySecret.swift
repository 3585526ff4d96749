import LinuxSystem
import SealedFormat

/// The secret for one key of a vault: a passphrase, a key file, or both.
public struct KeySecret: ~Copyable {
    /// The passphrase; empty if the secret is only a key file.
    private let passphrase: SecretBytes
    let keyFile: String?

    init(_ passphrase: consuming SecretBytes, _ keyFile: String?) {
        self.passphrase = passphrase
        self.keyFile = keyFile
    }

    /// Creates the secret from a passphrase, and the path of a key file if the key needs both.
    public static func passphrase(_ text: consuming SecretBytes, withKeyFile path: String? = nil) -> KeySecret {
        KeySecret(text, path)
    }

    /// Creates the secret from the path of a key file.
    ///
    /// - Throws: ``VaultError/Code/unavailable`` if there is no guarded memory left.
    public static func keyFile(_ path: String) throws(VaultError) -> KeySecret {
        KeySecret(try SecretBytes(zeroCount: 0), path)
    }

    borrowing func credential(
        _ location: VaultLocation, _ options: UnlockingOptions, in files: any FileSystem
    ) throws(VaultError) -> Credential {
        do throws(LogError) {
            guard let keyFile else { return try .passphrase(passphrase.copy()) }
            let key = try location.readKeyFile(keyFile, options, in: files)
            return try passphrase.count == 0 ? .keyFile(key) : .passphrase(passphrase.copy(), with: key)
        } catch { throw VaultError(error, keyFile.map(location.withKeyFile) ?? location) }
    }
}

/// The contents of a key file that the program obtained itself, for example from a descriptor, a device or another
/// vault. Copies of ``Keychain/Options`` share the contents.
public final class KeyFileContents: Sendable {
    let secret: SecretBytes

    /// Creates the contents from all bytes of a key file. The bytes are checked when a vault is opened.
    public init(_ secret: consuming SecretBytes) { self.secret = secret }
}

/// A key slot's wrapping key, stored in the kernel's keyring by ``Keychain/VaultKeys/unlock(for:onlyInThisSession:)``.
/// It is not the data key, so it becomes useless when the slot is removed or replaced.
struct UnlockedSlot {
    private let description: String

    private static let prefix = "vault:"

    init(_ vaultID: [UInt8], _ salt: [UInt8]) {
        description = UnlockedSlot.prefix(ofVault: vaultID) + Hexadecimal.string(of: salt)
    }

    static func prefix(ofVault id: [UInt8]?) -> String { prefix + (id.map { Hexadecimal.string(of: $0) + ":" } ?? "") }

    /// Returns the key; nil if the keyring does not have it, or if the system has no keyring for this process.
    func read() throws(LogError) -> SecretBytes? {
        var key: SecretBytes
        do { key = try SecretBytes(zeros: SecretBox.keySize, isKey: true) } catch { throw LogError(.outOfMemory) }
        let count = key.withUnsafeMutableBytes { buffer in try? KernelKeyring.read(description, into: buffer) }
        guard count == SecretBox.keySize else { return nil }
        return key
    }

    var isKept: Bool {
        do throws(LogError) { return (try read()) != nil } catch { return false }
    }

    func store(_ key: UnsafeRawBufferPointer, for seconds: UInt32, in scope: KernelKeyring.Scope) throws(SystemError) {
        try KernelKeyring.store(key, as: description, timeout: seconds, scope: scope)
    }
}
