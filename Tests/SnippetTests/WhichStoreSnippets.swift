import FoundationEssentials
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

@Suite("Which store for what", .temporaryStores)
struct WhichStoreSnippets {
    // Nothing is written here: it would go to the files of whoever runs the tests.
    @Test func aSuiteHasAFileOfItsOwn() throws {
        let shared = Preferences(suite: "org.example.tools")
        let theme = Storable<Theme>(key: "theme", default: .light, in: shared)

        #expect(try shared.path.hasSuffix("/vault/preferences/org.example.tools.plist"))
        #expect(theme.stored.defaultValue == .light)
    }

    @Test func coalescedPreferencesAreWrittenByFlush() throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/window.plist"

        let state = Preferences(path: path, writing: .coalesced(every: .seconds(1)))
        let scroll = Storable<Double>(key: "scroll", in: state)
        for line in 0..<1_000 { try scroll.write(Double(line)) }
        try state.flush()

        #expect(try Storable<Double>(key: "scroll", in: Preferences(path: path)).read() == 999)
    }

    @Test(arguments: ["ada", "ada/..", "é %"]) func eachUserHasAStore(userID: String) throws {
        let keychain = try Keychain.standard.scoped(to: userID)
        let token = KeychainStorable<String>(key: "token", in: keychain)

        let preferences = Preferences(suite: userID)
        let nickname = Storable<String>(key: "nickname", in: preferences)

        try token.write("secret")
        #expect(try Keychain.standard.scoped(to: userID).keys(prefix: "") == ["token"])
        #expect(try Keychain.standard.scoped(to: userID + "x").keys(prefix: "") == [])
        #expect(nickname.stored.name == "nickname")
        #expect(try preferences.path != Preferences(suite: userID + "x").path)
    }

    @Test func anEnumListsTheKeys() async throws {
        let store = try Preferences.standard

        enum UserAction: String {
            case firstLogin
            case indicatorIndex
        }

        let actions = UserActions<UserAction>(in: store)
        try await actions.mark(.firstLogin)
        try await actions.write(3, for: .indicatorIndex)
        let index = try await actions.read(.indicatorIndex, as: Int.self)

        #expect(index == 3)
        #expect(try await actions.isDone(.firstLogin))
        #expect(try Preferences.standard.keys(prefix: "") == ["firstLogin", "indicatorIndex"])
    }

    @Test func aClientLibraryStoresItsSession() throws {
        let session = Data([1, 2, 3])

        let storage = LocalStorageAdapter(in: try Keychain.standard.scoped(to: "backend"))
        try storage.store(key: "session", value: session)

        #expect(try storage.retrieve(key: "session") == session)
        #expect(try Keychain.standard.names() == ["backend/session"])
    }

    @Test func aReadOnlyStoreIsReadAndNotWritten() throws {
        let theme = Storable<Theme>(key: "theme")
        try theme.write(.dark)
        let locked = Storable<Theme>(key: "theme", in: ReadOnlyStore(base: try Preferences.standard))
        #expect(try locked.read() == .dark)
        let error = #expect(throws: VaultError.self) { try locked.write(.light) }
        #expect(error?.code == .unavailable)
        #expect(try theme.read() == .dark)
    }
}
