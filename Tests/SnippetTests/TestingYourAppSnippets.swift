import Glibc
import Synchronization
import Testing
import Vault
import VaultTesting

/// The app under test.
private struct Account {
    let token: KeychainStorable<String> = "account.token"

    func logIn(token new: String) throws { try token.write(new) }
    func logOut() throws { try token.remove() }
}

final class LoginManager: Sendable {
    static var shared: LoginManager { managers.value }
    private static let managers = StoreLocal { LoginManager() }

    private let stored: KeychainStorable<String> = "login.user"
    private let loaded = Mutex<String?>(nil)

    func user() throws -> String? {
        if let user = loaded.withLock({ $0 }) { return user }
        let user = try stored.read()
        loaded.withLock { $0 = user }
        return user
    }

    func logIn(_ user: String) throws {
        try stored.write(user)
        loaded.withLock { $0 = user }
    }
}

/// One object for all tests, which keeps in memory what it has loaded for each of them.
private final class ThemeManager: Sendable {
    static let shared = ThemeManager()

    private final class Loaded: Sendable { let theme = Mutex<String?>(nil) }

    private let stored = Storable<String>("theme")
    private let loaded = StoreLocal { Loaded() }

    var theme: String? {
        get throws(VaultError) {
            if let theme = loaded.value.theme.withLock({ $0 }) { return theme }
            let theme = try stored.read()
            loaded.value.theme.withLock { $0 = theme }
            return theme
        }
    }

    func set(_ theme: String) throws {
        try stored.write(theme)
        loaded.value.theme.withLock { $0 = theme }
    }
}

@Suite(.temporaryStores) struct SingletonTests {
    @Test(arguments: 0..<20) func eachTestHasAManagerOfItsOwn(_ number: Int) async throws {
        #expect(try LoginManager.shared.user() == nil)
        try LoginManager.shared.logIn("user \(number)")
        await Task.yield()
        #expect(try LoginManager.shared.user() == "user \(number)")
        #expect(try await Task { try LoginManager.shared.user() }.value == "user \(number)")
    }

    @Test(arguments: 0..<20) func oneObjectKeepsTestsApart(_ number: Int) async throws {
        #expect(try ThemeManager.shared.theme == nil)
        try ThemeManager.shared.set("theme \(number)")
        await Task.yield()
        #expect(try ThemeManager.shared.theme == "theme \(number)")
    }
}

@Suite(.temporaryStores) struct LoginTests {
    @Test func loggingOutForgetsTheToken() throws {
        let account = Account()
        try account.logIn(token: "secret")
        try account.logOut()
        #expect(try !account.token.exists())
    }
}

/// A store that someone has written: it counts what is read.
private final class CountingStore: ValueStore {
    private let base = MemoryStore()
    private let reads = Atomic(0)

    var changes: ChangeFeed { base.changes }
    var failures: FailureLog { base.failures }

    func value(of key: String) throws(VaultError) -> StoredValue? {
        reads.add(1, ordering: .relaxed)
        return base.value(of: key)
    }
    func keys(prefix: String) throws(VaultError) -> [String] { base.keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        base.commit(batch)
    }
}

/// Keys of an app, as a part of it that lives as long as the process has them.
private enum Keys {
    static let token: KeychainStorable<String> = "static.token"
    static let launches = Storable("static.launches").defaulting(to: 0)
}

@Suite("Testing your app")
struct TestingYourAppSnippets {
    @Test(.temporaryStores, arguments: 0..<3) func aKeyInAStaticLetFindsTheStoresOfEachTest(_ run: Int) throws {
        #expect(try Keys.token.read() == nil)
        #expect(try Keys.launches.read() == 0)
        try Keys.token.write("run \(run)")
        try Keys.launches.update { $0 += 1 }
    }

    @Test func aClosureHasStoresOfItsOwn() throws {
        let account = Account()

        try withTemporaryStores { stores in
            try account.logIn(token: "secret")
            let names = try stores.keychain.keys()
            #expect(names == ["account.token"])
        }
    }

    @Test(.temporaryStores) func aDetachedTaskGetsTheStorePassed() async throws {
        let keychain = try Keychain.standard
        let token = KeychainStorable<String>("token", in: .store(keychain))
        try await Task.detached { try token.write("secret") }.value

        #expect(try await token.read() == "secret")
        let standard: KeychainStorable<String> = "token"
        let error = await #expect(throws: VaultError.self) {
            try await Task.detached { try standard.write("secret") }.value
        }
        #expect(error?.code == .unavailable)
    }

    @Test func aFullDiskIsATest() throws {
        let files = FaultyFiles()
        try withTemporaryStores(files: files) { _ in
            let token: KeychainStorable<String> = "token"
            try token.write("old")
            files.fail(.write, with: ENOSPC)
            let error = #expect(throws: VaultError.self) { try token.write("new") }
            #expect(error?.code == .unavailable)
            let kept = try token.read()
            #expect(kept == "old")
        }
    }

    @Test func countingStoreKeepsTheRules() async throws {
        try await checkConformance { CountingStore() }
    }
}
