import FoundationEssentials
import Synchronization
import Testing
import Vault
import VaultTesting

struct ReadOnlyStore: ValueStore {
    let base: any ValueStore

    var changes: ChangeFeed { base.changes }
    var failures: FailureLog { base.failures }
    var identity: StoreIdentity { base.identity }

    func value(of key: String) throws(VaultError) -> StoredValue? { try base.value(of: key) }
    func keys(prefix: String) throws(VaultError) -> [String] { try base.keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        throw VaultError(.unavailable, "These settings cannot be changed here.")
    }
}

/// What a client library asks for.
protocol ClientStorage {
    func store(key name: String, value: Data) throws
    func retrieve(key name: String) throws -> Data?
    func remove(key name: String) throws
}

struct SessionStorage: ClientStorage {
    private func key(_ name: String) -> KeychainStorable<Data> {
        KeychainStorable(name, in: .keychain.scoped(to: "backend"))
    }

    func store(key name: String, value: Data) throws { try key(name).write(value) }
    func retrieve(key name: String) throws -> Data? { try key(name).read() }
    func remove(key name: String) throws { try key(name).remove() }
}

final class ByteStore: ValueStore {
    let changes = ChangeFeed()
    let failures = FailureLog()
    private let rows = Mutex<[String: [UInt8]]>([:])

    func value(of key: String) throws(VaultError) -> StoredValue? { try value(of: key, in: rows.withLock { $0 }) }

    func keys(prefix: String) -> [String] {
        rows.withLock { $0.keys.filter { $0.utf8.starts(with: prefix.utf8) } }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        var changed: [String: [UInt8]?] = [:]
        for (key, value) in batch.changes { changed.updateValue(try value?.bytes, forKey: key) }
        let isCommitted = try rows.withLock { (rows) throws(VaultError) in
            guard try batch.holds({ (key) throws(VaultError) in try value(of: key, in: rows) }) else { return false }
            for (key, bytes) in changed { rows[key] = bytes }
            return true
        }
        if isCommitted { changes.notify() }
        return isCommitted
    }

    private func value(of key: String, in rows: [String: [UInt8]]) throws(VaultError) -> StoredValue? {
        guard let bytes = rows[key] else { return nil }
        guard let value = StoredValue(bytes: bytes) else {
            throw VaultError(.unreadable, "The row of \"\(key)\" contains no value.")
        }
        return value
    }
}

@Suite("Which store for what", .temporaryStores)
struct WhichStoreSnippets {
    // Nothing is written here: it would go to the files of whoever runs the tests.
    @Test func aSuiteHasAFileOfItsOwn() throws {
        let theme = Storable<Theme>("theme", in: .preferences(suite: "org.example.tools")).defaulting(to: .light)

        let preferences = try #require(try theme.store.store() as? Preferences)
        #expect(try preferences.path.hasSuffix("/vault/preferences/org.example.tools.plist"))
        #expect(theme.defaultValue == .light)
    }

    @Test func coalescedPreferencesAreWrittenByFlush() throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/window.plist"

        let state = Preferences(path: path, coalescing: .seconds(1))
        let scroll = Storable<Double>("scroll", in: .store(state))
        for line in 0..<1_000 { try scroll.write(Double(line)) }
        try state.flush()

        #expect(try Storable<Double>("scroll", in: .store(Preferences(path: path))).read() == 999)
    }

    @Test(arguments: ["ada", "ada/..", "é %"]) func eachUserHasAStore(userID: String) throws {
        let token = KeychainStorable<String>("token", in: .keychain.scoped(to: userID))

        let nickname = Storable<String>("nickname", in: .preferences(suite: userID))

        try token.write("secret")
        #expect(try Keychain.standard.scoped(to: userID).keys(prefix: "") == ["token"])
        #expect(try Keychain.standard.scoped(to: userID + "x").keys(prefix: "") == [])
        #expect(nickname.name == "nickname")
        #expect(try Preferences(suite: userID).path != Preferences(suite: userID + "x").path)
    }

    @Test func allOfAUserIsRemoved() throws {
        let userID = "ada"
        try KeychainStorable<String>("token", in: .keychain.scoped(to: userID)).write("secret")
        try Keychain.standard.set("another", to: "x")

        try Keychain.standard.scoped(to: userID).removeAll()

        #expect(try Keychain.standard.keys() == ["another"])
    }

    @Test func anEnumListsTheKeys() async throws {
        let store: any DataStore = Preferences.standard

        enum UserAction: String {
            case firstLogin
            case indicatorIndex
        }

        try await store.write(true, for: UserAction.firstLogin)
        try await store.write(3, for: UserAction.indicatorIndex)
        let index = try await store.read(UserAction.indicatorIndex, as: Int.self)

        #expect(index == 3)
        #expect(try await store.read(UserAction.firstLogin, as: Bool.self) == true)
        #expect(try Preferences.standard.keys(prefix: "") == ["firstLogin", "indicatorIndex"])
    }

    @Test func aClientLibraryStoresItsSession() throws {
        let storage: any ClientStorage = SessionStorage()
        try storage.store(key: "session", value: Data([1, 2, 3]))
        #expect(try storage.retrieve(key: "session") == Data([1, 2, 3]))
        #expect(try Keychain.standard.keys() == ["backend/session"])
        try storage.remove(key: "session")
        #expect(try storage.retrieve(key: "session") == nil)
    }

    @Test func aStoreThatKeepsBytesIsAStore() async throws {
        try await checkConformance { ByteStore() }
    }

    @Test func aReadOnlyStoreIsReadAndNotWritten() throws {
        let theme = Storable<Theme>("theme")
        try theme.write(.dark)
        let locked = Storable<Theme>("theme", in: .store(ReadOnlyStore(base: Preferences.standard)))
        #expect(try locked.read() == .dark)
        let error = #expect(throws: VaultError.self) { try locked.write(.light) }
        #expect(error?.code == .unavailable)
        #expect(try theme.read() == .dark)
    }
}
