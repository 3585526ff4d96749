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
