public import FoundationEssentials
import SealedLog
public import Sealing

extension Keychain {
    /// Sets a value; it is on the disk when this returns.
    ///
    /// - Parameters:
    ///   - attributes: replace those of the name; nil keeps them.
    ///   - expires: from when on the name is absent; nil if the value does not expire, whatever the former one did. The
    ///     clock of the machine that reads decides, and observers get no notice. The bytes stay in the file, sealed: a
    ///     later value makes them an earlier one, and a compaction drops them 90 days after they have expired, or later
    ///     if the history is kept for longer.
    /// - Throws: ``VaultError`` with `invalid` for a name, value or attributes out of bounds, `damaged`, `busy`,
    ///   `unavailable` (the former value is kept), `outcomeUnknown`; `rolledBack`, `diverged` or `exchanged` if the
    ///   file was replaced meanwhile.
    public func set(
        _ name: String, to value: borrowing SecretBytes, attributes: [String: String]? = nil, expires: Date? = nil
    ) throws(VaultError) {
        try set(name, to: value, kind: .unspecified, attributes: attributes, expires: expires)
    }

    /// Sets a text; it is on the disk when this returns.
    ///
    /// - Throws: as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    public func set(
        _ name: String, to text: String, attributes: [String: String]? = nil, expires: Date? = nil
    ) throws(VaultError) {
        try set(name, to: SecretBytes(utf8: text), kind: .text, attributes: attributes, expires: expires)
    }

    /// Sets bytes; they are on the disk when this returns.
    ///
    /// - Throws: as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
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
    ///   - attributes: replace those of the same keys; the name keeps its others.
    ///   - isReplacing: whether a value that the name has is replaced.
    /// - Throws: as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
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

    /// Sets a value if the name is unchanged since this process read it; nil if it is not. For a vault in a database, a
    /// read would cost a round trip.
    private func putAsKnown(
        _ name: String, _ value: borrowing SealableValue, _ attributes: [String: String], _ expires: Date?,
        replacing isReplacing: Bool
    ) throws(VaultError) -> PutOutcome? {
        let entry = try checked(name)
        // If a name cannot be read, the transaction reports it.
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

    /// Uses no ``Transaction``: a single change does not need its bookkeeping.
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

    /// Removes a name. What is left of an expired value becomes an earlier one.
    ///
    /// - Returns: whether it existed; an expired value did not.
    /// - Throws: as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    @discardableResult
    public func remove(_ name: String) throws(VaultError) -> Bool {
        try transaction { (transaction) throws(VaultError) in try transaction.remove(name) }
    }

    /// Makes everything that this keychain shows durable, whichever process wrote it: a process that died before its
    /// flush leaves a change that can be read, and that a power loss undoes.
    ///
    /// The keychain's own calls do not need it: what they wrote is durable when they return.
    ///
    /// - Throws: as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``, but never `invalid`.
    public func makeDurable() throws(VaultError) { try waiting(nil, log.makeDurable) }

    // MARK: Sealing

    /// Returns the change that sets a value, sealed; nothing is written.
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

    /// Returns attributes as they are stored: sorted bytewise by key.
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
    /// Returns attributes together with those that a name has; nil, which keeps these, if there are none.
    fileprivate func added(to former: Entry.Content?) -> [String: String]? {
        isEmpty ? nil : (former?.attributesByKey ?? [:]).merging(self) { $1 }
    }
}
