import FoundationEssentials
import Synchronization
import Vault

// A session is renewed by a refresh of its tokens, or by a login with a kept password. One task does it for all who
// need the account's tokens in this process, while it holds the account's lock: one process at a time asks the server.

extension AccountManager {
    /// Returns the session with tokens that hold.
    ///
    /// - Parameter rejected: an access token that the server no longer accepts.
    func freshSession(insteadOf rejected: String? = nil) async throws(AccountError) -> Session {
        let session = try await presentSession()
        let holds = !isPast(end(of: session)) && session.tokens.access != rejected
        guard holds, !isPast(refreshTime(of: session)) else {
            do throws(AccountError) { return try await renewed(session) } catch {
                // Within the leeway a server that cannot be reached changes nothing yet.
                guard case .unreachable = error, holds, !isPast(session.tokens.expires) else { throw error }
                return session
            }
        }
        await recordUse(of: session)
        return session
    }

    /// Returns the session of the current account, which may have ended by time.
    func presentSession() async throws(AccountError) -> Session {
        if let view = core.withLock({ $0.reliableView }) {
            let session = try session(of: view)
            // Another process may have used or renewed one that seems to have ended.
            if !isPast(end(of: session)) { return session }
        }
        return try session(of: await blocking { self.load() })
    }

    /// A vault that cannot be written now costs no one the token.
    private func recordUse(of session: Session) async {
        guard options.extendsValidityWithUse, let validity = options.validity else { return }
        let now = options.clock.now()
        guard now >= session.lastUse.addingTimeInterval(validity / .seconds(10)) else { return }
        do throws(VaultError) {
            try await blocking { () throws(VaultError) in
                defer { self.load() }
                try self.storage.vault().change(session) { $0.usedAt = now }
            }
        } catch { storage.report(error) }
    }

    /// Returns the session with new tokens. One renewal of each account runs at a time, and goes on if this caller is
    /// cancelled.
    ///
    /// - Parameter rejection: why a refresh need not be tried.
    func renewed(
        _ session: Session, after rejection: AccountServiceError? = nil
    ) async throws(AccountError) -> Session {
        let id = session.accountID
        let task = core.withLock { core in
            if let task = core.renewing[id] { return task }
            let task = Task { () -> Result<Session, AccountError> in
                defer { self.core.withLock { $0.renewing[id] = nil } }
                do throws(AccountError) { return .success(try await self.renewal(of: session, rejection)) } catch {
                    return .failure(error)
                }
            }
            core.renewing[id] = task
            return task
        }
        // Waiting for the task itself would not end with a cancellation.
        let (results, result) = AsyncStream<Result<Session, AccountError>>.makeStream()
        Task {
            result.yield(await task.value)
            result.finish()
        }
        for await result in results { return try result.get() }
        throw .cancelled
    }

    private func renewal(
        of session: Session, _ rejection: AccountServiceError?
    ) async throws(AccountError) -> Session {
        // Without a password there is nothing to ask the server for.
        if isPast(end(of: session)), !options.keepsPassword { throw .expired }
        do throws(AccountError) {
            try await storage.exclusively(session.accountID) {
                (lock: borrowing NameLock) async throws(AccountError) in
                // There is no request if the account has other tokens by now, or is not the current one.
                guard try await isCurrent(session) else { return }
                do throws(AccountError) {
                    if let rejection { throw .rejected(rejection) }
                    guard !isPast(end(of: session)) else { throw .expired }
                    try await refreshTokens(of: session, under: lock)
                } catch { try await logInAgain(session, after: error, under: lock) }
            }
        } catch {
            await blocking { _ = self.load() }
            throw error
        }
        return try await loadedSession(of: session.accountID)
    }

    private func isCurrent(_ session: Session) async throws(AccountError) -> Bool {
        try await blocking { () throws(AccountError) in try stored(self.storage.vault().isCurrent(session)) }
    }

    private func refreshTokens(of session: Session, under lock: borrowing NameLock) async throws(AccountError) {
        var tokens = try await ask(await refreshed(session.tokens, under: lock))
        // RFC 6749, section 6: without another refresh token the former one stays valid.
        tokens.refresh = tokens.refresh ?? session.tokens.refresh
        let (new, now) = (tokens, options.clock.now())
        // Kept also if the lock was lost meanwhile: the server has taken the former ones back, and others' are not
        // written over.
        try await blocking { () throws(AccountError) in
            try stored(
                self.storage.vault().change(session) { session in
                    (session.tokens, session.renewedAt) = (new, now)
                })
        }
    }

    /// Asks the server for new tokens, which nobody else may do meanwhile.
    private func refreshed(
        _ tokens: AccountTokens, under lock: borrowing NameLock
    ) async throws(AccountError) -> AccountTokens {
        try stored(lock.check())
        return try await answered(await service.refresh(tokens))
    }

    /// Logs in with the kept password, if there is one, the app still wants it kept and the server did not end the
    /// session. It may not: a server that has rotated rejects the former tokens also if its answer was lost.
    private func logInAgain(
        _ session: Session, after error: AccountError, under lock: borrowing NameLock
    ) async throws(AccountError) {
        var rejection: AccountServiceError?
        switch error {
        case .rejected(let error): rejection = error
        case .expired: break
        default: throw error
        }
        if options.keepsPassword, rejection?.isEndedByServer != true {
            let id = session.accountID
            let password = try await blocking { () throws(AccountError) in
                try stored(self.storage.vault().password(id).read())
            }
            if let password {
                try stored(lock.check())
                do throws(AccountError) {
                    return try await logIn(session.userName, password, renewing: session)
                } catch .rejected(let error) { rejection = error }
            }
        }
        guard let rejection else { throw error }
        try await end(session, rejection, under: lock)
    }

    /// Logs out after a rejection. Returns if the account has other tokens by now: those count.
    private func end(
        _ session: Session, _ rejection: AccountServiceError, under lock: borrowing NameLock
    ) async throws(AccountError) {
        // Whoever has it now may have new tokens already, and not have stored them.
        try stored(lock.check())
        let isEnded = try await blocking { () throws(AccountError) in
            let reason: LogoutReason = rejection.isEndedByServer ? .endedByServer : .rejected
            return try self.logOut(session.accountID, reason, if: session.tokens)
        }
        if isEnded { throw .rejected(rejection) }
    }

    /// Logs out after a rejection, unless another manager has renewed the session meanwhile or is about to.
    func ended(_ session: Session, _ rejection: AccountServiceError) async throws(AccountError) -> Session {
        try await storage.exclusively(session.accountID) { (lock: borrowing NameLock) async throws(AccountError) in
            try await end(session, rejection, under: lock)
        }
        return try await loadedSession(of: session.accountID)
    }

    private func loadedSession(of id: String) async throws(AccountError) -> Session {
        let session = try session(of: await blocking { self.load() })
        guard session.accountID == id else { throw .switched }
        return session
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
                guard case .unreachable(let reason) = error else { throw error }
                // A server that asks for more patience than there is must not be asked earlier.
                guard !Task.isCancelled else { throw .cancelled }
                guard attempt < policy.attempts, reason.retryAfter ?? .zero <= policy.longestPause else { throw error }
                let wanted = reason.retryAfter.map { max($0, pause) } ?? pause * Double.random(in: 0.5...1)
                do { try await options.clock.sleep(min(wanted, policy.longestPause)) } catch { throw .cancelled }
            }
            attempt += 1
            pause = min(pause * 2, policy.longestPause)
        }
    }
}
