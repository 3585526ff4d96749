import Foundation
import TestSupport
import Testing

@testable import Vault
@testable import VaultAccount

/// The vault decides: what it has from a login, or no longer has after a logout, stands.
@Suite("A migration where the vault knows more")
struct MigrationDecisionTests {
    private let fixture: AccountFixture
    private let path: String
    private let old = MemoryStore()

    init() throws {
        fixture = try AccountFixture()
        path = fixture.folder.file("account")
    }

    private var source: AccountSource { .file(path, in: fixture.files) }

    private func leaveFile(id: String = "id-ada", userName: String = "ada") throws {
        try overwrite(
            path,
            #"{"id": "\#(id)", "username": "\#(userName)", "token": "canary-old", "nickname": "old", "points": 0, "collectIds": []}"#
                .utf8
        )
    }

    /// Migrates, but the file cannot be removed in the end.
    private func migrateWithoutRemoval(_ manager: AccountManager<FakeService>) throws {
        let path = path
        fixture.files.watch(.remove) { [files = fixture.files] call in
            if call.path == path { files.fail([.remove], with: .error(EACCES)) }
        }
        #expect(throws: AccountError.self) { try manager.migrate(from: source) }
        fixture.files.heal()
        #expect(isFileThere)
    }

    private func leavePassword(_ password: String = "canary-password", of userName: String = "ada") {
        _ = old.commit(StoreBatch(["username": .string(userName), "password": .string(password)]))
    }

    private var isFileThere: Bool { FileManager.default.fileExists(atPath: path) }

    // MARK: AccountTokens

    @Test func theTokensAndTheProfileOfALaterLoginStay() async throws {
        let manager = try await fixture.loggedIn()
        let before = manager.state
        try leaveFile()
        #expect(try manager.migrate(from: source).outcome == .alreadyKnown)
        #expect(manager.state == before && fixture.reloaded().state == before)
        #expect(try await manager.accessToken() == "canary-access-1")
        #expect(!isFileThere)
    }

    @Test func whoIsLoggedInStaysAndTheOlderAccountCanBeSwitchedTo() async throws {
        let manager = try await fixture.loggedIn()
        try leaveFile(id: "id-bob", userName: "bob")
        #expect(try manager.migrate(from: source).outcome == .tokensKept)
        #expect(manager.state.account?.id == "id-ada")
        #expect(try manager.lastUserName() == "ada")
        #expect(try manager.switchAccount(to: "id-bob").account?.profile == Profile(nickname: "old", points: 0))
        #expect(try await manager.accessToken() == "canary-old")
    }

    @Test func aLogoutIsNotUndoneByACopyThatCouldNotBeRemoved() throws {
        try leaveFile()
        let manager = fixture.manager()
        try migrateWithoutRemoval(manager)
        #expect(manager.isLoggedIn)
        try manager.logout()
        #expect(try fixture.manager().migrate(from: source).outcome == .alreadyKnown)
        #expect(fixture.reloaded().state == .loggedOut(.byUser))
        #expect(!isFileThere)
        // One that comes later is another one.
        try leaveFile()
        #expect(try fixture.manager().migrate(from: source).outcome == .tokensKept)
        #expect(fixture.reloaded().isLoggedIn)
    }

    @Test func aCopyThatSomeoneElseHasRemovedIsForgotten() throws {
        try leaveFile()
        try migrateWithoutRemoval(fixture.manager())
        try FileManager.default.removeItem(atPath: path)
        #expect(try fixture.manager().migrate(from: source).outcome == .nothingFound)
        #expect(
            try fixture.keychain.keys(prefix: "account/") == ["account/current", "account/session/id-ada"])
    }

    @Test func aCopyThatChangesMeanwhileIsNotRemoved() throws {
        try leaveFile()
        let path = path
        fixture.files.watch(.rename) { _ in try? overwrite(path, "{}".utf8) }
        let error = #expect(throws: AccountError.self) { try fixture.manager().migrate(from: source) }
        guard case .store(let error)? = error else { return }
        #expect(error.code == .busy)
        #expect(try contents(path) == Array("{}".utf8))
    }

    @Test func keysThatChangeMeanwhileAreNotRemovedAndThoseThatAreGoneAreFine() throws {
        for (password, code) in [("canary-new", VaultError.Code.busy), (nil, nil)] as [(String?, VaultError.Code?)] {
            let fixture = try AccountFixture()
            leavePassword()
            let vault = HookedStore(fixture.keychain) { [old] in
                let name: StoredValue? = password == nil ? nil : .string("ada")
                _ = old.commit(StoreBatch(["username": name, "password": password.map { .string($0) }]))
            }
            let manager = AccountManager(
                service: fixture.service, keychain: .store(vault), preferences: .store(fixture.preferences))
            var found: VaultError.Code?
            do { try manager.migrate(from: .preferences(old)) } catch AccountError.store(let error) {
                found = error.code
            }
            #expect(found == code)
            #expect(old.value(of: "password") == password.map { .string($0) })
        }
    }

    @Test func theNameOfWhoIsLoggedInByItIsTheLastOne() async throws {
        let manager = try await fixture.loggedIn()
        try manager.logout()
        try leaveFile(id: "id-bob", userName: "bob")
        try manager.migrate(from: source)
        #expect(manager.state.account?.id == "id-bob")
        #expect(try manager.lastUserName() == "bob")
    }

    @Test func theCopyOutlivesAVaultThatCannotBeOpened() throws {
        try leaveFile()
        leavePassword()
        let manager = AccountManager(
            service: fixture.service, keychain: .store(LockedStore()), preferences: .store(fixture.preferences))
        #expect(throws: AccountError.self) { try manager.migrate(from: source) }
        #expect(throws: AccountError.self) { try manager.migrate(from: .preferences(old)) }
        #expect(isFileThere && old.value(of: "password") != nil)
        #expect(manager.state == .locked(LockedStore.error))
        #expect(try fixture.preferences.keys(prefix: "") == [])
    }

    // MARK: Passwords

    @Test func aPasswordServesForOneLoginAndIsThenDropped() async throws {
        leavePassword()
        let manager = fixture.manager()
        #expect(try manager.migrate(from: .preferences(old)).outcome == .passwordKept)
        #expect(manager.state == .loggedOut(.never))
        #expect(try manager.lastUserName() == "ada")
        // A server that is away does not cost it.
        fixture.service.fail(.login, .unreachable("a"), .unreachable("b"), .unreachable("c"))
        #expect(await manager.autoLogin() == .loggedOut(.never))
        #expect(await fixture.manager().autoLogin().account?.id == "id-ada")
        #expect(
            try fixture.keychain.keys(prefix: "account/") == ["account/current", "account/session/id-ada"])
    }

    @Test func aPasswordIsKeptIfTheAppKeepsPasswords() async throws {
        leavePassword()
        let options = fixture.options(keepsPassword: true)
        try fixture.manager(options).migrate(from: .preferences(old))
        #expect(await fixture.manager(options).autoLogin().isLoggedIn)
        #expect(try await AccountVault(fixture.keychain).password("id-ada").read() == "canary-password")
    }

    @Test(arguments: [false, true], [false, true])
    func passwordAndTokenFromTwoStoresAreJoined(_ keepsPassword: Bool, _ passwordFirst: Bool) throws {
        leavePassword()
        try leaveFile()
        let manager = fixture.manager(fixture.options(keepsPassword: keepsPassword))
        if passwordFirst { try manager.migrate(from: .preferences(old)) }
        try manager.migrate(from: source)
        if !passwordFirst { try manager.migrate(from: .preferences(old)) }
        let vault = AccountVault(fixture.keychain)
        #expect(manager.isLoggedIn)
        #expect(try vault.password("id-ada").read() == (keepsPassword ? "canary-password" : nil))
        #expect(try vault.waiting.read() == nil)
        #expect(old.keys(prefix: "") == [])
    }

    @Test func aPasswordOfAFileIsKeptOnlyIfTheAppKeepsPasswords() throws {
        for keepsPassword in [true, false] {
            let fixture = try AccountFixture()
            try overwrite(path, OldMachine.json.utf8)
            try fixture.manager(fixture.options(keepsPassword: keepsPassword)).migrate(from: .file(path))
            let password = try AccountVault(fixture.keychain).password("id-ada").read()
            #expect(password == (keepsPassword ? "canary-password" : nil))
        }
    }

    @Test func aPasswordThatTheServerRejectsIsGivenUp() async throws {
        leavePassword("canary-wrong")
        try fixture.manager().migrate(from: .preferences(old))
        #expect(await fixture.manager().autoLogin() == .loggedOut(.rejected))
        #expect(await fixture.manager().autoLogin() == .loggedOut(.rejected))
        #expect(fixture.service.count(.login) == 1)
        #expect(try fixture.keychain.keys(prefix: "account/") == ["account/ended"])
        #expect(try fixture.manager().lastUserName() == "ada")
    }

    @Test func aPasswordDoesNotWaitWhereSomeoneIsLoggedIn() async throws {
        let manager = try await fixture.loggedIn()
        leavePassword(of: "bob")
        #expect(try manager.migrate(from: .preferences(old)).outcome == .fieldsKept)
        try manager.logout()
        #expect(await fixture.manager().autoLogin() == .loggedOut(.byUser))
        #expect(fixture.service.count(.login) == 1)
    }

    @Test func aLoginByHandAndALogoutEndTheWait() async throws {
        leavePassword(of: "bob")
        let manager = fixture.manager()
        try manager.migrate(from: .preferences(old))
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(try await AccountVault(fixture.keychain).waiting.read() == nil)
        try manager.logout()
        leavePassword(of: "bob")
        try manager.migrate(from: .preferences(old))
        try manager.logout()
        #expect(try await AccountVault(fixture.keychain).waiting.read() == nil)
        #expect(fixture.service.count(.login) == 1)
    }

    @Test func aLogoutOfAnAccountThatWasSwitchedToEndsTheWait() async throws {
        let manager = try await fixture.loggedIn()
        try await manager.login(userName: "bob", password: "canary-password")
        try manager.logout()
        leavePassword(of: "eve")
        #expect(try manager.migrate(from: .preferences(old)).outcome == .passwordKept)
        try manager.switchAccount(to: "id-ada")
        try manager.logout()
        #expect(try await AccountVault(fixture.keychain).waiting.read() == nil)
        #expect(await fixture.manager().autoLogin() == .loggedOut(.byUser))
    }

    // MARK: Secrets

    @Test func noCanaryIsInAnyDescription() throws {
        var seen = ""
        func look(_ value: some Any) {
            seen += String(describing: value) + String(reflecting: value)
            dump(value, to: &seen)
        }
        try overwrite(path, OldMachine.json.utf8)
        leavePassword()
        let manager = fixture.manager()
        look(source)
        for kind in [.open, .write, .rename, .remove] as [FileCall] {
            fixture.files.fail([kind], times: 1_000, with: .error(EIO))
            do { try manager.migrate(from: source) } catch { look(error) }
            fixture.files.heal()
        }
        look(try manager.migrate(from: source))
        look(try manager.migrate(from: .preferences(old)))
        look(manager.state)
        look(AccountVault(fixture.keychain))
        #expect(seen.contains("Input/output error") && !seen.contains("canary"))
    }
}

/// A vault without its key.
private struct LockedStore: ValueStore {
    static let error = VaultError(.locked, "The key is away.")

    let changes = ChangeFeed()
    let failures = FailureLog()
    var identity: StoreIdentity { StoreIdentity(changes) }

    func value(of key: String) throws(VaultError) -> StoredValue? { throw Self.error }
    func keys(prefix: String) throws(VaultError) -> [String] { throw Self.error }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool { throw Self.error }
}

/// A store in which something happens before each commit.
private final class HookedStore: ValueStore {
    let base: Keychain
    let hook: @Sendable () -> Void

    init(_ base: Keychain, _ hook: @escaping @Sendable () -> Void) {
        self.base = base
        self.hook = hook
    }

    var changes: ChangeFeed { base.changes }
    var failures: FailureLog { base.failures }

    func value(of key: String) throws(VaultError) -> StoredValue? { try base.value(of: key) }
    func keys(prefix: String) throws(VaultError) -> [String] { try base.keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        hook()
        return try base.commit(batch)
    }
}
