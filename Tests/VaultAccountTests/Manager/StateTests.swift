import Foundation
import Observation
import Synchronization
import TestSupport
import Testing
import Vault
import VaultAccount

@Suite("The state of an account")
struct StateTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    @Test func thatANewObserverGetsFirstIsTheOneThatAReadGives() async throws {
        let manager = try await fixture.loggedIn()
        var states = manager.states.makeAsyncIterator()
        #expect(await states.next() == manager.state)
        try manager.logout()
        #expect(await states.next() == .loggedOut(.byUser))
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(await states.next() == manager.state)
        #expect(manager.isLoggedIn)
    }

    @Test func changesTellObservation() async throws {
        let manager = fixture.manager()
        let told = Mutex(0)
        withObservationTracking {
            _ = manager.isLoggedIn
        } onChange: {
            told.withLock { $0 += 1 }
        }
        #expect(told.withLock { $0 } == 0)
        try await manager.login(userName: "ada", password: "canary-password")
        try await ThisProcess.wait { told.withLock { $0 } > 0 }
        #expect(told.withLock { $0 } == 1)
    }

    @Test func observersLearnOfALoginThatBecomesTooOld() async throws {
        var options = fixture.options(validity: .seconds(60))
        options.clock = fixture.clock { [fixture] duration in fixture.pass(duration) }
        let manager = try await fixture.loggedIn(options)
        for await state in manager.states {
            guard case .expired = state else { continue }
            break
        }
        #expect(!manager.isLoggedIn)
    }

    @Test func observersThatEndLeaveTheManagerFree() async throws {
        var manager: AccountManager<FakeService>? = fixture.manager()
        let gone = { [weak manager] in manager == nil }
        if let manager {
            let tasks = (0..<100).map { _ in Task { for await _ in manager.states {} } }
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
        }
        manager = nil
        #expect(gone())
    }

    /// What is seen before a logout is not what is shown after it, however slow the look was.
    @Test func ofALogoutIsNotUndoneByASlowerLook() async throws {
        // The vault, which tells who is logged in, is read before the profile.
        let store = WatchedStore(fixture.preferences)
        let manager = fixture.manager(profiles: .store(store))
        try await manager.login(userName: "ada", password: "canary-password")
        store.after(of: "account/profile/id-ada/nickname") { try? manager.logout() }
        #expect(manager.reload() == .loggedOut(.byUser))
        await #expect(throws: AccountError.notLoggedIn(.byUser)) { try await manager.accessToken() }
    }

    /// A logout after each read of the session in turn: when the tokens are claimed, replaced and loaded.
    @Test func ofALogoutIsNotUndoneByARefresh() async throws {
        var reads = 0
        var isOver = false
        while !isOver {
            reads += 1
            let fixture = try AccountFixture()
            let store = WatchedStore(fixture.keychain)
            let manager = fixture.manager(vault: .store(store))
            try await manager.login(userName: "ada", password: "canary-password")
            let isOut = Flag()
            // Weak: in the last round the store keeps this, and the manager keeps the store.
            store.after(reads: reads, of: "account/session/id-ada") { [weak manager] in
                try? manager?.logout()
                isOut.set()
            }
            _ = try? await manager.refresh()
            isOver = !isOut.isSet
            guard !isOver else { continue }
            #expect(fixture.manager().reload() == .loggedOut(.byUser))
            #expect(manager.state == .loggedOut(.byUser))
            await #expect(throws: AccountError.notLoggedIn(.byUser)) { try await manager.accessToken() }
        }
        #expect(reads > 4)
    }

    /// Another process logs out, and another account becomes the current one, between two reads of one look.
    @Test func isNeverMadeUpOfTwo() async throws {
        let store = WatchedStore(fixture.keychain)
        let manager = fixture.manager(vault: .store(store))
        let other = fixture.manager()
        try await manager.login(userName: "bob", password: "canary-password")
        try await manager.login(userName: "ada", password: "canary-password")
        other.reload()
        store.after(of: "account/current") {
            try? other.logout()
            _ = try? other.switchAccount(to: "id-bob")
        }
        #expect(manager.reload().account?.id == "id-bob")
    }

    @Test func aVaultWithoutItsKeyIsLockedAndNotLoggedOut() async throws {
        let folder = try TemporaryFolder()
        let location = VaultLocation(vault: folder.file("v"), keyFile: folder.file("k"), rollbackMemory: nil)
        let opening = Opening(location)
        let reference = StoreReference { () throws(VaultError) in try opening.open() }
        let service = fixture.service
        func manager() -> AccountManager<FakeService> {
            AccountManager(service: service, keychain: reference, preferences: .store(fixture.preferences))
        }
        let before = try await manager().login(userName: "ada", password: "canary-password")
        #expect(before.isLoggedIn)

        try FileManager.default.moveItem(atPath: folder.file("k"), toPath: folder.file("away"))
        let locked = manager()
        guard case .locked(let error) = await locked.autoLogin() else {
            Issue.record("\(locked.state)")
            return
        }
        #expect(error.code == .locked)
        let thrown = await #expect(throws: AccountError.self) { try await locked.accessToken() }
        #expect(thrown == .store(error))
        #expect(throws: AccountError.self) { try locked.logout() }
        guard case .locked = locked.state else {
            Issue.record("\(locked.state)")
            return
        }

        try FileManager.default.moveItem(atPath: folder.file("away"), toPath: folder.file("k"))
        #expect(locked.reload() == before)
    }

    @Test func showNoSecret() async throws {
        let manager = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        let tokens = try await manager.refresh()
        fixture.service.forgetAll()
        var shown = "\(tokens) \(String(reflecting: tokens)) \(manager) \(manager.state)"
        dump(tokens, to: &shown)
        dump(manager, to: &shown)
        dump(manager.state, to: &shown)
        do { try await manager.refresh() } catch {
            shown += "\(error) \(String(reflecting: error))"
            dump(error, to: &shown)
        }
        #expect(shown.contains("ada") && !shown.contains("canary"))
    }
}

/// Opens the keychain anew each time, as programs that start do.
private struct Opening: Sendable {
    let location: VaultLocation

    init(_ location: VaultLocation) { self.location = location }

    func open() throws(VaultError) -> Keychain { try Keychain(at: location, creatingIfAbsent: true) }
}
