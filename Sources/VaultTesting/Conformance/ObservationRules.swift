import Vault

extension StoreRule {
    package static let givesNotice = StoreRule("After a commit that changed something, `changes` gives notice.") {
        store, findings in
        for change in [StoredValue.integer(1), .integer(2), nil] {
            let notices = try store.changes.notices()
            _ = try store.put("key", change)
            guard try await !sees(notices) else { continue }
            return findings.add("None came after \(change == nil ? "a removal" : "a write").")
        }
    }

    package static let staysTheSame = StoreRule(
        "`identity`, `changes` and `failures` are the same each time they are asked for."
    ) { store, findings in
        let (changes, failures) = ((store.changes, store.changes), (store.failures, store.failures))
        findings.expect(store.identity == store.identity, "The identity is another each time.")
        findings.expect(changes.0 === changes.1, "There is another `changes` each time.")
        findings.expect(failures.0 === failures.1, "There is another `failures` each time.")
        let scopes = (store.scoped(to: "a").identity, store.scoped(to: "b").identity)
        findings.expect(scopes.0 != scopes.1 && scopes.0 != store.identity, "Its scopes have one identity.")
    }

    package static let identitySentence = "Two stores have two identities."

    /// Returns whether what an observer waits for is so after one of the notices that come. Stores may send them from
    /// another thread, a little later.
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
