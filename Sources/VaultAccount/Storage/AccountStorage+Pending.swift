import Vault

// A login or a logout is one commit in the vault. The same commit records the pending work: a profile change to write
// to the preferences, or a profile to remove from them. Several processes may do the pending work at the same time. So
// each process first reads the preferences, then checks that the work is still pending, and writes only if no other
// process has written since. It checks the vault once more afterwards.

extension AccountStorage {
    func finishPendingWork() throws { for id in try vault().pendingIDs() { try finishPendingWork(for: id) } }

    /// Finishes the pending work for one account. An old profile is removed before a new one is written.
    func finishPendingWork(for id: String) throws {
        try removeProfile(id)
        if try writeProfile(id) { try removeProfile(id) }
    }

    private func removeProfile(_ id: String) throws {
        let vault = try vault()
        let preferences = try preferences()
        guard try vault.pendingRemoval(id).read() == true else { return }
        let removed = try preferences.remove(id, if: vault.pendingRemoval(id).read() == true)
        try preferences.makeDurable()
        try vault.store.atomically { transaction in
            guard try transaction.read(vault.pendingRemoval(id)) != true else {
                // Fields that reappeared come from a process that missed the logout, so their removal stays pending.
                if try preferences.fields(of: id).isEmpty { try transaction.remove(vault.pendingRemoval(id)) }
                return
            }
            // Another process finished this logout. The removed profile may be that of a later login, so restore it.
            guard !removed.isEmpty, try transaction.read(vault.session(id)) != nil,
                try transaction.read(vault.pendingChange(id)) == nil, try preferences.fields(of: id).isEmpty
            else { return }
            try transaction.write(ProfileChange(fields: removed), to: vault.pendingChange(id))
        }
    }

    /// Writes a pending profile change. Returns true if a logout in the meantime requires removing the profile again.
    private func writeProfile(_ id: String) throws -> Bool {
        let vault = try vault()
        let preferences = try preferences()
        guard let change = try vault.pendingChange(id).read() else { return false }
        do {
            try preferences.write(change, of: id, if: vault.pendingChange(id).read() == change)
        } catch let error as VaultError where error.code == .invalid {
            // Fields that the preferences can never store must not stay pending: each later login would try and fail.
            try vault.pendingChange(id).remove()
            throw error
        }
        if try vault.current.read() == id, let session = try vault.session(id).read() {
            try preferences.lastUserName.write(session.userName)
        }
        try preferences.makeDurable()
        return try vault.store.atomically { transaction in
            let pending = try transaction.read(vault.pendingChange(id))
            if pending == change {
                try transaction.remove(vault.pendingChange(id))
                return false
            }
            // A different pending change was recorded after this one, and is left to another call of this function.
            guard pending == nil, try transaction.read(vault.session(id)) == nil else { return false }
            // If the server has logged the user out, the profile is kept.
            let reason = try transaction.read(vault.ended)
            guard reason != .endedByServer, reason != .rejected else { return false }
            try transaction.write(true, to: vault.pendingRemoval(id))
            return true
        }
    }
}
