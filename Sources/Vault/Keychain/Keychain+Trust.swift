import LinuxSystem
import SealedLog

extension Keychain {
    /// Changes what this machine trusts of the vault, whose fingerprint the closure gets. The vault is changed already,
    /// so a failure is reported and not thrown.
    func remember(_ change: (inout TrustRecord, _ fingerprint: [UInt8]) -> Void) {
        guard options.usesRollbackMemory, let fingerprint = try? log.fingerprint() else { return }
        do throws(Notice) {
            try location.trust(log.vaultID, in: storeLocation.files) { change(&$0, fingerprint) }
        } catch { failures.report(VaultError(error, location), key: location.vault) }
    }

    /// Does the same with the vault's fingerprint, which has changed, if this machine knows one.
    func rememberNewFingerprint() {
        remember { record, fingerprint in if record.fingerprint != nil { record.fingerprint = fingerprint } }
    }
}
