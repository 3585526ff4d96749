import LinuxSystem
import SealedLog
public import Sealing

/// The secret for one key of a vault: a passphrase, a key file, or both.
public struct KeySecret: ~Copyable {
    /// No bytes for a key file alone.
    private let passphrase: SecretBytes
    let keyFile: String?

    init(_ passphrase: consuming SecretBytes, _ keyFile: String?) {
        self.passphrase = passphrase
        self.keyFile = keyFile
    }

    /// A passphrase, and the path of the key file that is needed with it, if one is.
    public static func passphrase(_ text: consuming SecretBytes, withKeyFile path: String? = nil) -> KeySecret {
        KeySecret(text, path)
    }

    /// The path of a key file.
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

/// The contents of a key file, given by the program: from a descriptor, a device, another vault. Copies of
/// ``Keychain/Options`` share it.
public final class KeyFileContents: Sendable {
    let secret: SecretBytes

    /// Takes all bytes of the file that is not there. They are checked when a vault is opened.
    public init(_ secret: consuming SecretBytes) { self.secret = secret }
}

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

    /// Returns the key; nil if there is none, or if the system has no keyring for this process: the next way is tried.
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
