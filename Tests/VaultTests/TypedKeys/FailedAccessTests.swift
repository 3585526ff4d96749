import Foundation
import TestSupport
import Testing
import Vault
import VaultTesting

/// A value that cannot be read is not absent, and is not overwritten.
@Suite("Failed access to a value")
struct FailedAccessTests {
    private let fixture: KeychainFixture
    private let failures = FailureLog { _, _ in }
    private let seen = SeenFailures()

    init() throws {
        fixture = try KeychainFixture()
        failures.setHandler(seen.handler)
        let keychain = try fixture.open()
        try KeychainStorable<String>("u.token", in: .store(keychain)).write("canary")
    }

    private func reopened(creatingIfAbsent isCreating: Bool = true) throws(VaultError) -> Keychain {
        try Keychain(at: fixture.location, creatingIfAbsent: isCreating, failures: failures)
    }

    @Test func aVaultWhoseKeyIsAwayIsLockedAndStaysAsItIs() throws {
        let vault = try contents(fixture.location.vault)
        try FileManager.default.moveItem(atPath: fixture.location.keyFile, toPath: fixture.location.keyFile + ".away")
        let key = keyOfUnopened()
        #expect(try VaultError.code { _ = try key.read() } == .locked)
        var token = key
        #expect(token.value == nil)
        token.value = "a default"
        #expect(seen.all.map(\.code) == [.locked, .locked] && seen.keys == ["u.token", "u.token"])
        #expect(failures.lastError?.code == .locked)
        #expect(try VaultError.code { try token.update { $0 = "new" } } == .locked)
        #expect(try VaultError.code { try token.remove() } == .locked)
        #expect(try VaultError.code { _ = try token.exists() } == .locked)
        #expect(try contents(fixture.location.vault) == vault)
        #expect(!fixture.isThere(fixture.location.keyFile))

        try FileManager.default.moveItem(atPath: fixture.location.keyFile + ".away", toPath: fixture.location.keyFile)
        #expect(try key.read() == "canary")
        #expect(token.value == "canary")
    }

    @Test func aDamagedVaultIsReportedAndStaysAsItIs() throws {
        let keychain = try reopened()
        var bytes = try contents(fixture.location.vault)
        for offset in 4_096..<bytes.count { bytes[offset] ^= 1 }
        try overwrite(fixture.location.vault, bytes)
        var token = KeychainStorable<String>("u.token", in: .store(keychain)).defaulting(to: "a default")
        #expect(token.value == "a default")
        token.value = "new"
        #expect(!seen.all.isEmpty && seen.all.allSatisfy { $0.code == .damaged })
        #expect(keychain.lastError?.code == .damaged)
        #expect(try contents(fixture.location.vault) == bytes)
    }

    @Test func aDamagedPropertyListIsReportedAndStaysAsItIs() throws {
        let path = fixture.folder.file("p.plist")
        try overwrite(path, Array("<plist><dict><key>k</key>".utf8))
        let preferences = Preferences(path: path, failures: failures)
        var flag = Storable<Bool>("k", in: .store(preferences)).defaulting(to: true)
        #expect(flag.value)
        flag.value = false
        #expect(throws: VaultError.self) { try flag.remove() }
        #expect(seen.all.map(\.code) == [.damaged, .damaged])
        #expect(preferences.lastError?.message.contains(path) == true)
        #expect(try contents(path) == Array("<plist><dict><key>k</key>".utf8))
    }

    @Test func aWrapperWithADefaultGivesItAndReports() throws {
        let memory = MemoryStore(failures: failures)
        _ = memory.commit(StoreBatch(["k": .string("text")]))
        struct Model {
            @RAMStored<DefaultedKey<RAMStorable<Int>>> var number: Int
            @RAMStored<RAMStorable<Int>> var optional: Int?
        }
        let home = StoreReference.store(memory)
        let model = Model(number: RAMStored("k", default: 7, in: home), optional: RAMStored("k", in: home))
        #expect(model.number == 7 && model.optional == nil)
        #expect(seen.all.map(\.code) == [.wrongType, .wrongType])
        #expect(memory.value(of: "k") == .string("text"))
    }

    @Test func aStoreThatIsNotFoundIsReportedToo() {
        let locked = StoreReference(failures: failures) { () throws(VaultError) in throw VaultError(.locked, "No key.")
        }
        var key = Storable<String>("k", in: locked)
        #expect(key.value == nil)
        key.value = "text"
        #expect(seen.all.map(\.code) == [.locked, .locked] && failures.lastError?.code == .locked)
    }

    @Test func theHandlerMayUseTheStoreThatFailed() throws {
        let memory = MemoryStore(failures: failures)
        failures.setHandler { [weak memory] error, _ in
            guard let memory else { return }
            try? RAMStorable<String>("last error", in: .store(memory)).write(error.code.name)
            #expect(memory.lastError == error)
        }
        _ = memory.commit(StoreBatch(["k": .string("text")]))
        #expect(RAMStorable<Int>("k", in: .store(memory)).value == nil)
        #expect(memory.value(of: "last error") == .string("wrongType"))
    }

    /// A key whose store is opened at each use, as the standard ones are.
    private func keyOfUnopened() -> KeychainStorable<String> {
        KeychainStorable("u.token", in: .store(Reopening(fixture.location, failures)))
    }
}

/// A keychain that is opened again at each use.
private final class Reopening: ValueStore {
    private let location: VaultLocation
    let failures: FailureLog
    let changes = ChangeFeed()

    init(_ location: VaultLocation, _ failures: FailureLog) {
        self.location = location
        self.failures = failures
    }

    private func keychain() throws(VaultError) -> Keychain { try Keychain(at: location, creatingIfAbsent: true) }
    func value(of key: String) throws(VaultError) -> StoredValue? { try keychain().value(of: key) }
    func keys(prefix: String) throws(VaultError) -> [String] { try keychain().keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool { try keychain().commit(batch) }
}
