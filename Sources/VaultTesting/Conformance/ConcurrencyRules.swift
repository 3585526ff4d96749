import LinuxSystem
import Vault

extension StoreRule {
    package static let losesNoUpdate = StoreRule("Of batches that expect the same value at once, one is committed.") {
        store, findings in
        let runners = 4
        var (race, present) = (Race(), 0)
        while race.goesOn {
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
                return findings.add("\(winners.count) of \(runners) were: an update is lost.")
            }
            present = winners.first ?? present
            guard try store.value(of: "key") == (present == 0 ? nil : .integer(Int128(present))) else {
                return findings.add("The value of another one is read than of the one that was committed.")
            }
        }
    }

    package static let showsWholeBatches = StoreRule(
        "Readers and other writers see all the changes of a batch, or none, while it is committed."
    ) { store, findings in
        let (keys, writers) = ((0..<32).map { "key \($0)" }, 2)
        var race = Race()
        while race.goesOn {
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
                    while !isTorn, writing.load(ordering: .relaxed) > 0 {
                        isTorn = try changesInBetween(store, keys)
                    }
                    sawPart.store(isTorn, ordering: .relaxed)
                }
            }
            if sawPart.load(ordering: .relaxed) { return findings.add("A reader saw a part of a batch.") }
            let isMixed = try hasSeveral(store.contents(prefix: "key ").values)
            if isMixed { return findings.add("Parts of two batches were left.") }
        }
    }

    private static func hasSeveral(_ values: some Collection<StoredValue>) -> Bool {
        values.contains { $0 != values.first }
    }

    /// Returns whether one key has the value of another batch while a second key, read before and after it, has not
    /// changed. Each batch sets all keys, to a value of its own.
    private static func changesInBetween(_ store: any ValueStore, _ keys: [String]) throws(VaultError) -> Bool {
        let (key, other) = (keys.randomElement() ?? "", keys.randomElement() ?? "")
        let before = try store.value(of: key)
        let between = try store.value(of: other)
        return try store.value(of: key) == before && between != before
    }

    package static let tellsAfterItChanged = StoreRule("An observer that reads after each notice misses no change.") {
        store, findings in
        // A store that watches a file goes on with it between the rounds.
        let watching = try store.changes.notices()
        defer { withExtendedLifetime(watching) {} }
        let keys = ["key 0", "key 1"]
        var race = Race()
        while race.goesOn {
            let value = StoredValue.integer(Int128(race.rounds))
            let notices = try store.changes.notices()
            async let isSeen = sees(notices) { try keys.allSatisfy { try store.value(of: $0) == value } }
            try await race.run(keys.count) { runner in _ = try store.put(keys[runner], value) }
            guard try await isSeen else { return findings.add("It read before a change, and no other notice came.") }
        }
    }
}
