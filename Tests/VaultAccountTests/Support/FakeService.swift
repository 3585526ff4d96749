import Foundation
import Sealing
import Synchronization
import Vault
import VaultAccount

struct Profile: AccountProfile {
    var nickname: String
    var points: Int
    var collectIds: [String] = []
    var phone: String?
}

/// A server that rotates: each refresh token is taken once.
final class FakeService: AccountService {
    enum Call: Hashable, Sendable { case login, refresh, validate }

    private struct State {
        var calls: [Call] = []
        var plans: [Call: [AccountServiceError]] = [:]
        var issued = 0
        var valid: Set<String> = []
        var expires: Date?
        var gate: (@Sendable () async -> Void)?
        var profile: Profile? = Profile(nickname: "Ada", points: 10)
    }

    private let state = Mutex(State())

    func count(_ call: Call) -> Int { state.withLock { $0.calls.count { $0 == call } } }

    /// Lets the next calls of a kind fail so.
    func fail(_ call: Call, _ errors: AccountServiceError...) { state.withLock { $0.plans[call] = errors } }

    /// When access tokens that are issued from now on end.
    func setExpiry(_ date: Date?) { state.withLock { $0.expires = date } }

    /// What the next refresh waits for, that one alone.
    func setGate(_ gate: @escaping @Sendable () async -> Void) { state.withLock { $0.gate = gate } }

    func setProfile(_ profile: Profile?) { state.withLock { $0.profile = profile } }

    /// The server ends all sessions.
    func forgetAll() { state.withLock { $0.valid = [] } }

    private func note(_ call: Call) throws(AccountServiceError) {
        let planned: AccountServiceError? = state.withLock { state in
            state.calls.append(call)
            guard var plan = state.plans[call], !plan.isEmpty else { return nil }
            let error = plan.removeFirst()
            state.plans[call] = plan
            return error
        }
        if let planned { throw planned }
    }

    private func issue() -> AccountTokens {
        state.withLock { state in
            state.issued += 1
            state.valid = ["canary-refresh-\(state.issued)"]
            return AccountTokens(
                access: "canary-access-\(state.issued)", refresh: "canary-refresh-\(state.issued)",
                expires: state.expires)
        }
    }

    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile> {
        try note(.login)
        guard password == "canary-password" else { throw .rejected("The user name or the password is wrong.") }
        return AccountLogin(accountID: "id-\(userName)", tokens: issue(), profile: state.withLock { $0.profile })
    }

    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens {
        try note(.refresh)
        if let gate = state.withLock({ $0.gate.take() }) { await gate() }
        guard state.withLock({ $0.valid.contains(tokens.refresh ?? "") }) else {
            throw .rejected("The session has ended.")
        }
        return issue()
    }

    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile? {
        try note(.validate)
        guard state.withLock({ $0.valid.contains(tokens.refresh ?? "") }) else {
            throw .rejected("The session has ended.")
        }
        return state.withLock { $0.profile }
    }
}
