import Glibc
import TestSupport
import Testing
import Vault

@Suite("Files that fail on demand")
struct FaultyFilesTests {
    @Test func aFullDiskIsAnErrorAndTheOldValueHolds() throws {
        let files = FaultyFiles()
        try withTemporaryStores(files: files) { _ in
            for key in [KeychainStorable<String>("k"), Storable<String>("k")] as [any StandardKey<String>] {
                try key.write("old")
                files.fail(.write, with: ENOSPC)
                let error = try #require(throws: VaultError.self) { try key.write("new") }
                #expect(error.code == .unavailable && error.systemError == ENOSPC)
                #expect(try key.read() == "old")
                try key.write("new")
                #expect(try key.read() == "new")
            }
        }
        #expect(files.failures == 2)
    }

    @Test func callsFailAfterAsManyAsWereSkippedAndAsOftenAsWasSaid() throws {
        let files = FaultyFiles()
        let stores = try TemporaryStores(files: files)
        let key = Storable<Int>("k", in: .store(stores.preferences))
        try key.write(0)
        files.fail(.rename, with: EIO, after: 1, times: 2)
        let outcomes = (1...4).map { number in (try? key.write(number)) != nil }
        #expect(outcomes == [true, false, false, true])
        #expect(files.failures == 2)
        files.fail(.rename, with: EIO, times: .max)
        files.heal()
        try key.write(5)
        #expect(try key.read() == 5)
    }

    @Test(arguments: FaultyFiles.Operation.allCases) func eachOperationFailsWhereItIsUsed(
        _ operation: FaultyFiles.Operation
    ) throws {
        let files = FaultyFiles()
        files.fail(operation, with: EIO, times: .max)
        // A file is removed only after another failure, and its mode set only if it is not the usual one.
        if operation == .remove { files.fail(.rename, with: EIO, times: .max) }
        let stores = try? TemporaryStores(files: files)
        if let vault = stores?.keychain.location.vault { chmod(vault, 0o640) }
        _ = try? stores?.keychain.maintenance.compact()
        #expect(files.failures > 0)
    }
}
