extension StoredKeyed {
    /// What ``Storable/value`` gives: the value or the default; nil if there is neither, or if reading failed, which is reported.
    func valueReporting() -> Value? {
        reporting { () throws(VaultError) in try read() } ?? nil
    }

    /// nil removes.
    func setReporting(_ value: Value?) {
        _ = reporting { () throws(VaultError) in
            if let value { try write(value) } else { try remove() }
        }
    }

    /// Reports to the store's failure log; nil after a failure.
    private func reporting<Result>(_ body: () throws(VaultError) -> Result) -> Result? {
        do { return try body() } catch {
            let failures = (try? stored.home.resolve())?.failures ?? stored.home.failures
            failures?.report(error, key: stored.name)
            return nil
        }
    }
}
