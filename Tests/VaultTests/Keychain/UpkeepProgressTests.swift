import SealedLog
import TestSupport
import Testing
import Vault

@Suite("Progress of long calls")
struct UpkeepProgressTests {
    private let fixture: KeychainFixture

    init() throws {
        fixture = try KeychainFixture()
        let keychain = try fixture.open()
        for number in 0..<40 { try keychain.set("name \(number)", to: String(repeating: "x", count: number * 100)) }
    }

    @Test func beginsAtZeroAndEndsAtOne() throws {
        let keychain = try fixture.open()
        let verifying = UpkeepProgress()
        let compacting = UpkeepProgress()
        let salvaging = UpkeepProgress()
        #expect(verifying.fraction == 0)
        _ = try keychain.maintenance.verify(progress: verifying)
        #expect(verifying.fraction == 1)
        try keychain.maintenance.compact(progress: compacting)
        #expect(compacting.fraction == 1)
        _ = try Keychain.Maintenance.salvage(
            from: fixture.location, to: fixture.folder.file("salvaged.vault"), progress: salvaging)
        #expect(salvaging.fraction == 1)
    }
}
