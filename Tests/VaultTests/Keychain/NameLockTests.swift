import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Vault

@Suite("Locks of names", .timeLimit(.minutes(5)))
struct NameLockTests {
    private let fixture: KeychainFixture

    init() throws {
        fixture = try KeychainFixture()
    }

    /// Two stores that exclude each other.
    enum Pair: CaseIterable {
        case keychains, scopesOfKeychains, memory

        func open(_ fixture: KeychainFixture) throws -> (any ValueStore, any ValueStore) {
            switch self {
            case .keychains: return (try fixture.open(), try fixture.open())
            case .scopesOfKeychains:
                return (try fixture.open().scoped(to: "a"), try fixture.open().scoped(to: "a"))
            case .memory:
                let store = MemoryStore()
                return (store, store)
            }
        }
    }

    /// Whether nobody has the lock.
    private static func isFree(_ name: String, in store: any ValueStore) async -> Bool {
        let attempt = Task { try await store.acquireLock(name).release() }
        let limit = Task {
            try await Task.sleep(for: .milliseconds(300))
            attempt.cancel()
        }
        defer { limit.cancel() }
        do { try await attempt.value } catch { return false }
        return true
    }

    @Test(arguments: Pair.allCases) func oneAtATimeHasTheLockOfAName(_ pair: Pair) async throws {
        let (one, other) = try pair.open(fixture)
        let room = Room()
        try await withThrowingTaskGroup { group in
            for task in 0..<20 {
                group.addTask {
                    let lock = try await (task.isMultiple(of: 2) ? one : other).acquireLock("x")
                    room.enter()
                    await Task.yield()
                    room.leave()
                    lock.release()
                }
            }
            try await group.waitForAll()
        }
        #expect(room.most == 1)
    }

    @Test(arguments: Pair.allCases) func otherNamesAndOtherScopesAreFree(_ pair: Pair) async throws {
        let (one, other) = try pair.open(fixture)
        let lock = try await one.acquireLock("x")
        #expect(await NameLockTests.isFree("y", in: other))
        #expect(await NameLockTests.isFree("x", in: other.scoped(to: "b")))
        #expect(await !NameLockTests.isFree("x", in: other))
        lock.release()
        #expect(await NameLockTests.isFree("x", in: other))
    }

    @Test func aCancelledTaskNoLongerWaits() async throws {
        let store = MemoryStore()
        let lock = try await store.acquireLock("x")
        let waiting = Task { try await store.acquireLock("x").release() }
        waiting.cancel()
        let error = await #expect(throws: VaultError.self) { try await waiting.value }
        #expect(error?.code == .busy)
        lock.release()
    }

    @Test func aFileBesideTheVaultIsEmptyAndItsOwnersAlone() async throws {
        try await fixture.open().acquireLock("canary").release()
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.location.vault + ".locks")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(attributes[.size] as? Int == 0)
    }

    @Test func aKilledProcessLosesItsLockAtOnce() async throws {
        let keychain = try fixture.open()
        async let holding: Void = holdUntilKilled(in: fixture.folder.path)
        try await ThisProcess.wait { (try? keychain.value(of: "held")) == .boolean(true) }
        #expect(await !NameLockTests.isFree("x", in: keychain))
        _ = try keychain.commit(StoreBatch(["die": .boolean(true)]))
        try await keychain.acquireLock("x").release()
        await holding
    }

    private func holdUntilKilled(in folder: String) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
            ThisProcess.end(after: 240)
            let location = VaultLocation(
                vault: folder + "/data/default.vault", keyFile: folder + "/config/default.key",
                rollbackMemory: folder + "/state")
            let keychain = try Keychain(at: location)
            let lock = try await keychain.acquireLock("x")
            _ = try keychain.commit(StoreBatch(["held": .boolean(true)]))
            try await ThisProcess.wait { (try? keychain.value(of: "die")) == .boolean(true) }
            kill(getpid(), SIGKILL)
            lock.release()
        }
    }
}

/// Counts who is inside at once.
private final class Room: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }
    func enter() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func leave() { counts.withLock { $0.now -= 1 } }
}
