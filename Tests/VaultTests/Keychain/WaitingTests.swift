import Glibc
import LinuxSystem
import SealedLog
import TestSupport
import Testing
import Vault

@Suite("Who is told that a call waits")
struct WaitingTests {
    /// Outside code: it may use this library itself, so no lock is held while it runs.
    @Test func aSalvageHoldsNoLockWhileItTells() throws {
        let fixture = try KeychainFixture()
        try fixture.open().set("a", to: "x")
        let folder = fixture.folder.file("elsewhere")
        let vault = Glibc.open(fixture.location.vault, O_RDONLY)
        defer { close(vault) }
        #expect(flock(vault, LOCK_EX) == 0)
        let told = Mutex(0)
        var options = Keychain.Options()
        options.onWaiting = { process in
            told.withLock { $0 += 1 }
            #expect(throws: Never.self) {
                let target = folder + "/salvaged.vault"
                _ = try FolderLock.acquire(ofFile: target, in: PosixFileSystem(), until: Deadline(after: .zero))
            }
            flock(vault, LOCK_UN)
        }
        let report = try Keychain.Maintenance.salvage(
            from: fixture.location, to: folder + "/salvaged.vault", options: options)
        #expect(report.isComplete && report.certain == 1)
        #expect(told.withLock { $0 } == 1)
    }
}
