import FoundationEssentials
import SealedLog

extension Keychain {
    /// Renames an entry.
    ///
    /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``; `absent` if `name` does not
    ///   exist; `exists` if `newName` exists and `replacing` is false.
    public func rename(_ name: String, to newName: String, replacing: Bool = false) throws(VaultError) {
        try relocate([(name, newName)], replacing: replacing, removing: true)
    }

    /// Copies an entry, with its attributes, to another name.
    ///
    /// - Throws: the same errors as ``rename(_:to:replacing:)``.
    public func copy(_ name: String, to newName: String, replacing: Bool = false) throws(VaultError) {
        try relocate([(name, newName)], replacing: replacing, removing: false)
    }

    /// Renames or copies several entries atomically. An entry's new name must not be another entry's former name.
    ///
    /// - Parameter isRemoving: whether to remove the former names.
    package func relocate(
        _ names: [(from: String, to: String)], replacing isReplacing: Bool, removing isRemoving: Bool
    ) throws(VaultError) {
        let targets = try names.map { (names) throws(VaultError) in try checked(names.to) }
        try transaction { (transaction) throws(VaultError) in
            for (names, target) in zip(names, targets) {
                try duplicate(
                    names.from, to: names.to, target, replacing: isReplacing, removing: isRemoving, in: &transaction)
            }
        }
    }

    private func duplicate(
        _ name: String, to newName: String, _ target: EntryName, replacing isReplacing: Bool,
        removing isRemoving: Bool, in transaction: inout Transaction
    ) throws(VaultError) {
        let source = try transaction.shown(name)
        guard let content = try transaction.entry(source)?.content, let value = try get(name) else {
            throw VaultError(.absent, "No entry named \"\(name)\".")
        }
        // Names are compared bytewise, since two equal strings may encode an accented letter differently.
        guard source != target else { return }
        if !isReplacing, try transaction.exists(newName) { throw VaultError(.exists, "\"\(newName)\" already exists.") }
        let kind = ValueKind(rawValue: content.current.kind)
        let expires = content.expiry.map(Date.init(milliseconds:))
        var attributes = content.attributesByKey
        if options.keepsPolicies, let policy = try policy(of: source) {
            // The same policy must guard the new entry. It needs its own attribute unless its login has that policy.
            let others = if let login = target.login { try transaction.attributes(login) } else { [Attribute]() }
            if others.value(of: Login.policyKey) != policy { attributes[Login.policyKey] = policy }
        }
        try transaction.set(newName, to: value, kind: kind, attributes: attributes, expires: expires)
        if isRemoving { try transaction.remove(name) }
    }

    /// Changes attributes of an entry, and removes those that are nil in `changes`. The value and its expiry are kept.
    /// The former state becomes an earlier version.
    ///
    /// - Parameter required: attributes that the entry must have, or must lack if nil. If one differs, nothing changes.
    /// - Returns: the attributes before and after the call.
    /// - Throws: `absent` if the name does not exist; the errors of
    ///   ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    package func setAttributes(
        of name: String, _ changes: [String: String?], ifMatching required: [String: String?] = [:]
    ) throws(VaultError) -> (former: [String: String], present: [String: String]) {
        try transaction { (transaction) throws(VaultError) in
            transaction.liftsPolicies = true
            guard let content = try transaction.entry(transaction.shown(name))?.content, let value = try get(name)
            else { throw VaultError(.absent, "No entry named \"\(name)\".") }
            let former = content.attributesByKey
            guard required.allSatisfy({ former[$0] == $1 }) else { return (former, former) }
            let attributes = former.merging(changes.compactMapValues(\.self)) { $1 }
                .filter { changes[$0.key] != .some(nil) }
            // The comparison is bytewise, since another encoding of the same character counts as a change.
            guard Set(try Keychain.checked(attributes)) != Set(content.attributes) else { return (former, former) }
            try transaction.set(
                name, to: value, kind: ValueKind(rawValue: content.current.kind), attributes: attributes,
                expires: content.expiry.map(Date.init(milliseconds:)))
            return (former, attributes)
        }
    }

    /// Returns a short string that is the same for equal values in this vault and its copies, until the data key is
    /// rotated. The string reveals nothing about the value to anyone who cannot open the vault.
    package func fingerprint(ofValue value: borrowing SecretBytes) throws(VaultError) -> String {
        do throws(LogError) { return Fingerprint.text(Array(try log.fingerprint(ofValue: value)[..<8])) } catch {
            throw VaultError(error, location)
        }
    }
}
