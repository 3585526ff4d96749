extension StoredKeyed {
    /// The value, or the default; setting nil removes it.
    ///
    /// A failure cannot be thrown from here: it is reported to the store's ``ValueStore/failures``, and reading gives nil. Where that
    /// must be told from "no value", use ``read()``.
    public var value: Value? {
        get { valueReporting() }
        // Alone mutating, so that a group of keys in a `let` cannot be written through.
        mutating set { setReporting(newValue) }
    }

    /// What ``value`` gives, for wrappers, whose setters mutate nothing.
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
            failures.report(error, key: stored.name)
            return nil
        }
    }
}
