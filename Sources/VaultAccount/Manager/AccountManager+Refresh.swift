import FoundationEssentials
import Synchronization
import Vault

extension AccountManager {
    /// Gets new tokens from the server. All who ask while one refresh of the account is on its way share it.
    ///
    /// The new tokens are in the vault when this returns. Between the server's answer and the disk they can be lost with the machine; the
    /// server may then take neither the old nor the new ones, and the person logs in again. Nothing else is lost.
    ///
    /// - Throws: ``AccountError``: `rejected` if the server no longer takes them: the person is logged out then; `unreachable`: nothing was
    ///   changed; `notLoggedIn`, `expired` if there is nothing to refresh with; `switched` if the account is no longer the current one;
    ///   `store`.
    @discardableResult
    public func refresh() async throws(AccountError) -> Tokens {
        try await refreshed(try currentSession()).tokens
    }

    /// The access token, refreshed first if it has ended.
    ///
    /// - Throws: as ``refresh()``.
    public func accessToken() async throws(AccountError) -> String {
        try await freshSession().tokens.access
    }

    /// The session of who is logged in, with tokens that have not ended.
    func freshSession() async throws(AccountError) -> Session {
        let session = try currentSession()
        guard session.tokens.isExpired(at: options.now()) else { return session }
        return try await refreshed(session)
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

    /// The same session with other tokens than it has. Of each account one refresh is on its way at a time.
    func refreshed(_ session: Session) async throws(AccountError) -> Session {
        let id = session.accountID
        let task = core.withLock { core in
            if let refreshing = core.refreshing[id] { return refreshing }
            let refreshing = Task {
                let result = await self.result(ofRefreshing: session)
                self.core.withLock { $0.refreshing[id] = nil }
                return result
            }
            core.refreshing[id] = refreshing
            return refreshing
        }
        return try await task.value.get()
    }

    private func result(ofRefreshing session: Session) async -> Result<Session, AccountError> {
        do throws(AccountError) {
            // Another process may have refreshed them meanwhile.
            let present = try reloadedSession(of: session.accountID)
            guard present.tokens == session.tokens else { return .success(present) }
            return .success(try await rotate(present))
        } catch { return .failure(error) }
    }

    private func reloadedSession(of id: String) throws(AccountError) -> Session {
        reload()
        let session = try currentSession()
        guard session.accountID == id else { throw .switched }
        return session
    }

    private func rotate(_ session: Session) async throws(AccountError) -> Session {
        let turn = UUID()
        let answer: Result<Tokens?, AccountError>
        do throws(ServiceError) {
            answer = try await options.retries.run(options.sleep) { () async throws(ServiceError) in
                // Anew before each attempt: after the pause before it, it may be someone else's turn.
                do throws(AccountError) {
                    guard try await takeTurn(turn, for: session) else { return .success(nil) }
                } catch { return .failure(error) }
                return .success(try await service.refresh(session.tokens))
            }
        } catch {
            guard error.kind == .rejected else {
                endTurn(turn, for: session)
                throw AccountError(error)
            }
            return try await rejected(session, error, turn)
        }
        if let new = try answer.get() { try keep(new, of: session, turn) }
        return try reloadedSession(of: session.accountID)
    }

    /// A rejection counts only if nobody has newer tokens, or is about to get them: a turn that took too long may have passed to another
    /// process.
    ///
    /// - Returns: the session with newer tokens, if there are any.
    func rejected(
        _ session: Session, _ error: ServiceError, _ turn: UUID
    ) async throws(AccountError) -> Session {
        if try await takeTurn(turn, for: session),
            try end(error.logoutReason, of: session.accountID, if: session.tokens)
        {
            throw .rejected(error)
        }
        return try reloadedSession(of: session.accountID)
    }

    private func keep(_ new: Tokens, of old: Session, _ turn: UUID) throws(AccountError) {
        do throws(VaultError) {
            let (vault, id) = (try vault(), old.accountID)
            try vault.commit { (transaction) throws(VaultError) in
                try vault.endTurn(turn, of: id, &transaction)
                // Newer ones of another process stay, and a logout stays. The account may no longer be the current one.
                guard var session = try transaction.read(vault.session(id)), session.tokens == old.tokens else {
                    return
                }
                session.tokens = new
                try transaction.write(session, to: vault.session(id))
            }
        } catch {
            reload()
            throw .store(error)
        }
    }
}
