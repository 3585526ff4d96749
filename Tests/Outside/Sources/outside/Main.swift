import Foundation
import Vault
import VaultShared

/// Runs the case that the first argument names. Each prints what it has seen, for the test to judge.
@main struct Main {
    private static let cases: [String: @MainActor (_ arguments: [String]) async throws -> Void] = [
        "stale-values": { _ in try await staleValues() },
        "stale-accounts": { _ in try await staleAccounts() },
        "stall": { _ in try await stall() },
        "staggered": { _ in try await staggered() },
        "refresh": { try await refreshOnce(server: $0[0]) },
        "merge": { _ in try await mergeProfile() },
        "token": { try await token($0.first) },
        "typed": { _ in try typed() },
        "shown": { _ in try shown() },
        "groups": { _ in try groups() },
        "actions": { _ in try await actions() },
        "user": { _ in try user() },
        "account": { _ in try await sharedAccount() },
        "observable": { _ in try await observableManager() },
    ]

    @MainActor static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first, let run = cases[name] else {
            print("cases: \(cases.keys.sorted().joined(separator: " "))")
            exit(2)
        }
        // The cases that are about a name have none, or take it from the environment.
        if let app = ProcessInfo.processInfo.environment["APP_NAME"] {
            try VaultApp.identify(as: app, databases: .postgreSQL)
        }
        try await run(Array(arguments.dropFirst()))
    }
}

/// Waits for a condition.
@MainActor func wait(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(2)) }
}
