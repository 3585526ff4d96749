import FoundationEssentials
import Synchronization
import Vault

extension AccountManager {
    /// Exchanges the tokens for new ones. All callers that ask while a refresh of the account is running share it.
    ///
    /// The new tokens are in the vault when this returns. <doc:KeepingAPersonLoggedIn> tells what a crash may cost.
    ///
    /// - Throws: ``AccountError``: `rejected` if the server no longer accepts them: the person is then logged out;
    ///   `unreachable`: nothing was changed; `notLoggedIn`, `expired` if there is nothing to refresh with; `switched`
    ///   if the account is no longer the current one; `store`.
    @discardableResult
    public func refresh() async throws(AccountError) -> Tokens { try await refreshed(try currentSession()).tokens }

    /// Returns the access token, refreshed first if it has ended.
    ///
    /// - Throws: ``AccountError``, as ``refresh()``.
    public func accessToken() async throws(AccountError) -> String { try await freshSession().tokens.access }

    /// Returns the value of an `Authorization` header: `Bearer` and the access token, refreshed first if it has ended.
    ///
    /// - Throws: ``AccountError``, as ``refresh()``.
    public func authorizationHeaderValue() async throws(AccountError) -> String {
        HeaderValue.bearer(try await accessToken())
    }

    /// Returns the value of a `Cookie` header: the access token, as ``accessToken()``, and maybe the user name.
    ///
    /// - Parameters:
    ///   - token: the name of the token's cookie.
    ///   - userName: the name of the user name's cookie; nil for none.
    /// - Throws: ``AccountError``, as ``refresh()``.
    public func cookieHeaderValue(
        token: String = "token", userName: String? = nil
    ) async throws(AccountError) -> String {
        let session = try await freshSession()
        let pair = HeaderValue.cookie(name: token, value: session.tokens.access)
        return userName.map { pair + "; " + HeaderValue.cookie(name: $0, value: session.userName) } ?? pair
    }

    private func freshSession() async throws(AccountError) -> Session {
        let session = try currentSession()
        return try await isPast(session.tokens.expires) ? refreshed(session) : session
    }

    /// Returns the session with new tokens. One refresh of each account runs at a time.
    private func refreshed(_ session: Session) async throws(AccountError) -> Session {
        let id = session.accountID
        let task = core.withLock { core in
            if let task = core.refreshing[id] { return task }
            let task = Task { () -> Result<Session, AccountError> in
                defer { self.core.withLock { $0.refreshing[id] = nil } }
                do throws(AccountError) { return .success(try await self.rotated(session)) } catch {
                    return .failure(error)
                }
            }
            core.refreshing[id] = task
            return task
        }
        return try await task.value.get()
    }

    private func rotated(_ session: Session) async throws(AccountError) -> Session {
        let lease = lease(for: session)
        do throws(AccountError) {
            // There is no request if the account has other tokens by now, or is not the current one. The lease is for
            // one attempt: it may pass to another holder during the pause.
            let current = { () throws(VaultError) in try self.storage.vault().current.read() }
            if try stored(current()) == session.accountID {
                let tokens = try await ask(
                    await lease.acquire() ? answered(await service.refresh(session.tokens)) : nil)
                if let tokens { try stored(lease.finish(with: tokens)) }
            }
        } catch .rejected(let error) {
            return try await rejected(session, error, lease)
        } catch {
            // Lets others try. If this fails, the lease ends by time.
            if case .unreachable = error { try? lease.finish(with: nil) }
            load()
            throw error
        }
        return try loadedSession(of: session.accountID)
    }

    private func lease(for session: Session) -> RefreshLease {
        RefreshLease(session: session, storage: storage, now: options.now, sleep: options.sleep)
    }

    private func loadedSession(of id: String) throws(AccountError) -> Session {
        load()
        let session = try currentSession()
        guard session.accountID == id else { throw .switched }
        return session
    }

    /// Logs out after a rejection, unless there are newer tokens or another holder of the lease is about to get some:
    /// then it returns the session with those.
    private func rejected(
        _ session: Session, _ error: ServiceError, _ lease: RefreshLease
    ) async throws(AccountError) -> Session {
        if try await lease.acquire(),
            try logOut(session.accountID, error.isKick ? .kicked : .rejected, if: session.tokens)
        {
            throw .rejected(error)
        }
        return try loadedSession(of: session.accountID)
    }

    /// Asks until there is an answer, the attempts are used up or the task is cancelled. Half of each pause is random:
    /// not all clients may return at the same instant to a server that has just recovered.
    func ask<Answer: Sendable>(
        _ question: @autoclosure () async throws(AccountError) -> Answer
    ) async throws(AccountError) -> Answer {
        let policy = options.retries
        var (attempt, pause) = (1, policy.firstPause)
        while true {
            do { return try await question() } catch {
                guard case .unreachable(let reason) = error, attempt < policy.attempts else { throw error }
                let wanted = reason.retryAfter.map { max($0, pause) } ?? pause * Double.random(in: 0.5...1)
                do { try await options.sleep(min(wanted, policy.longestPause)) } catch {
                    throw .unreachable(.unreachable("The task was cancelled."))
                }
            }
            attempt += 1
            pause = min(pause * 2, policy.longestPause)
        }
    }
}

extension AccountManager {
    /// Asks the server whether it still accepts the login. A profile that it sends is kept.
    ///
    /// A rejected access token is refreshed, and the server is asked once more before the person is logged out.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``, as ``refresh()``.
    @discardableResult
    public func checkSession() async throws(AccountError) -> State {
        var session = try await freshSession()
        for isFirst in [true, false] {
            do throws(AccountError) {
                if let profile = try await ask(await answered(await service.validate(session.tokens))) {
                    try stored(storage.keep(profile.fields(), of: session))
                    load()
                }
                return state
            } catch .rejected(let error) {
                let canRefresh = isFirst && session.tokens.refresh != nil && !error.isKick
                session = try await canRefresh ? refreshed(session) : rejected(session, error, lease(for: session))
            }
        }
        return state
    }
}
