public import FoundationEssentials
import LinuxSystem
public import Sealing

extension KeychainStorable {
    /// Sets the value, which is absent from `date` on, as if it were removed then. The next write without a date ends
    /// that. Observers get no notice when a value expires. A value that is moved to another store leaves its expiry
    /// behind.
    ///
    /// - Throws: ``VaultError`` as ``ValueKey/write(_:)-5u2oi``, `invalid` if the key's store keeps no secrets.
    public func write(_ value: Value, expires date: Date) throws(VaultError) {
        let stored = try value.storedValue(for: name)
        try secretStore(for: .writing).set(name, to: stored, expires: date, forgetting: false)
    }

    /// Sets the value's bytes from guarded memory, as ``write(secret:)`` does, until `date`.
    ///
    /// - Throws: as ``write(secret:)``.
    public func write(secret: borrowing SecretBytes, expires date: Date) throws(VaultError) {
        try secretStore(for: .writing).set(name, to: secret, expires: date, forgetting: false)
    }
}

extension KeychainStorable where Value: Sendable {
    /// Sets the value until `date`, and awaits it.
    public func write(_ value: Value, expires date: Date) async throws(VaultError) {
        try await onBlockingThread { () throws(VaultError) in try write(value, expires: date) }
    }
}

extension DefaultedKey {
    /// Sets the value until `date`; from then on reading returns the default.
    ///
    /// - Throws: as the same call of ``KeychainStorable``.
    public func write<Kept>(_ value: Kept, expires date: Date) throws(VaultError) where Key == KeychainStorable<Kept> {
        try key.write(value, expires: date)
    }
}
