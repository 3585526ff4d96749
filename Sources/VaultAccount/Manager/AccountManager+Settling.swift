import FoundationEssentials
import Vault

// A login or a logout is one commit in the vault, which says there what the preferences owe. Any process may pay it, and several may at
// once. So each looks first at what the preferences have, then at whether the debt is still there, and writes only if nothing was written
// since; and it looks at the vault once more after it.

extension AccountManager {
    /// Makes good what the preferences owe after a login or a logout.
    func settle() throws(VaultError) {
        for id in try vault().debtors() { try settle(id) }
    }

    /// The same for one account. A former profile goes before a new one comes.
    func settle(_ id: String) throws(VaultError) {
        try settleLogout(id)
        if try settleProfile(id) { try settleLogout(id) }
    }

    private func settleLogout(_ id: String) throws(VaultError) {
        let (vault, preferences) = (try vault(), try preferences())
        guard try vault.leaving(id).read() == true else { return }
        let removed = try preferences.remove(id) { () throws(VaultError) in try vault.leaving(id).read() == true }
        try preferences.makeDurable()
        try vault.commit { (transaction) throws(VaultError) in
            guard try transaction.read(vault.leaving(id)) != true else {
                // What is there again came from someone who did not know: it is yet to go.
                if try preferences.fields(of: id).isEmpty { try transaction.remove(vault.leaving(id)) }
                return
            }
            // Someone else has paid meanwhile. If the person has logged in again since, it was perhaps the new profile that was removed.
            guard !removed.isEmpty, try transaction.read(vault.session(id)) != nil,
                try transaction.read(vault.owed(id)) == nil, try preferences.fields(of: id).isEmpty
            else { return }
            try transaction.write(removed, to: vault.owed(id))
        }
    }

    /// - Returns: whether there was a logout meanwhile, so that what was written has to go again.
    private func settleProfile(_ id: String) throws(VaultError) -> Bool {
        let (vault, preferences) = (try vault(), try preferences())
        guard let fields = try vault.owed(id).read() else { return false }
        do throws(VaultError) {
            try preferences.write(fields, of: id) { () throws(VaultError) in try vault.owed(id).read() == fields }
        } catch {
            // What they can never hold is not owed for ever: each later login would fail for it.
            if error.code == .invalid { try vault.owed(id).remove() }
            throw error
        }
        if try vault.current.read() == id, let session = try vault.session(id).read() {
            try preferences.lastUserName.write(session.userName)
        }
        try preferences.makeDurable()
        var isTooLate = false
        try vault.commit { (transaction) throws(VaultError) in
            isTooLate = false
            let owed = try transaction.read(vault.owed(id))
            // Another login may owe something newer by now.
            if owed == fields { return try transaction.remove(vault.owed(id)) }
            guard owed == nil, try transaction.read(vault.session(id)) == nil else { return }
            // Who did not mean to leave keeps the profile.
            let reason = try transaction.read(vault.ended)
            guard reason != .kicked, reason != .rejected else { return }
            isTooLate = true
            try transaction.write(true, to: vault.leaving(id))
        }
        return isTooLate
    }
}
