public import FoundationEssentials
import SealedLog

extension Keychain {
    /// Sets a value, which is durable when this method returns.
    ///
    /// - Parameters:
    ///   - attributes: the new attributes; nil keeps the current ones.
    ///   - expires: the time at which the name becomes absent, by the clock of the machine that reads it; nil if the
    ///     value does not expire, even if the former one did. Observers are not notified of the expiry. The sealed
    ///     bytes stay in the file. If the name is set again, they become an earlier value; otherwise, a compaction
    ///     drops them 90 days after the expiry, or later if the history is kept for longer.
    /// - Throws: ``VaultError`` with `invalid` for an invalid name, value or attribute; `damaged`, `busy` or
    ///   `unavailable` (the former value is kept); `outcomeUnknown`; `rolledBack`, `diverged` or `exchanged` if the
    ///   file has been replaced since the vault was opened.
    public func set(
        _ name: String, to value: borrowing SecretBytes, attributes: [String: String]? = nil, expires: Date? = nil
    ) throws(VaultError) {
        try set(name, to: value, kind: .unspecified, attributes: attributes, expires: expires)
    }

    /// Sets a string, which is durable when this method returns.
    ///
    /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    public func set(
        _ name: String, to text: String, attributes: [String: String]? = nil, expires: Date? = nil
    ) throws(VaultError) {
        try set(name, to: SecretBytes(utf8: text), kind: .text, attributes: attributes, expires: expires)
    }

    /// Sets bytes, which are durable when this method returns.
    ///
    /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    public func set(
        _ name: String, to bytes: [UInt8], attributes: [String: String]? = nil, expires: Date? = nil
    ) throws(VaultError) {
        try set(name, to: SecretBytes(copying: bytes), kind: .data, attributes: attributes, expires: expires)
    }

    func set(
        _ name: String, to value: borrowing SecretBytes, expires: Date?, forgetting isForgetting: Bool
    ) throws(VaultError) {
        try set(name, to: value, kind: .unspecified, attributes: nil, expires: expires, forgetting: isForgetting)
    }

    func set(_ name: String, to value: StoredValue, expires: Date?, forgetting isForgetting: Bool) throws(VaultError) {
        let value = try SealableValue(value, for: name)
        try set(name, to: value.bytes, kind: value.kind, attributes: nil, expires: expires, forgetting: isForgetting)
    }

    package enum PutOutcome: Hashable, Sendable {
        case stored, replaced, kept
    }

    /// Sets a value of any kind.
    ///
    /// - Parameters:
    ///   - attributes: attributes to set. Current attributes with other keys are kept.
    ///   - isReplacing: whether to replace a value that the name already has.
    /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    package func put(
        _ name: String, _ value: borrowing SealableValue, adding attributes: [String: String] = [:],
        expires: Date? = nil, replacing isReplacing: Bool = true
    ) throws(VaultError) -> PutOutcome {
        if let outcome = try putAsKnown(name, value, attributes, expires, replacing: isReplacing) { return outcome }
        return try transaction { (transaction) throws(VaultError) in
            let former = try transaction.entry(checked(name))?.content
            if former != nil, !isReplacing { return .kept }
            try transaction.put(name, value, attributes: attributes.added(to: former), expires: expires)
            return former != nil ? .replaced : .stored
        }
    }

    /// Sets a value without first reading the entry, which would cost another round trip in a database. Returns nil and
    /// changes nothing if the caller must read the entry, for example because another process has changed it.
    private func putAsKnown(
        _ name: String, _ value: borrowing SealableValue, _ attributes: [String: String], _ expires: Date?,
        replacing isReplacing: Bool
    ) throws(VaultError) -> PutOutcome? {
        let entry = try checked(name)
        // If the entry cannot be read here, the caller reads it in a transaction, which throws the error.
        guard part == nil,
            case .success(let former) = Result(catching: { () throws(LogError) in try log.knownContent(entry) }),
            former == nil || isReplacing
        else { return nil }
        var nonces = NonceSource()
        var changes = ChangeList([
            try setting(
                name, to: value.bytes, kind: value.kind, attributes: attributes.added(to: former), expires: expires,
                nonces: &nonces)
        ])
        changes.conditions.updateValue(former?.current.nonce, forKey: entry)
        guard try commit(changes) else { return nil }
        return former == nil ? .stored : .replaced
    }

    /// Sets a value without a ``Transaction``, because a single change does not need its bookkeeping.
    private func set(
        _ name: String, to value: borrowing SecretBytes, kind: ValueKind, attributes: [String: String]?,
        expires: Date?, forgetting isForgetting: Bool = false
    ) throws(VaultError) {
        var nonces = NonceSource()
        let change = try setting(
            name, to: value, kind: kind, attributes: attributes, expires: expires, forgets: isForgetting,
            nonces: &nonces)
        guard try commit(ChangeList([change])) else { throw .contended }
    }

    /// Removes an entry. Its value becomes an earlier value, even if the value has expired.
    ///
    /// - Returns: whether the name existed. A name with an expired value counts as absent.
    /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    @discardableResult
    public func remove(_ name: String) throws(VaultError) -> Bool {
        try transaction { (transaction) throws(VaultError) in try transaction.remove(name) }
    }

    /// Flushes everything that this keychain can read, whichever process wrote it. A process may die before it flushes
    /// a change. Other processes can then read that change, but a power loss may undo it.
    ///
    /// The keychain's own writes do not need this method, because they are durable when they return.
    ///
    /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``, but never `invalid`.
    public func makeDurable() throws(VaultError) { try waiting(nil, log.makeDurable) }

    /// Seals a value and returns the change that sets it, without writing anything.
    func setting(
        _ name: String, to value: borrowing SecretBytes, kind: ValueKind, attributes: [String: String]?,
        expires: Date?, forgets: Bool = false, nonces: inout NonceSource
    ) throws(VaultError) -> Change {
        let name = try checked(name)
        let attributes = try attributes.map(Keychain.checked)
        let sealed = try location.translated(log.seal(value, kind: kind.rawValue, nonces: &nonces))
        let expiry = expires.map(\.milliseconds)
        return Change(name, .anything, .set(sealed, attributes: attributes, expiry: expiry), forgets: forgets)
    }

    /// Checks attributes and returns them as they are stored, sorted bytewise by key.
    static func checked(_ attributes: [String: String]) throws(VaultError) -> [Attribute] {
        guard attributes.count <= Limits.attributeCount else {
            throw VaultError(.invalid, "An entry may have at most \(Limits.attributeCount) attributes.")
        }
        guard !attributes.keys.contains("") else { throw VaultError(.invalid, "An attribute needs a key.") }
        return attributes.map { Attribute(key: $0.key, value: $0.value) }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

extension [String: String] {
    /// Returns the attributes of `former` merged with these, which win; nil, which changes nothing, if these are empty.
    fileprivate func added(to former: Entry.Content?) -> [String: String]? {
        isEmpty ? nil : (former?.attributesByKey ?? [:]).merging(self) { $1 }
    }
}
