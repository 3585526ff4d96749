import FoundationEssentials
import SealedLog
package import Sealing

extension Keychain {
    /// Renames an entry.
    ///
    /// - Throws: as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``; `absent` if the name does not exist,
    ///   `exists` if the new one does and `replacing` is false.
    public func rename(_ name: String, to newName: String, replacing: Bool = false) throws(VaultError) {
        try relocate([(name, newName)], replacing: replacing, removing: true)
    }

    /// Copies an entry, with its attributes, to another name.
    ///
    /// - Throws: as ``rename(_:to:replacing:)``.
    public func copy(_ name: String, to newName: String, replacing: Bool = false) throws(VaultError) {
        try relocate([(name, newName)], replacing: replacing, removing: false)
    }

    /// Does the same for several names, all or none. No new name may be one of the former ones, except its own.
    ///
    /// - Parameter isRemoving: whether the former names are removed.
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
        // Names are compared by bytes: as strings, two spellings of an accented letter are equal.
        guard source != target else { return }
        if !isReplacing, try transaction.exists(newName) { throw VaultError(.exists, "\"\(newName)\" already exists.") }
        let kind = ValueKind(rawValue: content.current.kind)
        let expires = content.expiry.map(Date.init(milliseconds:))
        var attributes = content.attributesByKey
        if options.keepsPolicies, let policy = try policy(of: source) {
            // The policy of its login is kept, unless the new name's login has the same.
            let others = if let login = target.login { try transaction.attributes(login) } else { [Attribute]() }
            if others.value(of: Login.policyKey) != policy { attributes[Login.policyKey] = policy }
        }
        try transaction.set(newName, to: value, kind: kind, attributes: attributes, expires: expires)
        if isRemoving { try transaction.remove(name) }
    }

    /// Replaces attributes of a name, and removes those whose value is nil; the value and its expiry stay. The former
    /// state becomes an earlier version.
    ///
    /// - Parameter required: attributes that the name has to have, or not to have (nil); otherwise nothing is changed.
    /// - Returns: the attributes that the name had, and those that it has then.
    /// - Throws: as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``; `absent` if the name does not exist.
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
            // By bytes: another spelling of a character is a change.
            guard Set(try Keychain.checked(attributes)) != Set(content.attributes) else { return (former, former) }
            try transaction.set(
                name, to: value, kind: ValueKind(rawValue: content.current.kind), attributes: attributes,
                expires: content.expiry.map(Date.init(milliseconds:)))
            return (former, attributes)
        }
    }

    /// Returns a short text that is equal for equal values of this vault and its copies, until its keys are rotated. It
    /// reveals nothing about the value without the vault's keys.
    package func fingerprint(ofValue value: borrowing SecretBytes) throws(VaultError) -> String {
        do throws(LogError) { return Fingerprint.text(Array(try log.fingerprint(ofValue: value)[..<8])) } catch {
            throw VaultError(error, location)
        }
    }
}
