import Foundation
import TestSupport
import Testing
import Vault
import VaultTesting

@Suite("Values that move to another store", .temporaryStores)
struct MovedValueTests {
    private let old = Storable<String>("u.token")
    private let new = KeychainStorable<String>("u.token", movedFrom: .preferences)

    private func expect(
        old: StoredValue?, new: StoredValue?, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try Preferences.standard.value(of: "u.token") == old, sourceLocation: sourceLocation)
        #expect(try Keychain.standard.value(of: "u.token") == new, sourceLocation: sourceLocation)
    }

    @Test func aValueMovesAtTheFirstRead() throws {
        try old.write("secret")
        #expect(try new.read() == "secret")
        try expect(old: nil, new: .string("secret"))
        #expect(try new.read() == "secret")
    }

    @Test func aValueMovesAtTheFirstUseOfAnyKind() throws {
        let uses: [(KeychainStorable<String>) throws -> Void] = [
            { _ = try $0.exists() }, { _ = $0.value }, { key in try key.update { $0? += "!" } },
            { key in try key.withSecret { _ in } },
            { key in try Keychain.standard.atomically { _ = try $0.read(key) } },
        ]
        for use in uses {
            try old.write("secret")
            try use(new)
            #expect(try !old.exists())
            #expect(try new.read()?.hasPrefix("secret") == true)
            try new.remove()
        }
    }

    @Test func itMovesOnceAndALaterOldValueDoesNotReplaceTheNew() throws {
        try old.write("first")
        #expect(try new.read() == "first")
        // A program of the older version writes once more.
        try old.write("second")
        #expect(try new.read() == "first")
        try expect(old: nil, new: .string("first"))
    }

    @Test func ofTwoTheNewOneWinsAndTheOldIsRemoved() throws {
        try old.write("old")
        _ = try Keychain.standard.commit(StoreBatch(["u.token": .string("new")]))
        #expect(try new.read() == "new")
        try expect(old: nil, new: .string("new"))
    }

    @Test func aMoveThatWasCutShortIsFinished() throws {
        // The state after a crash between the two steps.
        for store in [try Keychain.standard, Preferences.standard] as [any ValueStore] {
            _ = try store.commit(StoreBatch(["u.token": .string("secret")]))
        }
        #expect(try new.exists())
        try expect(old: nil, new: .string("secret"))
    }

    @Test func aFailureInTheMiddleLeavesTheValueInAtLeastOneStore() throws {
        for operation in [FaultyFiles.Operation.write, .flush, .rename, .lock, .open] {
            for skipped in 0..<6 {
                let files = FaultyFiles()
                try withTemporaryStores(files: files) { stores in
                    try old.write("secret")
                    files.fail(operation, with: EIO, after: skipped)
                    let first = Result { try new.read() }
                    #expect((try? first.get()) ?? "secret" == "secret")
                    files.heal()
                    // After a failed flush the vault's state is unknown until it is opened again.
                    let reopened = try Keychain(at: stores.keychain.location)
                    let values = [
                        try stores.preferences.value(of: "u.token"), try reopened.value(of: "u.token"),
                    ]
                    #expect(values.contains(.string("secret")), "\(operation) \(skipped)")
                }
            }
        }
    }

    @Test func aValueThatCannotBeReadStaysWhereItIs() throws {
        try Storable<Int>("u.token").write(7)
        #expect(try VaultError.code { _ = try new.read() } == .wrongType)
        try expect(old: .integer(7), new: nil)
    }

    @Test func removingRemovesItFromBoth() throws {
        try old.write("secret")
        try new.remove()
        try expect(old: nil, new: nil)
        try old.write("secret")
        var key = new
        key.value = nil
        try expect(old: nil, new: nil)
        #expect(key.value == nil)
    }

    @Test func writingReplacesTheOldValue() throws {
        try old.write("old")
        try new.write("new")
        try expect(old: nil, new: .string("new"))
        try old.write("old")
        try Keychain.standard.atomically { try $0.write("newer", to: new) }
        try expect(old: nil, new: .string("newer"))
    }

    @Test func aDefaultIsNotMoved() throws {
        let key = KeychainStorable<String>("u.token", movedFrom: .preferences).defaulting(to: "default")
        #expect(try key.read() == "default")
        try expect(old: nil, new: nil)
    }

    @Test func whatTheNewStoreHoldsInAnotherFormIsConvertedOnTheWay() throws {
        // What the command stored has no type; in the preferences it would be data.
        try Keychain.standard.set("u.name", to: SecretBytes(utf8: "text"))
        let name = Storable<String>("u.name", movedFrom: .keychain)
        #expect(try name.read() == "text")
        #expect(try Preferences.standard.value(of: "u.name") == .string("text"))
        #expect(try Keychain.standard.keys() == [])
    }

    @Test func itMovesIntoTheScopeOfAUser() throws {
        try old.write("secret")
        let scope = try Keychain.standard.scoped(to: "user")
        let key = KeychainStorable<String>("u.token", in: .store(scope), movedFrom: .preferences)
        #expect(try key.read() == "secret")
        #expect(try Keychain.standard.keys() == ["user/u.token"])
        #expect(try Preferences.standard.keys(prefix: "") == [])
    }

    @Test func aKeyThatMovesFromItsOwnStoreKeepsItsValue() throws {
        for home in TestedHome.allCases {
            let key = Storable<String>("k", in: home.reference, movedFrom: home.reference)
            try key.write("secret")
            #expect(try key.read() == "secret")
            #expect(try key.exists())
        }
    }

    @Test func twoStoresOnOneFileAreOne() throws {
        let keychain = try Keychain.standard
        let preferences = Preferences.standard
        let twins: [(any ValueStore, any ValueStore)] = [
            (keychain, try Keychain(at: keychain.location)), (preferences, Preferences(path: try preferences.path)),
        ]
        for (store, twin) in twins {
            let key = Storable<String>("k", in: .store(twin), movedFrom: .store(store))
            try key.write("secret")
            #expect(try key.read() == "secret")
            #expect(store.identity == twin.identity)
            #expect(store.scoped(to: "a").identity == twin.scoped(to: "a").identity)
            #expect(store.scoped(to: "a").identity != twin.identity)
        }
        #expect(keychain.identity != preferences.identity)
    }

    @Test func anOldValueThatCannotBeReadDoesNotKeepANewOneOut() throws {
        let key = KeychainStorable<Int>("u.token", movedFrom: .preferences)
        try old.write("no number")
        #expect(throws: VaultError.self) { try key.read() }
        #expect(throws: VaultError.self) { try key.remove() }
        try key.write(7)
        #expect(try key.read() == 7)
        try expect(old: .string("no number"), new: .integer(7))
    }

    @Test func anOldValueThatCannotBeReadDoesNotKeepASecretOut() throws {
        try Storable<Int>("u.token").write(7)
        try new.write(secret: SecretBytes(utf8: "secret"))
        #expect(try new.read() == "secret")
        try expect(old: .integer(7), new: .untyped(Data("secret".utf8)))
    }

    @Test func aValueWhoseMoveAnotherProcessFinishesStays() throws {
        let base = MemoryStore()
        _ = base.commit(StoreBatch(["k": .string("secret")]))
        // Another process finds what this one has taken, and removes the old value first.
        let oldStore = InterruptedStore(base: base) { _ = base.commit(StoreBatch(["k": nil])) }
        let key = RAMStorable<String>("k", in: .memory, movedFrom: .store(oldStore))
        #expect(try key.read() == "secret")
        #expect(MemoryStore.standard.value(of: "k") == .string("secret"))
    }

    @Test func whatAnOlderProgramWritesMeanwhileStaysIfNobodyCanReadIt() throws {
        let base = MemoryStore()
        _ = base.commit(StoreBatch(["k": .string("secret")]))
        let oldStore = InterruptedStore(base: base) { _ = base.commit(StoreBatch(["k": .integer(7)])) }
        let key = RAMStorable<String>("k", in: .memory, movedFrom: .store(oldStore))
        #expect(try key.read() == "secret")
        #expect(base.value(of: "k") == .integer(7))
    }

    @Test func ofManyThreadsThatReadItFirstEachReadsIt() throws {
        for _ in 0..<300 {
            let oldStore = MemoryStore()
            let newStore = MemoryStore()
            _ = oldStore.commit(StoreBatch(["k": .string("secret")]))
            let key = RAMStorable<String>("k", in: .store(newStore), movedFrom: .store(oldStore))
            try onThreads(8) { _ in
                let value = try key.read()
                #expect(value == "secret")
            }
            #expect(oldStore.keys(prefix: "") == [])
        }
    }

    @Test func aKeyUnderAnotherScopeIsTheSameKey() throws {
        for home in TestedHome.allCases {
            let store = try home.store
            let scope = store.scoped(to: "mail")
            let key = KeychainStorable<String>(
                "k", in: .store(scope), movedFrom: .store(store), formerName: "mail/k")
            try key.write("secret")
            #expect(try key.read() == "secret")
            let back = KeychainStorable<String>(
                "mail/k", in: .store(store), movedFrom: .store(scope), formerName: "k")
            #expect(try back.read() == "secret")
        }
    }

    @Test func aValueThatIsRemovedWhileItMovesDoesNotComeBack() throws {
        let oldStore = MemoryStore()
        _ = oldStore.commit(StoreBatch(["k": .string("secret")]))
        // Another thread finishes the move and removes the value, after this one has read it.
        let newStore = InterruptedStore { _ = oldStore.commit(StoreBatch(["k": nil])) }
        let key = RAMStorable<String>("k", in: .store(newStore), movedFrom: .store(oldStore))
        #expect(try key.read() == nil)
        #expect(try newStore.value(of: "k") == nil && oldStore.value(of: "k") == nil)
    }
}
