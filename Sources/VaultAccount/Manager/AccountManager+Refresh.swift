import FoundationEssentials
import Synchronization
import Vault

extension AccountManager {
    /// Gets new tokens from the server. All who ask while one refresh is on its way share it.
    ///
    /// The new tokens are in the vault when this returns. Between the server's answer and the disk they can be lost with the machine; the
    /// server may then take neither the old nor the new ones, and the person logs in again. Nothing else is lost.
    ///
    /// - Throws: ``AccountError``: `rejected` if the server no longer takes them: the person is logged out then; `unreachable`: nothing was
    ///   changed; `notLoggedIn`, `expired` if there is nothing to refresh with; `store`.
    @discardableResult
    public func refresh() async throws(AccountError) -> Tokens {
        let (id, task) = core.withLock { core in
            if let refreshing = core.refreshing { return refreshing }
            core.nextRefresh += 1
            let id = core.nextRefresh
            let refreshing = (id: id, task: Task { await self.refreshed() })
            core.refreshing = refreshing
            return refreshing
        }
        let result = await task.value
        core.withLock { if $0.refreshing?.id == id { $0.refreshing = nil } }
        return try result.get()
    }

    /// The access token, refreshed first if it has ended.
    ///
    /// - Throws: as ``refresh()``.
    public func accessToken() async throws(AccountError) -> String {
        let tokens = try currentSession().tokens
        guard tokens.isExpired(at: options.now()) else { return tokens.access }
        return try await refresh().access
    }

    func currentSession() throws(AccountError) -> Session {
        if case .unknown = state { reload() }
        let view = core.withLock { ($0.known, $0.profile) }
        switch (view.0, evaluate(view)) {
        case (.session(let session), .loggedIn): return session
        case (.session, _): throw .expired
        case (.ended(let reason), _): throw .notLoggedIn(reason)
        case (.failed(let error), _): throw .store(error)
        case (.nothing, _): throw .notLoggedIn(.never)
        }
    }

    private func refreshed() async -> Result<Tokens, AccountError> {
        do throws(AccountError) {
            let known = try currentSession().tokens
            // Another process may have refreshed them meanwhile.
            reload()
            let session = try currentSession()
            guard session.tokens == known else { return .success(session.tokens) }
            return .success(try await rotate(session))
        } catch { return .failure(error) }
    }

    private func rotate(_ session: Session) async throws(AccountError) -> Tokens {
        let turn = UUID()
        guard try await takeTurn(turn, for: session) else {
            reload()
            return try currentSession().tokens
        }
        let new: Tokens
        do throws(ServiceError) {
            new = try await options.retries.run(options.sleep) { () async throws(ServiceError) in
                try await service.refresh(session.tokens)
            }
        } catch {
            endTurn(turn, for: session)
            guard error.kind == .rejected else { throw AccountError(error) }
            return try rejected(session.tokens, error)
        }
        return try keep(new, of: session)
    }

    /// A rejection counts only if nobody has newer tokens: a turn that took too long may have passed to another process.
    private func rejected(_ tokens: Tokens, _ error: ServiceError) throws(AccountError) -> Tokens {
        reload()
        let present = try currentSession()
        guard present.tokens == tokens else { return present.tokens }
        try end(error.logoutReason, of: present.accountID, if: tokens)
        throw .rejected(error)
    }

    private func keep(_ new: Tokens, of old: Session) throws(AccountError) -> Tokens {
        do throws(VaultError) {
            let (vault, id) = (try vault(), old.accountID)
            try vault.commit { (transaction) throws(VaultError) in
                try transaction.remove(vault.turn(id))
                // Newer ones of another process stay, and a logout stays. The account may no longer be the current one.
                guard var session = try transaction.read(vault.session(id)), session.tokens == old.tokens else {
                    return
                }
                session.tokens = new
                try transaction.write(session, to: vault.session(id))
            }
            reload()
        } catch {
            reload()
            throw .store(error)
        }
        return try currentSession().tokens
    }
}
