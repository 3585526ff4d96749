import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("The one log of a process")
struct SharedLogTests {
    private let vault: RememberedVault
    private var fixture: LogFixture { vault.fixture }

    init() throws {
        vault = try RememberedVault()
    }

    private func openShared(
        accepting: [LogError.Code] = [], in files: any FileSystem = PosixFileSystem()
    ) throws -> SealedLog {
        try SealedLog.open(
            fixture.path, options: fixture.options(remembering: true, accepting: accepting), in: files,
            readKey: fixture.key)
    }

    @Test(arguments: [true, false]) func whatIsAcceptedIsSoForAllWhoHaveTheVaultOpen(_ overwritesFile: Bool) throws {
        let log = try openShared()
        let older = try fixture.bytes
        try log.set("a", "newer")
        if overwritesFile { try overwrite(fixture.path, older) } else { try replace(fixture.path, with: older) }
        #expect(try LogError.code { try log.set("a", "x") } == .rolledBack)
        #expect(try LogError.code { _ = try openShared() } == .rolledBack)
        let accepting = try openShared(accepting: [.rolledBack])
        for log in [log, accepting] {
            #expect(try log.text("a") == "2")
            try log.set("b", "x")
            try log.verify()
        }
        #expect(try vault.openingCode() == nil)
    }

    @Test func anotherVaultThatIsAcceptedIsTheOneThatIsOpened() throws {
        let log = try openShared()
        let other = try vault.otherVault()
        try overwrite(fixture.path, other)
        let accepting = try openShared(accepting: [.exchanged])
        #expect(try accepting.entries().isEmpty)
        try accepting.set("a", "other")
        #expect(try LogError.code { try log.set("a", "x") } == .exchanged)
        #expect(try accepting.text("a") == "other")
    }

    @Test func whatIsAcceptedIsWrittenToEvenIfThatCannotBeRemembered() throws {
        let older = try fixture.bytes
        try vault.open().set("a", "newer")
        try replace(fixture.path, with: older)
        let files = FaultyFileSystem()
        // The memory's own locks: of `.path`, then of `.seen`.
        files.fail([.lock], times: 2, with: .error(ENOLCK))
        let log = try fixture.open(in: files, remembering: true, accepting: [.rolledBack])
        #expect(try vault.openingCode() == .rolledBack)
        Thread.sleep(forTimeInterval: 0.07)
        #expect(try log.text("a") == "2")
        try log.set("b", "x")
        #expect(try log.text("b") == "x")
    }

    /// One that could only read it before writes once it may.
    @Test func whoMayOnlyReadWritesOnceThatIsPermitted() throws {
        let files = FaultyFileSystem()
        files.fail([.open], with: .error(EACCES))
        let reader = try openShared(in: files)
        files.fail([.open], with: .error(EACCES))
        #expect(try LogError.code { try reader.set("a", "x") } == .unavailable)
        #expect(try openShared() === reader)
        try reader.set("a", "x")
        #expect(try reader.text("a") == "x")
        #expect(try openShared().text("a") == "x")
    }
}
