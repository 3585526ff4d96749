import SealedLog

extension Keychain {
    /// Writes changes, all or none; false if a name is not as they expect it. Every change of an entry is written here.
    ///
    /// - Parameter isLifting: whether policies may be taken away; see ``Options/keepsPolicies``.
    /// - Throws: as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``; `guarded`.
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

    /// Returns the policy that guards an entry, its own or that of the login whose field it is; nil for none. An
    /// expired login still guards its fields.
    func policy(of name: EntryName) throws(VaultError) -> String? {
        if let own = try ownPolicy(of: name) { return own }
        guard let login = name.login else { return nil }
        return try ownPolicy(of: login)
    }

    private func ownPolicy(of name: EntryName) throws(VaultError) -> String? {
        try translated(log.history(name))?.content?.attributes.value(of: Login.policyKey)
    }

    // MARK: Fields

    /// Gives fields that are restored the policy that their login had, if that is not there. Throws `guarded` if
    /// changes leave a field without the policy of its login.
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
                    "The policy of \"\(login)\" guards \"\(left)\" too, which would be left without it. "
                        + "Nothing was changed.", causes: [.fieldLeft(left, policy: policy)])
            }
        }
    }

    /// Returns the policy that a login had before it was removed, also by some changes; nil if it has one after them.
    private func formerPolicy(ofLogin login: EntryName?, _ changes: ChangeList) throws(VaultError) -> String? {
        guard let login, let entry = try translated(log.history(login)) else { return nil }
        let policies = entry.attributes(sinceEarlier: entry.earlier.count).map { $0.value(of: Login.policyKey) }
        if case .remove = changes.newest(login)?.action {} else if policies.first != .some(nil) { return nil }
        return policies.compactMap(\.self).first
    }

    /// Returns the first field of a login that is there after some changes, without a policy of its own.
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
