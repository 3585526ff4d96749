import LinuxSystem
import SealedFormat

// These methods return a key file's text or split it into shares, so that the key survives the loss of a disk.

extension Keychain.VaultKeys {
    /// Returns the text of a generated key file, so that the key file can be backed up elsewhere.
    ///
    /// - Throws: ``VaultError`` with `locked` if the key file cannot be read, `invalid` if it was not generated.
    public static func keyFileText(
        at location: VaultLocation, options: Keychain.Options = Keychain.Options()
    ) throws(VaultError) -> SecretBytes {
        let key = try location.translated(location.readKey(options.unlocking))
        guard key.kind == .generated else {
            throw VaultError(.invalid, "\(location.keyFile) is not a generated key file. Copy the file itself.")
        }
        return try location.translated(key.text())
    }

    /// Checks that a key file, such as a backup, opens a vault. Verifies the whole vault with it, and changes nothing.
    ///
    /// - Returns: the key to which the file belongs.
    /// - Throws: ``VaultError`` with `locked` if the file cannot be used or opens another vault; the errors of
    ///   ``Keychain/Maintenance/verify()``.
    public static func checkKeyFile(
        at path: String, of location: VaultLocation, options: Keychain.Options = Keychain.Options()
    ) throws(VaultError) -> Key {
        let keychain = try opened(byKeyFileAt: path, of: location, options: options)
        try keychain.maintenance.verify()
        guard let key = try keychain.vaultKeys.all().first(where: \.isInUse) else {
            throw VaultError(LogError(.slotGone), location)
        }
        return key
    }

    package static func opened(
        byKeyFileAt path: String, of location: VaultLocation, options: Keychain.Options,
        failures: FailureLog = FailureLog()
    ) throws(VaultError) -> Keychain {
        let location = location.withKeyFile(path)
        var options = options
        options.triesKeyFileAlone = true
        options.keyFileContents = nil
        return try Keychain(at: location, options: options, failures: failures)
    }

    /// Splits a generated key file into shares with Shamir's secret sharing. Any `threshold` shares restore the key
    /// file; fewer shares reveal nothing about it.
    ///
    /// - Throws: the same errors as ``keyFileText(at:options:)``; `invalid` unless 2 ≤ threshold ≤ count ≤ 32.
    public static func splitKeyFile(
        at location: VaultLocation, into count: Int, threshold: Int, options: Keychain.Options = Keychain.Options()
    ) throws(VaultError) -> KeyFileShares {
        let key = try location.translated(location.readKey(options.unlocking))
        return KeyFileShares(try location.translated(key.shares(count, threshold: threshold)), location)
    }

    /// Restores a key file from the text of its shares, in any order.
    ///
    /// - Parameter path: the path of the restored file. No file may exist there.
    /// - Throws: ``VaultError`` with `invalid` if a share is mistyped or belongs to another set, or if there are too
    ///   few; `exists`, `busy` or `unavailable`.
    public static func joinKeyFile(_ shares: borrowing SecretBytes, to path: String) throws(VaultError) {
        try VaultLocation.checkWritten(path, "The key file's path", isKeyFile: true)
        let key: KeyFile
        do { key = try KeyFile.join(shares) } catch {
            if error.code == .outOfMemory { throw .noGuardedMemory }
            throw VaultError(.invalid, "The key file cannot be restored: \(error.detail).")
        }
        let files = PosixFileSystem()
        do throws(LogError) {
            let deadline = Deadline(after: .seconds(10))
            guard try key.store(at: resolvedPath(path), in: files, until: deadline) else {
                throw LogError(.exists, path)
            }
        } catch { throw VaultError(error, VaultLocation(vault: "", keyFile: path, rollbackMemory: nil)) }
    }
}

/// The shares of a key file. Keep each share with a different person or in a different place.
public struct KeyFileShares: ~Copyable {
    private let shares: KeyShares
    private let location: VaultLocation

    init(_ shares: consuming KeyShares, _ location: VaultLocation) {
        self.shares = shares
        self.location = location
    }

    /// The number of shares.
    public var count: Int { shares.count }

    /// Returns the text of one share: explanatory comments, and one line with the share itself.
    ///
    /// - Parameter index: from 1 to ``count``.
    /// - Throws: ``VaultError`` with `invalid` for another index; `unavailable` if there is no guarded memory left.
    public borrowing func text(at index: Int) throws(VaultError) -> SecretBytes {
        guard (1...count).contains(index) else { throw VaultError(.invalid, "The shares are numbered 1 to \(count).") }
        return try location.translated(shares.text(at: index))
    }
}
