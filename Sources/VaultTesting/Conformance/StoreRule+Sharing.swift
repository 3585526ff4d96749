import Vault

extension StoreRule {
    package static let losesNoUpdate = StoreRule("Updates that several threads make at once are all kept.") {
        store, findings in
        let (threads, updates) = (8, 200)
        let counter = StoredKey("counter", default: 0, in: .store(store))
        try onThreads(threads) { _ in
            for _ in 0..<updates { try counter.update { $0 += 1 } }
        }
        let count = try counter.read() ?? 0
        findings.expect(
            count == threads * updates,
            "\(threads) threads made \(updates) updates each, and \(count) of \(threads * updates) were kept.")
    }

    package static let givesNotice = StoreRule("After a commit that changed something, `changes` gives notice.") {
        store, findings in
        for change in [StoredValue.integer(1), .integer(2), nil] {
            let notices = try store.changes.notices()
            _ = try store.put("key", change)
            guard await !hasNotice(notices) else { continue }
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

    /// Whether a notice comes. Stores may send it from another thread, a little later.
    private static func hasNotice(_ notices: AsyncStream<Void>) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await notices.first { true } != nil }
            group.addTask {
                try? await Task.sleep(for: .seconds(5))
                return false
            }
            let isGiven = await group.next() ?? false
            group.cancelAll()
            return isGiven
        }
    }
}
