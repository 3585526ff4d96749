import Foundation
import Synchronization
import Vault
import VaultAccount

/// 50 requests fail with 401 for one token, one after the other.
@MainActor func staggered() async throws {
    let server = Server()
    let manager = AccountManager(service: server)
    try await manager.login(userName: "ada", password: "p")
    let rejected = try await manager.accessToken()
    try await withThrowingTaskGroup { group in
        for number in 0..<50 {
            group.addTask {
                try await Task.sleep(for: .milliseconds(number * 7))
                _ = try await manager.accessToken(insteadOf: rejected)
            }
        }
        try await group.waitForAll()
    }
    print("refreshes \(server.refreshes), token \(try await manager.accessToken())")
}

/// Logs in the first time, and refreshes once. Prints the token, and how long it took.
@MainActor func refreshOnce(server path: String) async throws {
    let manager = AccountManager(service: SharedServer(path: path))
    if await !manager.autoLogin().isLoggedIn { try await manager.login(userName: "ada", password: "p") }
    if ProcessInfo.processInfo.environment["LOGIN_ONLY"] != nil { return }
    print("ready")
    fflush(nil)
    let start = ContinuousClock.now
    let token = try await manager.accessToken(insteadOf: "access-0")
    print("token \(token) after \(Int((ContinuousClock.now - start) / .milliseconds(1))) ms")
}

/// The person collects something while the server, which does not know it yet, is asked for the profile.
@MainActor func mergeProfile() async throws {
    let (questions, question) = AsyncStream<Void>.makeStream()
    let (answers, answer) = AsyncStream<Void>.makeStream()
    let manager = AccountManager(
        service: Server(profile: {
            question.finish()
            for await _ in answers {}
            return Profile(nickname: "Ada", collectIds: [1])
        }))
    try await manager.login(userName: "ada", password: "p")
    try manager.update(\.collectIds, to: [1])
    let check = Task { try await manager.checkSession() }
    for await _ in questions {}
    try manager.update(\.collectIds, to: [1, 2, 3])
    answer.finish()
    let profile = try await check.value.account?.profile
    print("\(profile?.nickname ?? "") \(profile?.collectIds ?? [])")
}
