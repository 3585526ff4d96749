import LinuxSystem
import Vault

extension StoreRule {
    package static let losesNoUpdate = StoreRule(
        "If several batches expect the same value at the same time, only one is committed."
    ) { store, findings in
        let runners = 4
        var race = Race()
        var present = 0
        while race.continues {
            let expected = present == 0 ? nil : StoredValue.integer(Int128(present))
            let first = race.rounds * runners + 1
            let committed = Mutex<[Int]>([])
            try await race.run(runners) { runner in
                let value = first + runner
                let batch = StoreBatch(["key": .integer(Int128(value))], expecting: ["key": expected])
                if try store.commit(batch) { committed.withLock { $0.append(value) } }
            }
            let winners = committed.withLock { $0 }
            guard winners.count <= 1 else {
                return findings.add("\(winners.count) of \(runners) batches were committed: an update was lost.")
            }
            present = winners.first ?? present
            guard try store.value(of: "key") == (present == 0 ? nil : .integer(Int128(present))) else {
                return findings.add("The value is not the one that the committed batch set.")
            }
        }
    }

    package static let showsWholeBatches = StoreRule(
        "While a batch is committed, readers and other writers see either all of its changes or none."
    ) { store, findings in
        let keys = (0..<32).map { "key \($0)" }
        let writers = 2
        var race = Race()
        while race.continues {
            let first = race.rounds * writers
            let writing = Atomic(writers)
            let sawPart = Atomic(false)
            try await race.run(writers + 1) { runner in
                if runner < writers {
                    defer { writing.subtract(1, ordering: .relaxed) }
                    let value = StoredValue.integer(Int128(first + runner))
                    _ = try store.commit(StoreBatch(Dictionary(uniqueKeysWithValues: keys.map { ($0, value) })))
                } else {
                    var isTorn = try hasSeveral(store.contents(prefix: "key ").values)
                    while !isTorn, writing.load(ordering: .relaxed) > 0 { isTorn = try changesInBetween(store, keys) }
                    sawPart.store(isTorn, ordering: .relaxed)
                }
            }
            if sawPart.load(ordering: .relaxed) { return findings.add("A reader saw part of a batch.") }
            let isMixed = try hasSeveral(store.contents(prefix: "key ").values)
            if isMixed { return findings.add("The store contains parts of two batches.") }
        }
    }

    private static func hasSeveral(_ values: some Collection<StoredValue>) -> Bool {
        values.contains { $0 != values.first }
    }

    /// Reads a key, then another key, then the first key again. Returns true if the first key's value is unchanged, but
    /// the other key's value is from another batch. Each batch sets all keys to one value that no other batch uses.
    private static func changesInBetween(_ store: any ValueStore, _ keys: [String]) throws(VaultError) -> Bool {
        let key = keys.randomElement() ?? ""
        let other = keys.randomElement() ?? ""
        let before = try store.value(of: key)
        let between = try store.value(of: other)
        return try store.value(of: key) == before && between != before
    }

    package static let notifiesAfterChanges = StoreRule(
        "An observer that reads after each notification misses no change."
    ) { store, findings in
        // Each round has its own observer. This one lasts for all rounds, so that the store never stops watching.
        let watching = try store.changes.notices()
        defer { withExtendedLifetime(watching) {} }
        let keys = ["key 0", "key 1"]
        var race = Race()
        while race.continues {
            let value = StoredValue.integer(Int128(race.rounds))
            let notices = try store.changes.notices()
            async let isSeen = sees(notices) { try keys.allSatisfy { try store.value(of: $0) == value } }
            try await race.run(keys.count) { runner in _ = try store.put(keys[runner], value) }
            guard try await isSeen else { return findings.add("An observer missed a change that followed its read.") }
        }
    }
}
