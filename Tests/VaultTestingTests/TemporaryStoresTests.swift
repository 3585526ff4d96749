import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing
import Vault

@Suite("Stores of a test")
struct TemporaryStoresTests {
    @Test(.temporaryStores, arguments: 0..<200) func parallelTestsDoNotMeet(_ number: Int) async throws {
        let keys: [any StandardKey<Int> & Sendable] = [
            KeychainStorable<Int>("number"), Storable<Int>("number"), RAMStorable<Int>("number"),
        ]
        for key in keys {
            #expect(try await key.read() == nil)
            try await key.write(number)
        }
        await Task.yield()
        for key in keys { #expect(try await key.read() == number) }
    }

    @Suite(.temporaryStores) struct InASuite {
        let number = Int.random(in: 0...Int.max)

        @Test(arguments: 0..<20) func eachTestHasItsOwn(_ run: Int) throws {
            #expect(try Keychain.standard.keys(prefix: "") == [])
            try Keychain.standard.set("run", to: "\(run)")
        }
    }

    @Test func tasksBelowInheritThem() async throws {
        try await withTemporaryStores { stores in
            try stores.memory.commit("a", .integer(1))
            async let child = MemoryStore.standard.value(of: "a")
            #expect(await child == .integer(1))
            let unstructured = Task { MemoryStore.standard.value(of: "a") }
            #expect(await unstructured.value == .integer(1))
        }
    }

    @Test func theInnerStoresHideTheOuter() throws {
        try withTemporaryStores { outer in
            let isReplaced = try withTemporaryStores { inner in
                try inner.keychain !== outer.keychain && Keychain.standard === inner.keychain
                    && Preferences.standard === inner.preferences && MemoryStore.standard === inner.memory
            }
            let isBack = try Keychain.standard === outer.keychain && MemoryStore.standard === outer.memory
            #expect(isReplaced && isBack)
        }
    }

    @Test func theyAreRemovedAlsoWhenTheTestThrows() async throws {
        let seen = Seen()
        await #expect(throws: CancellationError.self) {
            try await withTemporaryStores { stores in
                seen.add(stores.keychain.location.vault)
                try await Task.sleep(for: .zero)
                throw CancellationError()
            }
        }
        #expect(throws: CancellationError.self) {
            try withTemporaryStores { stores in
                seen.add(stores.keychain.location.vault)
                throw CancellationError()
            }
        }
        let test = try #require(Test.current)
        let trait = TemporaryStoresTrait.temporaryStores
        await #expect(throws: CancellationError.self) {
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                seen.add(try Keychain.standard.location.vault)
                throw CancellationError()
            }
        }
        let folders = seen.all
        #expect(Set(folders).count == 3)
        for vault in folders {
            #expect(!FileManager.default.fileExists(atPath: URL(filePath: vault).deletingLastPathComponent().path))
        }
    }

    @Test func theirFilesAreThereWhileTheyAre() throws {
        let stores = try TemporaryStores()
        #expect(FileManager.default.fileExists(atPath: stores.keychain.location.vault))
        let folder = URL(filePath: stores.keychain.location.vault).deletingLastPathComponent().path
        let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func anUnscopedStandardStoreIsRefused() async throws {
        let errors = await Task.detached { TemporaryStoresTests.errorsOfStandardStores() }.value
        #expect(errors == TemporaryStoresTests.errorsOfStandardStores())
        #expect(errors.map(\.code) == [.unavailable, .unavailable, .unavailable])
        #expect(errors.allSatisfy { $0.message.contains("`.temporaryStores`") && $0.message.contains("etached") })
    }

    @Test(.temporaryStores) func aDetachedTaskAndAThreadDoNotInheritThem() async throws {
        #expect(TemporaryStoresTests.errorsOfStandardStores().isEmpty)
        #expect(await Task.detached { TemporaryStoresTests.errorsOfStandardStores() }.value.count == 3)
        try onThreads(1) { _ in #expect(TemporaryStoresTests.errorsOfStandardStores().count == 3) }
    }

    @Test func aRefusedStandardStoreTouchesNoHome() async {
        await #expect(processExitsWith: .success) {
            let home = try TemporaryFolder()
            setenv("HOME", home.path, 1)
            for name in ["DATA", "CONFIG", "STATE"] { unsetenv("XDG_\(name)_HOME") }
            var token: KeychainStorable<String> = "u.token"
            var ignored: Storable<Bool> = "u.ignored"
            for failures in [Keychain.standardFailures, Preferences.standardFailures] {
                failures.setHandler { _, _ in }
            }
            token.value = "canary"
            ignored.value = true
            #expect(token.value == nil && ignored.value == nil)
            #expect(Keychain.standardFailures.lastError?.code == .unavailable)
            #expect(Preferences.standardFailures.lastError?.code == .unavailable)
            #expect(TemporaryStoresTests.errorsOfStandardStores().count == 3)
            let made = try FileManager.default.subpathsOfDirectory(atPath: home.path)
            #expect(made == [])
        }
    }

    private static func errorsOfStandardStores() -> [VaultError] {
        var errors: [VaultError] = []
        do { _ = try Keychain.standard } catch { errors.append(error) }
        do { _ = try Preferences.standard.keys(prefix: "") } catch { errors.append(error) }
        do { _ = try StoreReference.memory.store() } catch { errors.append(error) }
        return errors
    }
}

/// What closures have found.
private final class Seen: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

extension MemoryStore {
    fileprivate func commit(_ key: String, _ value: StoredValue) throws {
        try #require(commit(StoreBatch([key: value])))
    }
}
