import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import Vault
@testable import VaultAccount

@Suite("Accounts when the disk fails")
struct AccountFaultTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    @Test func aLogoutThatCannotBeWrittenIsReportedAndDidNotHappen() async throws {
        let manager = try await fixture.loggedIn()
        let before = manager.state
        fixture.files.fail([.write], with: .error(ENOSPC))
        let error = #expect(throws: AccountError.self) { try manager.logout() }
        guard case .store(let error)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error.systemError == ENOSPC)
        #expect(manager.state == before && fixture.manager().reload() == before)
        try manager.logout()
        #expect(fixture.manager().reload() == .loggedOut(.byUser))
    }

    /// Whatever call fails: what memory says is what the disk says, and the next logout goes through.
    @Test(arguments: 0..<24) func memoryAndDiskAgreeAfterALogoutThatFailed(_ call: Int) async throws {
        let manager = try await fixture.loggedIn()
        fixture.files.fail(FileCall.changing, after: call, times: 1_000, with: .error(ENOSPC))
        var isDone = false
        do {
            try manager.logout()
            isDone = true
        } catch { isDone = false }
        fixture.files.heal()
        #expect(isDone || fixture.files.failures > 0)
        if isDone { #expect(manager.state == .loggedOut(.byUser)) }
        let reopened = AccountManager(
            service: fixture.service,
            keychain: .store(try Keychain(at: AccountFixture.location(fixture.folder))),
            preferences: .store(Preferences(path: fixture.folder.file("p.plist"))))
        #expect(reopened.reload() == manager.state)
        await reopened.autoLogin()
        if !reopened.isLoggedIn { #expect(try fixture.preferences.keys(prefix: "account/profile/").isEmpty) }
    }

    @Test func aLoginThatCannotBeKeptIsReported() async throws {
        let manager = fixture.manager()
        fixture.files.fail([.write], with: .error(ENOSPC))
        let error = await #expect(throws: AccountError.self) {
            try await manager.login(userName: "ada", password: "canary-password")
        }
        #expect(error?.description.contains("canary") == false)
        #expect(manager.state == .loggedOut(.never))
    }

    @Test func whatIsPendingInThePreferencesIsDoneAtTheNextStart() async throws {
        let manager = fixture.manager()
        // The vault's commit is done; the property list cannot be written.
        fixture.files.fail([.rename], with: .error(ENOSPC))
        await #expect(throws: AccountError.self) {
            try await manager.login(userName: "ada", password: "canary-password")
        }
        // The state has it from the vault meanwhile.
        #expect(manager.isLoggedIn && manager.state.account?.profile?.nickname == "Ada")
        let restarted = fixture.manager()
        #expect(await restarted.autoLogin().account?.profile?.nickname == "Ada")
        #expect(try restarted.lastUserName() == "ada")
        #expect(try fixture.keychain.keys(prefix: "account/pendingChange/").isEmpty)
    }
}

@Suite("Power loss of accounts")
struct AccountPowerLossTests {
    private static let calls = 1...60

    /// Lets `work` run on a disk that loses power at each call in turn, and shows what the next start finds.
    private func losingPower(
        loggedIn: Bool, _ work: (AccountManager<FakeService>) async throws -> String?,
        then check: (AccountManager<FakeService>, Bool, String?) async throws -> Void
    ) async throws {
        var done = 0
        for call in Self.calls {
            let folder = try TemporaryFolder()
            let service = FakeService()
            let path = try await prepare(in: folder, service, loggedIn: loggedIn)
            let files = try CrashingFileSystem(path)
            var isDone = false
            var result = String?.none
            do {
                let manager = try manager(path, files, service)
                manager.reload()
                files.losePower(afterCalls: call)
                result = try await work(manager)
                isDone = true
            } catch is AccountError {
                #expect(files.isOff)
            }
            done += isDone ? 1 : 0
            for seed in 0..<3 {
                let after = try TemporaryFolder()
                try files.materialize(into: after.path, seed: seed)
                try await check(manager(after.path, PosixFileSystem(), service), isDone, result)
            }
        }
        #expect(done > 0 && done < Self.calls.count)
    }

    /// Returns a folder with copies, which nobody has open: a process has one log for a file, with the file system that
    /// it was opened in, and the tasks of a login may hold it a while longer.
    private func prepare(
        in folder: TemporaryFolder, _ service: FakeService, loggedIn: Bool
    ) async throws -> String {
        let first = folder.file("first")
        let copy = folder.file("copy")
        _ = try Keychain(
            at: VaultLocation(vault: first + "/v/v.vault", keyFile: first + "/k/k.key", rollbackMemory: nil),
            creatingIfAbsent: true)
        if loggedIn {
            try await manager(first, PosixFileSystem(), service).login(userName: "ada", password: "canary-password")
        }
        try FileManager.default.copyItem(atPath: first, toPath: copy)
        return copy
    }

    private func manager(
        _ folder: String, _ files: any FileSystem, _ service: FakeService
    ) throws -> AccountManager<FakeService> {
        let location = VaultLocation(vault: folder + "/v/v.vault", keyFile: folder + "/k/k.key", rollbackMemory: nil)
        var options = AccountManager<FakeService>.Options()
        options.followsStores = false
        return AccountManager(
            service: service, keychain: .store(try Keychain(at: location, creatingIfAbsent: false, in: files)),
            preferences: .store(
                Preferences(.success(folder + "/p.plist"), nil, FailureLog { _, _ in }, in: files)),
            options: options)
    }

    @Test func aLoginIsWhollyThereOrNotAtAll() async throws {
        try await losingPower(loggedIn: false) { manager in
            try await manager.login(userName: "ada", password: "canary-password")
            return nil
        } then: { manager, isDone, _ in
            let state = await manager.autoLogin()
            #expect(isDone ? state.isLoggedIn : state.isLoggedIn || state == .loggedOut(.never))
            if state.isLoggedIn {
                #expect(state.account?.profile == Profile(nickname: "Ada", points: 10))
                let token = try await manager.accessToken()
                #expect(token == "canary-access-1")
            } else {
                let accounts = try manager.accountIDs()
                #expect(accounts.isEmpty)
            }
        }
    }

    @Test func aRotatedTokenThatWasReturnedIsNeverLost() async throws {
        try await losingPower(loggedIn: true) { manager in
            try await manager.refresh().access
        } then: { manager, isDone, returned in
            #expect(await manager.autoLogin().isLoggedIn)
            let token = try await manager.accessToken()
            #expect(isDone ? token == returned : ["canary-access-1", "canary-access-2"].contains(token))
        }
    }

    @Test func aLogoutIsWholeOrDidNotHappen() async throws {
        try await losingPower(loggedIn: true) { manager in
            try manager.logout()
            return nil
        } then: { manager, isDone, _ in
            let state = await manager.autoLogin()
            if isDone { #expect(state == .loggedOut(.byUser)) }
            if state.isLoggedIn {
                #expect(state.account?.profile == Profile(nickname: "Ada", points: 10))
                let token = try await manager.accessToken()
                #expect(token == "canary-access-1")
            } else {
                #expect(state == .loggedOut(.byUser))
                let accounts = try manager.accountIDs()
                #expect(accounts.isEmpty)
            }
        }
    }
}
