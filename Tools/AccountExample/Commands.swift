import VaultAccount

extension App {
    func login(_ userName: String) async throws {
        let password = try PasswordInput.read(for: userName)
        let state = try await manager.login(userName: userName, password: password)
        say("state: \(state.summary)")
    }

    func whoami() throws {
        let state = manager.state
        say("state: \(state.summary)")
        if let account = state.account {
            say("user: \(account.userName)")
            if let profile = account.profile { describe(profile) }
        }
        switch state {
        case .loggedIn: return
        case .locked(let error), .unavailable(let error): throw AccountError.store(error)
        case .expired: throw AccountError.expired
        case .loggedOut(let reason):
            if let name = try manager.lastUserName() { say("last user: \(name)") }
            throw AccountError.notLoggedIn(reason)
        case .unknown: throw AccountError.notLoggedIn(.never)
        }
    }

    private func describe(_ profile: Profile) {
        say("nickname: \(profile.nickname)")
        say("points: \(profile.points)")
        say("collected: \(profile.collectIds.joined(separator: ", "))")
    }

    func check() async throws {
        let state = try await manager.checkSession()
        say("state: \(state.summary)")
    }

    func refresh() async throws {
        try await manager.refresh()
        say("The tokens are new.")
    }

    /// Stores the collection as the server's answer has it: one field of the profile is written.
    func collect(_ id: String) async throws {
        let collection = try await authorized { (authorization) throws(AccountServiceError) in
            try await service.collect(id, authorization: authorization)
        }
        try manager.update(\.collectIds, to: collection)
        say("collected: \(collection.joined(separator: ", "))")
    }

    /// Sends a request with the access token. If the server rejects that one, it gets another chance with a new one.
    private func authorized<Answer>(
        _ request: (_ authorization: String) async throws(AccountServiceError) -> Answer
    ) async throws -> Answer {
        var token = try await manager.accessToken()
        do {
            do { return try await request(AccountHeaderValue.bearer(token)) } catch {
                guard error.kind == .rejected, !error.isEndedByServer else { throw error }
            }
            token = try await manager.accessToken(insteadOf: token)
            return try await request(AccountHeaderValue.bearer(token))
        } catch let error as AccountServiceError where error.isEndedByServer {
            try manager.endedByServer()
            throw error
        }
    }

    func accounts() throws {
        for id in try manager.accountIDs() {
            say(id == manager.state.account?.id ? "\(id) (current)" : id)
        }
    }

    func switchAccount(to id: String) throws {
        try manager.switchAccount(to: id)
        try whoami()
    }

    /// Takes over the account that an older version of the app kept in a plain file, and removes the file.
    func migrate(_ path: String) throws {
        let migration = try manager.migrate(from: .file(path))
        say("migrated: \(migration.accountID ?? "nothing")")
        say("state: \(manager.state.summary)")
    }

    /// Tells the server first, while there is a token to tell it with. Whatever it answers, the person is logged out.
    func logout() async throws {
        if manager.isLoggedIn {
            do { try await service.logout(authorization: manager.authorizationHeaderValue()) } catch {
                note("The server could not be told: \(Failure(error).sentence)")
            }
        }
        try manager.logout()
        say("state: \(manager.state.summary)")
    }

    /// Prints the present state, then the latest after each change, also by other processes.
    func watch() async throws {
        for await state in manager.states {
            say("state: \(state.summary)")
        }
    }
}

extension AccountState {
    var summary: String {
        switch self {
        case .unknown: "unknown"
        case .loggedIn: "logged in"
        case .expired: "logged in too long ago"
        case .locked: "locked"
        case .unavailable: "unavailable"
        case .loggedOut(let reason): "logged out (\(reason.summary))"
        }
    }
}

extension LogoutReason {
    fileprivate var summary: String {
        switch self {
        case .never: "nobody has logged in yet"
        case .byUser: "by the user"
        case .rejected: "the server no longer accepts the login"
        case .endedByServer: "the server ended the session"
        }
    }
}
