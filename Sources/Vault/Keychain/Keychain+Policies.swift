import SealedLog

extension Keychain {
    /// Writes changes atomically. Returns false if a name is not in the expected state. All writes use this method.
    ///
    /// - Parameter isLifting: whether policies may be removed; see ``Options/keepsPolicies``.
    /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``; `guarded`.
    func commit(_ changes: ChangeList, liftingPolicies isLifting: Bool = false) throws(VaultError) -> Bool {
        var list = changes
        if options.keepsPolicies, !isLifting {
            list.keptAttribute = options.keptAttribute
            try guardFields(&list)
        }
        let isCommitted = try waiting { (timeout) throws(LogError) in
            do throws(LogError) { try log.commit(list, timeout: timeout) } catch {
                guard error.code == .conflict else { throw error }
                return false
            }
            return true
        }
        if isCommitted { self.changes.notify() }
        return isCommitted
    }

    /// Returns the policy that guards an entry: the entry's own policy, otherwise its login's; nil if neither has a
    /// policy. An expired login still guards its fields.
    func policy(of name: EntryName) throws(VaultError) -> String? {
        if let own = try ownPolicy(of: name) { return own }
        guard let login = name.login else { return nil }
        return try ownPolicy(of: login)
    }

    private func ownPolicy(of name: EntryName) throws(VaultError) -> String? {
        try translated(log.history(name))?.content?.attributes.value(of: Login.policyKey)
    }

    /// Gives a restored field the former policy of its login, if the login has lost it and the field would otherwise
    /// have none. Throws `guarded` if `changes` would leave a field without its login's policy.
    private func guardFields(_ changes: inout ChangeList) throws(VaultError) {
        for number in 0..<changes.count {
            let change = changes[number]
            switch change.action {
            case .set: continue
            case .restore: changes.keptValues[change.name] = try formerPolicy(ofLogin: change.name.login, changes)
            case .remove:
                guard let policy = try ownPolicy(of: change.name),
                    let field = try firstField(of: change.name, leftBy: changes)
                else { continue }
                let (login, left) = (shortened(change.name.text), shortened(field.text))
                throw VaultError(
                    .guarded,
                    "\"\(left)\" is protected only by the policy of \"\(login)\", and would be left without one. "
                        + "Nothing was changed.", causes: [.fieldLeft(left, policy: policy)])
            }
        }
    }

    /// Returns a login's last policy if the login no longer has one, or if `changes` remove the login; otherwise nil.
    private func formerPolicy(ofLogin login: EntryName?, _ changes: ChangeList) throws(VaultError) -> String? {
        guard let login, let entry = try translated(log.history(login)) else { return nil }
        let policies = entry.attributes(sinceEarlier: entry.earlier.count).map { $0.value(of: Login.policyKey) }
        if case .remove = changes.newest(login)?.action {} else if policies.first != .some(nil) { return nil }
        return policies.compactMap(\.self).first
    }

    /// Returns the login's first field that `changes` would leave without a policy of its own; nil if there is none.
    private func firstField(of login: EntryName, leftBy changes: ChangeList) throws(VaultError) -> EntryName? {
        var names = try translated(log.names(prefix: login.bytes + [UInt8(ascii: ".")]))
        while let name = try location.translated(names.next()) {
            if let field = EntryName(name), field.login == login, try isLeft(field, by: changes) { return field }
        }
        return nil
    }

    private func isLeft(_ field: EntryName, by changes: ChangeList) throws(VaultError) -> Bool {
        switch changes.newest(field)?.action {
        case .remove: return false
        case .set(_, let attributes?, _) where attributes.value(of: Login.policyKey) != nil: return false
        default: return try ownPolicy(of: field) == nil
        }
    }
}

extension EntryName {
    var login: EntryName? { Login.split(text).flatMap { EntryName($0.login) } }
}

/// The command that may read a value, named by the attribute `policy` of the value's entry or of its login. Policies
/// prevent mistakes, not attacks, since anyone who can open the vault can change them.
package enum ReadingPolicy: String, CaseIterable {
    /// Permits only `vault run`, which passes the value to a program and never shows it.
    case run

    /// Throws `guarded` if an entry's attributes forbid the read. An unknown policy forbids all reads.
    ///
    /// - Parameters:
    ///   - isThere: whether the entry exists. An expired login counts as absent, but its policy guards its fields.
    ///   - reader: the name of a command, or of another reader.
    package static func check(
        _ attributes: [String: String], of entry: String, isThere: Bool = true, for reader: String
    ) throws(VaultError) {
        guard let text = stated(in: attributes) else { return }
        // A policy is named after the command that it permits.
        if let policy = ReadingPolicy(rawValue: text), policy.rawValue == reader { return }
        throw VaultError(.guarded, "\(rule(text, of: entry)).", causes: [.policySet(entry, isExpired: !isThere)])
    }

    /// Returns a sentence, without a full stop, about the policy in an entry's attributes; nil if there is no policy.
    package static func rule(for attributes: [String: String], of entry: String) -> String? {
        stated(in: attributes).map { rule($0, of: entry) }
    }

    private static func rule(_ policy: String, of entry: String) -> String {
        ReadingPolicy(rawValue: policy).map { "Only `vault \($0.rawValue)` may read \"\(entry)\"" }
            ?? "\"\(entry)\" has a policy that this version does not know, so no command may read it"
    }

    package static func stated(in attributes: [String: String]) -> String? {
        attributes[Login.policyKey].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The names of a login and its fields, as the `vault` command uses them.
///
/// The password is the value of the login's entry. Data that is not secret (user name, address) is in its attributes.
/// Any other secret is a *field*, a separate entry whose name consists of the login's name, a dot and the field's name,
/// such as `mail/work.otp`.
package enum Login {
    /// The attribute that specifies which commands may read the values of a login and its fields. See
    /// ``Keychain/Options/keepsPolicies``.
    package static let policyKey = "policy"

    package static func name(of field: String, in login: String) -> String { "\(login).\(field)" }

    /// Splits the name of a field at its last dot; returns nil if `name` is not the name of a field.
    package static func split(_ name: String) -> (login: String, field: String)? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        let field = name[name.utf8.index(after: dot)...]
        return field.isEmpty || field.utf8.contains(UInt8(ascii: "/")) ? nil : (String(name[..<dot]), String(field))
    }
}
