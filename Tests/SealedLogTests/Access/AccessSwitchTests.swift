import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// The switch of the access log is in the vault's header.
@Suite("Switch of the access log")
struct AccessSwitchTests {
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture(history: .standard)
        log = try fixture.open(remembering: true)
        try log.set("a", "1")
    }

    private func record(_ name: String, in log: SealedLog? = nil) throws {
        try (log ?? self.log).recordAccess(in: fixture.memory, timeout: SealedLog.patience) {
            Access(name: name, command: "get", program: "/bin/sh", process: 1, user: 1)
        }
    }

    private func names() throws -> [String] {
        try log.accesses(in: fixture.memory, timeout: SealedLog.patience).names
    }

    private func turn(_ isOn: Bool, _ log: SealedLog? = nil) throws {
        try (log ?? self.log).setAccessLogged(isOn, timeout: SealedLog.patience)
    }

    @Test func isOffUnlessItIsSwitchedOn() throws {
        try log.recordAccess(in: nil, timeout: .zero) {
            Issue.record("nothing is asked for")
            return Access(name: "", command: "", program: "", process: 0, user: 0)
        }
        #expect(try !log.isAccessLogged())
        #expect(!FileManager.default.fileExists(atPath: log.accessLogPath(in: fixture.memory)))
        #expect(try names() == [])
    }

    @Test func holdsForAllWhoUseTheVault() throws {
        let other = try fixture.open(remembering: true)
        try turn(true)
        try record("a", in: other)
        #expect(try fixture.open().isAccessLogged())
        try turn(false, other)
        try record("b")
        #expect(try names() == ["a"])
        #expect(try !log.isAccessLogged())
    }

    @Test func staysInACompactionAndARotation() throws {
        try turn(true)
        try record("before")
        try log.compact()
        try log.rotate()
        #expect(try log.isAccessLogged())
        try record("after")
        #expect(try names() == ["before", "after"])
    }

    /// A machine that was away has recorded under the former data key, and reads on.
    @Test func whatWasRecordedBeforeSeveralRotationsIsRead() throws {
        try turn(true)
        for number in 0..<8 {
            try record("\(number)")
            try log.rotate()
        }
        #expect(try names() == (0..<8).map(String.init))
    }

    @Test(arguments: [false, true]) func isOnAfterAMergeIfEitherCopyHadIt(_ isOnHere: Bool) throws {
        let path = fixture.folder.file("copy.vault")
        try overwrite(path, fixture.bytes)
        let copy = try openApart(path, options: SealedLog.Options(), readKey: fixture.key)
        try turn(true, isOnHere ? log : copy)
        try log.set("b", "here")
        try copy.set("c", "there")
        _ = try log.merge(copy, timeout: SealedLog.patience)
        #expect(try log.isAccessLogged())
        #expect(try log.text("c") == "there")
    }

    @Test func withoutAFolderALogThatIsOnIsAnError() throws {
        try turn(true)
        #expect(
            try LogError.code {
                try log.recordAccess(in: nil, timeout: .zero) {
                    Access(name: "a", command: "get", program: "", process: 0, user: 0)
                }
            } == .accessLogUnusable)
    }
}
