import Foundation
import Testing
import Vault
import VaultAccount

/// The profile of a later version: two fields more, one less.
private struct LaterProfile: AccountProfile {
    var nickname: String
    var collectIds: [String]
    var badge: String?
    var level: Int?
}

/// One that cannot be read from what is stored.
private struct OtherProfile: AccountProfile {
    var nickname: Int
}

private struct Silent<Profile: AccountProfile>: AccountService {
    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile> {
        throw .unreachable("")
    }
    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens { throw .unreachable("") }
    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile? { throw .unreachable("") }
}

@Suite("Profiles")
struct ProfileTests {
    private let fixture: AccountFixture
    private let manager: AccountManager<FakeService>

    init() async throws {
        fixture = try AccountFixture()
        manager = try await fixture.loggedIn()
    }

    private func later<Profile: AccountProfile>(_ type: Profile.Type) -> AccountManager<Silent<Profile>> {
        AccountManager(
            service: Silent<Profile>(), keychain: .store(fixture.keychain), preferences: .store(fixture.preferences))
    }

    private func field(_ name: String) throws -> StoredValue? {
        try fixture.preferences.value(of: "account/profile/id-ada/\(name)")
    }

    @Test func areStoredFieldByField() throws {
        #expect(try field("nickname") == .string("Ada"))
        #expect(try field("points") == .integer(10))
        #expect(try field("phone") == nil)
    }

    @Test func aChangedListIsAllThatIsWritten() throws {
        let recorder = RecordingStore(fixture.preferences)
        let manager = AccountManager(
            service: fixture.service, keychain: .store(fixture.keychain), preferences: .store(recorder))
        manager.reload()
        try manager.update(\.collectIds) { $0.append("a") }
        #expect(recorder.written == [["account/profile/id-ada/collectIds"]])
        try manager.update(\.phone, to: "1")
        try manager.update(\.phone, to: nil)
        try manager.update(\.points, to: 10)
        #expect(recorder.written.count == 3)
        #expect(try field("phone") == nil)
        #expect(manager.state.account?.profile?.collectIds == ["a"])
        #expect(self.manager.reload() == manager.state)
    }

    @Test func ofALaterVersionReadTheOldData() throws {
        try manager.update(\.collectIds, to: ["a"])
        let manager = later(LaterProfile.self)
        #expect(
            manager.reload().account?.profile
                == LaterProfile(nickname: "Ada", collectIds: ["a"], badge: nil, level: nil))
        try manager.update(\.level, to: 3)
        #expect(manager.isLoggedIn)
        // What the later version does not know stays, and the older one reads on.
        #expect(try field("points") == .integer(10))
        #expect(self.manager.reload().account?.profile?.collectIds == ["a"])
    }

    @Test func thatCannotBeReadLogNobodyOut() throws {
        let manager = later(OtherProfile.self)
        #expect(manager.reload().isLoggedIn)
        #expect(manager.state.account?.profile == nil)
        #expect(throws: AccountError.self) { try manager.update(\.nickname, to: 3) }
        #expect(try field("nickname") == .string("Ada"))
    }

    @Test func ofTheServerAreKept() async throws {
        fixture.service.setProfile(Profile(nickname: "Countess", points: 12))
        #expect(try await manager.checkSession().account?.profile?.points == 12)
        #expect(try field("nickname") == .string("Countess"))
    }

    @Test func areNobodysAfterALogout() throws {
        try manager.logout()
        #expect(throws: AccountError.notLoggedIn(.byUser)) { try manager.update(\.points, to: 1) }
    }
}

/// Notes which keys each commit writes.
private final class RecordingStore: ValueStore {
    let changes = ChangeFeed()
    let failures = FailureLog()
    private let base: any ValueStore
    private let lock = NSLock()
    nonisolated(unsafe) private var commits: [[String]] = []

    init(_ base: any ValueStore) { self.base = base }

    var written: [[String]] { lock.withLock { commits } }
    func value(of key: String) throws(VaultError) -> StoredValue? { try base.value(of: key) }
    func keys(prefix: String) throws(VaultError) -> [String] { try base.keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        lock.withLock { commits.append(batch.changes.keys.sorted()) }
        return try base.commit(batch)
    }
}
