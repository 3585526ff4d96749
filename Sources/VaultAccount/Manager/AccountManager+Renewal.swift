import FoundationEssentials
import Synchronization
import Vault

// A session is renewed by a refresh of its tokens, or by a login with a kept password. One task renews it for all tasks
// in this process that need the account's tokens. The account's lock ensures that only one process sends a request.

extension AccountManager {
    /// Returns the session of the current account, with renewed tokens if necessary.
    ///
    /// - Parameter rejected: an access token that the server no longer accepts.
    func freshSession(insteadOf rejected: String? = nil) async throws -> Session {
        let session = try await presentSession()
        let holds = !isPast(end(of: session)) && session.tokens.access != rejected
        guard holds, !isPast(refreshTime(of: session)) else {
            do { return try await renewed(session) } catch let error as AccountServiceError where !error.isRejection {
                // If the server cannot be reached, a token within the leeway is still valid, so it is returned.
                guard holds, !isPast(session.tokens.expires) else { throw error }
                return session
            }
        }
        await recordUse(of: session)
        return session
    }

    func presentSession() async throws -> Session {
        if let view = core.withLock({ $0.reliableView }) {
            let session = try session(of: view)
            // A session that seems expired is loaded again, since another process may have used or renewed it.
            if !isPast(end(of: session)) { return session }
        }
        return try session(of: await blocking { self.load() })
    }

    /// Records that the session is in use. A store's error is only reported, so that the caller still gets the token.
    private func recordUse(of session: Session) async {
        guard options.extendsValidityWithUse, let validity = options.validity else { return }
        let now = options.clock.now()
        guard now >= session.lastUse.addingTimeInterval(validity / .seconds(10)) else { return }
        do {
            try await blocking {
                defer { self.load() }
                try self.storage.vault().change(session) { $0.usedAt = now }
            }
        } catch { storage.report(error) }
    }

    /// Renews a session's tokens, and returns the session. Each account has at most one renewal at a time, which
    /// continues even if this caller is cancelled.
    ///
    /// - Parameter rejection: the server's rejection, if it shows that a refresh is useless; nil to try a refresh.
    func renewed(_ session: Session, after rejection: AccountServiceError? = nil) async throws -> Session {
        let id = session.accountID
        let task = core.withLock { core in
            if let task = core.renewing[id] { return task }
            let task = Task {
                defer { self.core.withLock { $0.renewing[id] = nil } }
                return try await self.renewal(of: session, rejection)
            }
            core.renewing[id] = task
            return task
        }
        // Cancelling the caller ends a wait for a stream, but not a wait for `task.value`.
        let (results, result) = AsyncStream<Result<Session, any Error>>.makeStream()
        Task {
            result.yield(await task.result)
            result.finish()
        }
        for await result in results { return try result.get() }
        throw AccountError.cancelled
    }

    private func renewal(of session: Session, _ rejection: AccountServiceError?) async throws -> Session {
        // An expired session can be renewed only with a kept password.
        if isPast(end(of: session)), !options.keepsPassword { throw AccountError.expired }
        do {
            try await storage.exclusively(session.accountID) { (lock: borrowing NameLock) in
                // No request is sent if the account's tokens have been replaced, or the account is no longer current.
                guard try await isCurrent(session) else { return }
                do {
                    if let rejection { throw rejection }
                    guard !isPast(end(of: session)) else { throw AccountError.expired }
                    try await refreshTokens(of: session, under: lock)
                } catch { try await logInAgain(session, after: error, under: lock) }
            }
        } catch {
            await blocking { _ = self.load() }
            throw error
        }
        return try await loadedSession(of: session.accountID)
    }

    private func isCurrent(_ session: Session) async throws -> Bool {
        try await blocking { try self.storage.vault().isCurrent(session) }
    }

    private func refreshTokens(of session: Session, under lock: borrowing NameLock) async throws {
        var tokens = try await withRetries(await refreshed(session.tokens, under: lock))
        // If the server sends no new refresh token, the former one stays valid (RFC 6749, section 6).
        tokens.refresh = tokens.refresh ?? session.tokens.refresh
        let new = tokens
        let now = options.clock.now()
        // The tokens are stored even if the lock was lost in the meantime, since the server has revoked the former
        // ones. If another process has stored its own tokens, they are not overwritten.
        try await blocking {
            try self.storage.vault().change(session) { session in
                session.tokens = new
                session.renewedAt = now
            }
        }
    }

    /// Requests new tokens from the server. Throws if the lock has been lost, since another process may be doing so.
    private func refreshed(_ tokens: AccountTokens, under lock: borrowing NameLock) async throws -> AccountTokens {
        try lock.check()
        return try await service.refresh(tokens)
    }

    /// Logs in with the kept password after a rejection or expiry, unless the options forbid it or the server ended the
    /// session. Otherwise a rejection, also of the password, logs the person out; other errors are rethrown. Rejected
    /// tokens alone prove no logout: a server that rotates them rejects the old ones even if the new ones were lost.
    private func logInAgain(_ session: Session, after error: any Error, under lock: borrowing NameLock) async throws {
        var rejection: AccountServiceError?
        switch error {
        case let error as AccountServiceError where error.isRejection: rejection = error
        case AccountError.expired: break
        default: throw error
        }
        if options.keepsPassword, rejection?.isEndedByServer != true {
            let id = session.accountID
            if let password = try await blocking({ try self.storage.vault().password(id).read() }) {
                try lock.check()
                do { return try await logIn(session.userName, password, renewing: session) } catch {
                    guard let refusal = error as? AccountServiceError, refusal.isRejection else { throw error }
                    rejection = refusal
                }
            }
        }
        guard let rejection else { throw error }
        try await end(session, rejection, under: lock)
    }

    /// Logs out and throws the rejection. If the tokens have been replaced, just returns, since the new ones are valid.
    private func end(
        _ session: Session, _ rejection: AccountServiceError, under lock: borrowing NameLock
    ) async throws {
        // Throws if the lock has been lost, since its new holder may have received tokens that it has not stored yet.
        try lock.check()
        let isEnded = try await blocking {
            let reason: LogoutReason = rejection.isEndedByServer ? .endedByServer : .rejected
            return try self.logOut(session.accountID, reason, if: session.tokens)
        }
        if isEnded { throw rejection }
    }

    /// Logs out after a rejection, unless another manager has renewed or is renewing the session.
    func ended(_ session: Session, _ rejection: AccountServiceError) async throws -> Session {
        try await storage.exclusively(session.accountID) { (lock: borrowing NameLock) in
            try await end(session, rejection, under: lock)
        }
        return try await loadedSession(of: session.accountID)
    }

    private func loadedSession(of id: String) async throws -> Session {
        let session = try session(of: await blocking { self.load() })
        guard session.accountID == id else { throw AccountError.switched }
        return session
    }

    /// Repeats a request until the server answers, the attempts are used up or the task is cancelled. Pauses that the
    /// server has not demanded have random lengths, so that clients do not all return at once after an outage.
    func withRetries<Answer: Sendable>(_ request: @autoclosure () async throws -> Answer) async throws -> Answer {
        let policy = options.retries
        var attempt = 1
        var pause = policy.firstPause
        while true {
            do { return try await request() } catch let error as AccountServiceError where !error.isRejection {
                guard !Task.isCancelled else { throw AccountError.cancelled }
                // If the server demands a pause beyond the limit, the call fails, since it must not retry earlier.
                guard attempt < policy.attempts, error.retryAfter ?? .zero <= policy.longestPause else { throw error }
                let wanted = error.retryAfter.map { max($0, pause) } ?? pause * Double.random(in: 0.5...1)
                do { try await options.clock.sleep(min(wanted, policy.longestPause)) } catch {
                    throw AccountError.cancelled
                }
            }
            attempt += 1
            pause = min(pause * 2, policy.longestPause)
        }
    }
}
