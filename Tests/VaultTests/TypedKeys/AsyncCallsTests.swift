import LinuxSystem
import TestSupport
import Testing
import VaultTesting

@testable import Vault

/// In these tests the compiler chooses the calls that await.
@Suite("Calls that await", .temporaryStores, .timeLimit(.minutes(10)))
struct AsyncCallsTests {
    @Test(arguments: TestedHome.allCases) func doWhatThoseThatBlockDo(_ home: TestedHome) async throws {
        let key = Storable<Int>("n", in: home.reference)
        #expect(try await key.read() == nil)
        try await key.write(1)
        #expect(try await key.exists())
        let sum = try await key.update { value in
            value = (value ?? 0) + 1
            return value
        }
        #expect(sum == 2)
        #expect(try await key.defaulting(to: 0).read() == 2)
        try await key.remove()
        #expect(try await key.defaulting(to: 7).read() == 7)
        await #expect(throws: CancellationError.self) {
            try await key.update { _ throws(any Error) in throw CancellationError() }
        }
        let store = try home.store
        let old = try await store.atomically { (transaction) throws(VaultError) in
            let old = try transaction.read(key)
            try transaction.write(5, to: key)
            return old
        }
        #expect(old == nil)
        #expect(try await store.asynchronously { try $0.keys(prefix: "") } == ["n"])
    }

    /// Two such calls would stop a process of two cores.
    @Test func blockNoOtherTask() async throws {
        var options = Keychain.Options()
        // On a busy machine the other tasks may take long.
        options.lockTimeout = .seconds(600)
        let keychain = try Keychain(at: Keychain.standard.location, options: options)
        let held = try HeldVault(keychain.location.vault)
        let key = KeychainStorable<Int>("n", in: .store(keychain))
        let writes = (0..<16).map { number in Task { try await key.write(number) } }
        for _ in 0..<100 { await Task.detached {}.value }
        #expect(try keychain.keys(prefix: "") == [])
        held.release()
        for write in writes { try await write.value }
        #expect(try await key.exists())
    }

    @Test func theErrorIsTyped() async {
        let key = Storable("n", in: .memory).defaulting(to: 0)
        try? await Storable<String>("n", in: .memory).write("text")
        do { try await key.update { $0 += 1 } } catch { #expect(error.code == .wrongType) }
        do { _ = try await key.read() } catch { #expect(error.code == .wrongType) }
    }
}

/// The lock of a vault, held as another process would hold it.
private struct HeldVault: ~Copyable {
    private let file: FileDescriptor

    init(_ path: String) throws {
        let files = PosixFileSystem()
        let file = try files.open(path, .read)
        guard try files.tryLock(file, .exclusive) else { throw CancellationError() }
        self.file = file
    }

    consuming func release() {}
}
