import VaultAccount

extension App {
    func whoami() throws {
        let state = manager.state
        say("state: \(state.words)")
        if let account = state.account {
            say("user: \(account.userName)")
            if let profile = account.profile { describe(profile) }
        }
        switch state {
        case .loggedIn: return
        case .locked(let error): throw AccountError.store(error)
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
}

extension AccountState {
    /// The state in words.
    var words: String {
        switch self {
        case .unknown: "unknown"
        case .loggedIn: "logged in"
        case .expired: "logged in too long ago"
        case .locked: "locked"
        case .loggedOut(let reason): "logged out (\(reason.words))"
        }
    }
}

extension LogoutReason {
    fileprivate var words: String {
        switch self {
        case .never: "nobody has logged in yet"
        case .byUser: "by the user"
        case .expired: "the login was too old"
        case .rejected: "the server no longer takes the login"
        case .kicked: "the server has ended the session"
        }
    }
}
