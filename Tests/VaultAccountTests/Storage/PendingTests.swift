import Foundation
import TestSupport
import Testing
import VaultAccount

@testable import Vault

@Suite("What is pending in the preferences")
struct PendingTests {
    @Test func aProfileThatTheyCanNeverHoldDoesNotKeepLaterLoginsFromSucceeding() async throws {
        let fixture = try AccountFixture()
        fixture.service.setProfile(Profile(nickname: "bell\u{7}", points: 1))
        await #expect(throws: AccountError.self) { try await fixture.loggedIn() }
        fixture.service.setProfile(Profile(nickname: "Ada", points: 1))
        #expect(try await fixture.loggedIn().state.account?.profile?.nickname == "Ada")
        fixture.service.setProfile(Profile(nickname: "bell\u{7}", points: 1))
        await #expect(throws: AccountError.self) { try await fixture.loggedIn() }
        #expect(await fixture.manager().autoLogin().isLoggedIn)
        #expect(try fixture.keychain.keys(prefix: "account/pendingChange/") == [])
    }

    @Test func coalescedPreferencesHaveTheProfileOnTheDiskBeforeItIsNoLongerPending() async throws {
        let fixture = try AccountFixture()
        let path = fixture.folder.file("coalesced.plist")
        let preferences = Preferences(path: path, coalescing: .seconds(3_600))
        // After one write, the next one waits for an hour.
        _ = try preferences.commit(StoreBatch(["other": .boolean(true)]))
        try preferences.flush()
        let manager = AccountManager(
            service: fixture.service, keychain: .store(fixture.keychain), preferences: .store(preferences),
            options: fixture.options())
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(try contents(path).holds("Ada".utf8))
        try manager.logout()
        #expect(try !contents(path).holds("Ada".utf8))
    }

    @Test func doesNotUndoALaterChange() async throws {
        let fixture = try AccountFixture()
        let manager = try await fixture.loggedIn()
        fixture.service.setProfile(Profile(nickname: "Ada", points: 20))
        fixture.files.fail([.rename], with: .error(ENOSPC))
        await #expect(throws: AccountError.self) {
            try await manager.login(userName: "ada", password: "canary-password")
        }
        fixture.files.heal()
        try manager.update(\.points, to: 99)
        #expect(manager.state.account?.profile?.points == 99)
        #expect(await fixture.manager().autoLogin().account?.profile?.points == 99)
    }

    @Test func ofALogoutIsDoneBeforeANewLoginsProfileComes() async throws {
        let fixture = try AccountFixture()
        let manager = try await fixture.loggedIn()
        try manager.update(\.phone, to: "555")
        fixture.files.fail([.rename], with: .error(ENOSPC))
        #expect(throws: AccountError.self) { try manager.logout() }
        fixture.files.heal()
        #expect(try fixture.keychain.keys(prefix: "account/pendingRemoval/") != [])
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(manager.state.account?.profile == Profile(nickname: "Ada", points: 10))
        #expect(try fixture.keychain.keys(prefix: "account/pendingRemoval/") == [])
    }

    /// A logout has looked whether the profile is to go, and is slow; another process logs in meanwhile.
    @Test(arguments: 1...3) func ofALogoutDoesNotCostTheProfileOfALaterLogin(_ reads: Int) async throws {
        let fixture = try AccountFixture()
        let store = WatchedStore(fixture.keychain)
        let manager = fixture.manager(vault: .store(store))
        let other = fixture.manager()
        try await manager.login(userName: "ada", password: "canary-password")
        store.after(reads: reads, of: "account/pendingRemoval/id-ada") {
            blocking { _ = try? await other.login(userName: "ada", password: "canary-password") }
        }
        await onThread { try? manager.logout() }
        #expect(fixture.service.count(.login) == 2)
        let state = await fixture.manager().autoLogin()
        #expect(state.account?.profile == Profile(nickname: "Ada", points: 10))
        #expect(try fixture.keychain.keys(prefix: "account/") == ["account/current", "account/session/id-ada"])
    }

    /// The other way round: a login that is slow to write its profile, and a logout in another process. The first two
    /// reads come before the login.
    @Test(arguments: 3...5) func ofALoginLeavesNoProfileAfterALogout(_ reads: Int) async throws {
        let fixture = try AccountFixture()
        let store = WatchedStore(fixture.keychain)
        let manager = fixture.manager(vault: .store(store))
        let other = fixture.manager()
        store.after(reads: reads, of: "account/pendingChange/id-ada") {
            other.reload()
            try? other.logout()
        }
        _ = try? await manager.login(userName: "ada", password: "canary-password")
        #expect(manager.state == .loggedOut(.byUser))
        #expect(try fixture.preferences.keys(prefix: "account/profile/") == [])
        #expect(try fixture.keychain.keys(prefix: "account/") == ["account/ended"])
    }
}

/// Runs something on a thread of its own, where it may block.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            body()
            continuation.resume()
        }
    }
}

/// Runs something asynchronous, and blocks this thread until it is done.
private func blocking(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        await body()
        done.signal()
    }
    done.wait()
}
