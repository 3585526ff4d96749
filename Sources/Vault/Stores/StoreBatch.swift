/// What a store commits in one piece: changes, and what has to hold for them to be made.
public struct StoreBatch: Sendable {
    /// The values that keys must still have, nil for absent. None for a plain write.
    public var expectations: [String: StoredValue?]
    /// The values that keys are to have, nil to remove them.
    public var changes: [String: StoredValue?]

    /// Changes, nil to remove, that are to be made only if all of `expectations` still hold.
    public init(_ changes: [String: StoredValue?], expecting expectations: [String: StoredValue?] = [:]) {
        self.changes = changes
        self.expectations = expectations
    }

    /// Whether a store's present values are those expected.
    ///
    /// - Throws: what `value` throws.
    public func holds(_ value: (String) throws(VaultError) -> StoredValue?) throws(VaultError) -> Bool {
        for (key, expected) in expectations {
            guard try value(key) == expected else { return false }
        }
        return true
    }
}
