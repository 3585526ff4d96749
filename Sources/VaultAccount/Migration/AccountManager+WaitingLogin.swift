import Vault

extension AccountManager {
    /// Logs in with the user name and the password that an older program kept, if there are any.
    func loginThatWaits() async -> State {
        guard let waiting = try? vault().waiting.read() else { return state }
        do { return try await login(userName: waiting.userName, password: waiting.password) } catch {
            if case .rejected = error { try? giveUp(waiting) }
            return reload()
        }
    }

    /// The server does not take the password: it is of no use any more.
    private func giveUp(_ login: WaitingLogin) throws(VaultError) {
        let vault = try vault()
        try vault.commit { (transaction) throws(VaultError) in
            guard try transaction.read(vault.waiting) == login else { return }
            try transaction.remove(vault.waiting)
            if try transaction.read(vault.current) == nil { try transaction.write(.rejected, to: vault.ended) }
        }
    }
}
