import Foundation
import LinuxSystem
import SealedFormat
import TestSupport
import Testing
import VaultTesting

@testable import Vault

/// What the system lacks says nothing of a key.
@Suite struct ShortageTests {
    private let fixture: KeychainFixture

    init() throws { fixture = try KeychainFixture() }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC, EDQUOT])
    func ofWhateverIsUnavailableAndNoWrongKey(number: Int32) {
        for code in [LogError.Code.keyUnreadable, .commandFailed, .identityUnreadable, .deviceUnusable] {
            let error = VaultError(LogError(code, "/a/b", systemError: number), fixture.location)
            #expect(error.code == .unavailable && error.systemError == number)
        }
    }

    @Test(arguments: [EACCES, EIO, EINVAL, ELOOP])
    func isWhatItIs(number: Int32) {
        #expect(VaultError(LogError(.keyUnreadable, "/a/b", systemError: number), fixture.location).code == .locked)
    }

    @Test func ofRoomForTheDeviceKeyIsNoUselessKey() throws {
        let files = FaultyFileSystem()
        var location = fixture.location
        location.deviceKey = fixture.folder.file("device.key")
        files.fail([.write], with: .error(ENOSPC))
        let error = #expect(throws: LogError.self) { _ = try location.readDeviceKey(in: files) }
        #expect(error?.code == .unavailable && error?.systemError == ENOSPC)
    }
}
