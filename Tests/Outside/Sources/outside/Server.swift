import Foundation
import Synchronization
import Vault
import VaultAccount

struct Profile: AccountProfile {
    var nickname = ""
    var collectIds: [Int] = []
}

/// A server that rotates its tokens: it accepts each refresh token once.
final class Server: AccountService {
    private struct State {
        var generation = 0
        var refreshes = 0
    }

    private let state = Mutex(State())
    private let profile: @Sendable () async -> Profile?

    init(profile: @escaping @Sendable () async -> Profile? = { nil }) { self.profile = profile }

    var refreshes: Int { state.withLock { $0.refreshes } }

    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile> {
        let generation = state.withLock { $0.generation }
        return AccountLogin(
            accountID: "id-\(userName)", tokens: tokens(generation), profile: Profile(nickname: userName))
    }

    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens {
        let generation: Int? = state.withLock { state in
            state.refreshes += 1
            guard tokens.refresh == "refresh-\(state.generation)" else { return nil }
            state.generation += 1
            return state.generation
        }
        guard let generation else { throw .rejected("This refresh token was used already.") }
        return self.tokens(generation)
    }

    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile? { await profile() }

    private func tokens(_ generation: Int) -> AccountTokens {
        AccountTokens(access: "access-\(generation)", refresh: "refresh-\(generation)")
    }
}

/// A server in a file, for several processes: a line for each refresh token that was used, and a refresh that takes as
/// long as the line says that the test has put there.
struct SharedServer: AccountService {
    let path: String

    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile> {
        AccountLogin(accountID: "id", tokens: AccountTokens(access: "access-0", refresh: "refresh-0"))
    }

    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens {
        let used = tokens.refresh ?? "none"
        guard let file = fopen(path, "a") else { throw .unreachable("There is no server at \(path).") }
        fputs("\(used)\n", file)
        fclose(file)
        // The time that the answer takes. A process that is killed meanwhile never gets it.
        let seconds = Double(ProcessInfo.processInfo.environment["SERVER_SECONDS"] ?? "0") ?? 0
        try? await Task.sleep(for: .seconds(seconds))
        let generation = (Int(used.split(separator: "-").last ?? "") ?? 0) + 1
        return AccountTokens(access: "access-\(generation)", refresh: "refresh-\(generation)")
    }

    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile? { nil }
}
