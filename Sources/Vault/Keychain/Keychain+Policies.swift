import SealedLog

extension Keychain {
    /// Writes changes, all or none; returns false if a name is not in the expected state. All changes are written here.
    ///
    /// - Parameter isLifting: whether policies may be removed; see ``Options/keepsPolicies``.
    /// - Throws: the errors of ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``; `guarded`.
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

    /// Returns the policy that guards an entry, which is its own or its login's; nil if there is none. An expired login
    /// still guards its fields.
    func policy(of name: EntryName) throws(VaultError) -> String? {
        if let own = try ownPolicy(of: name) { return own }
        guard let login = name.login else { return nil }
        return try ownPolicy(of: login)
    }

    private func ownPolicy(of name: EntryName) throws(VaultError) -> String? {
        try translated(log.history(name))?.content?.attributes.value(of: Login.policyKey)
    }

    // MARK: Fields

    /// Makes a restored field keep the policy that its login had, if the login no longer has it. Throws `guarded` if
    /// the changes would leave a field without its login's policy.
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
                    "\"\(left)\" is also guarded by the policy of \"\(login)\", and would be left without it. "
                        + "Nothing was changed.", causes: [.fieldLeft(left, policy: policy)])
            }
        }
    }

    /// Returns the last policy of a login that has none now, or that the changes remove; nil if it still has a policy.
    private func formerPolicy(ofLogin login: EntryName?, _ changes: ChangeList) throws(VaultError) -> String? {
        guard let login, let entry = try translated(log.history(login)) else { return nil }
        let policies = entry.attributes(sinceEarlier: entry.earlier.count).map { $0.value(of: Login.policyKey) }
        if case .remove = changes.newest(login)?.action {} else if policies.first != .some(nil) { return nil }
        return policies.compactMap(\.self).first
    }

    /// Returns the first field of a login that would remain after the changes without a policy of its own.
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
