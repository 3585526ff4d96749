import Vault

extension StoreRule {
    package static let notifiesAfterCommits = StoreRule("`changes` notifies after a commit that changed something.") {
        store, findings in
        for change in [StoredValue.integer(1), .integer(2), nil] {
            let notices = try store.changes.notices()
            _ = try store.put("key", change)
            guard try await !sees(notices) else { continue }
            return findings.add("There was no notification after \(change == nil ? "a removal" : "a write").")
        }
    }

    package static let staysTheSame = StoreRule(
        "`identity`, `changes` and `failures` are the same at each access."
    ) { store, findings in
        let changes = (store.changes, store.changes)
        let failures = (store.failures, store.failures)
        findings.expect(store.identity == store.identity, "`identity` is different at each access.")
        findings.expect(changes.0 === changes.1, "`changes` returns a different object at each access.")
        findings.expect(failures.0 === failures.1, "`failures` returns a different object at each access.")
        let scopes = (store.scoped(to: "a").identity, store.scoped(to: "b").identity)
        findings.expect(
            scopes.0 != scopes.1 && scopes.0 != store.identity, "The store's scopes do not have separate identities.")
    }

    package static let identitySentence = "Two stores have different identities."

    /// Returns whether `isSo` returns true after a notification within ten seconds. May call it on another thread.
    static func sees(
        _ notices: AsyncStream<Void>, _ isSo: @escaping @Sendable () throws -> Bool = { true }
    ) async throws -> Bool {
        let observer = Task {
            for await _ in notices where try isSo() { return true }
            return false
        }
        let timeout = Task {
            try await Task.sleep(for: .seconds(10))
            observer.cancel()
        }
        defer { timeout.cancel() }
        return try await observer.value
    }
}
