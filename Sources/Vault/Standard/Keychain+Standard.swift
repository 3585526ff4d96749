import LinuxSystem

extension Keychain {
    /// The process's own keychain: the vault at the standard places, opened at its first use and made if there is none.
    ///
    /// The places are those of ``VaultPlaces/standard(vault:keyFile:environment:)`` at that time. While it cannot be opened,
    /// each access tries anew. Within a task that has test stores it is their keychain.
    ///
    /// - Throws: ``VaultError`` as ``init(at:creating:options:failures:)``.
    public static var standard: Keychain {
        get throws(VaultError) {
            try StandardStores.resolve(\.keychain, else: opened.get)
        }
    }

    /// Where errors of the standard keychain are reported, also those of opening it.
    public static let standardFailures = FailureLog()

    private static let opened = OpenedKeychain()
}

/// Opens the standard keychain once, however many threads ask for it first.
private final class OpenedKeychain: Sendable {
    private let keychain = Mutex<Keychain?>(nil)

    func get() throws(VaultError) -> Keychain {
        if let keychain = keychain.withLock({ $0 }) { return keychain }
        // Not under the lock: waiting for another process would hold up every thread. Two keychains on one file are no harm.
        let new = try Keychain(
            at: .standard(), creating: .ifAbsent, options: Keychain.Options(), failures: Keychain.standardFailures)
        return keychain.withLock { keychain in
            if let keychain { return keychain }
            keychain = new
            return new
        }
    }
}
