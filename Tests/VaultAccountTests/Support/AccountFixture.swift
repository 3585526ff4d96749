import Foundation
import Sealing
import Synchronization
import TestSupport

@testable import Vault
@testable import VaultAccount

/// A vault and preferences in a folder of their own, a server, and a clock that stands still.
final class AccountFixture: Sendable {
    let folder: TemporaryFolder
    let files = FaultyFileSystem()
    let service = FakeService()
    let keychain: Keychain
    let preferences: Preferences
    private let clock = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    private let waited = Mutex<[Duration]>([])

    init() throws {
        folder = try TemporaryFolder()
        keychain = try Keychain(at: AccountFixture.location(folder), creatingIfAbsent: true, in: files)
        preferences = Preferences(
            .success(folder.file("p.plist")), nil, FailureLog { _, _ in }, in: files)
    }

    static func location(_ folder: TemporaryFolder) -> VaultLocation {
        VaultLocation(vault: folder.file("v/v.vault"), keyFile: folder.file("k/k.key"), rollbackMemory: nil)
    }

    var now: Date { clock.withLock { $0 } }
    func pass(_ duration: Duration) { clock.withLock { $0 += duration / .seconds(1) } }
    /// The pauses between attempts.
    var pauses: [Duration] { waited.withLock { $0 } }

    /// The fixture's time, and another way to wait.
    func clock(_ sleep: @escaping @Sendable (Duration) async throws -> Void) -> AccountClock {
        AccountClock(now: { [self] in now }, sleep: sleep)
    }

    func options(validity: Duration? = nil, keepsPassword: Bool = false) -> AccountManager<FakeService>.Options {
        var options = AccountManager<FakeService>.Options()
        options.validity = validity
        options.keepsPassword = keepsPassword
        options.clock = clock { [self] duration in waited.withLock { $0.append(duration) } }
        options.followsStores = false
        return options
    }

    /// A manager as a newly started program has it. It may read the vault, or the profiles, through another store.
    func manager(
        _ options: AccountManager<FakeService>.Options? = nil, vault: StoreReference? = nil,
        profiles: StoreReference? = nil
    ) -> AccountManager<FakeService> {
        AccountManager(
            service: service, keychain: vault ?? .store(keychain), preferences: profiles ?? .store(preferences),
            options: options ?? self.options())
    }

    func loggedIn(_ options: AccountManager<FakeService>.Options? = nil) async throws -> AccountManager<FakeService> {
        let manager = manager(options)
        try await manager.login(userName: "ada", password: "canary-password")
        return manager
    }
}

extension AccountError {
    var isRejection: Bool { if case .rejected = self { true } else { false } }
    var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
}
