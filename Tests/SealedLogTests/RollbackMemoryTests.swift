import Foundation
import Sealing
import TestSupport
import Testing

@testable import SealedLog

@Suite("Rollback memory")
struct RollbackMemoryTests {
    private let vault: RememberedVault
    private var fixture: LogFixture { vault.fixture }

    init() throws {
        vault = try RememberedVault()
    }

    @Test(arguments: [".seen", ".path"]) func aTornStateFileIsNoMemoryAndNoAlarm(_ ending: String) throws {
        let file = try vault.stateFile(ending)
        let whole = try contents(file)
        for length in 0..<whole.count {
            try overwrite(file, whole[..<length])
            #expect(try vault.openingCode() == nil)
            try overwrite(file, Array(whole[..<length]) + [UInt8](repeating: 0, count: whole.count - length))
            #expect(try vault.openingCode() == nil)
        }
        for place in whole.indices {
            var changed = whole
            changed[place] ^= 0x21
            try overwrite(file, changed)
            #expect(try vault.openingCode() == nil, "byte \(place)")
        }
        // The next write remembers again.
        let older = try fixture.bytes
        try vault.open().set("a", "newer")
        #expect(try contents(file).count == whole.count)
        try replace(fixture.path, with: older)
        #expect(try vault.openingCode() == .rolledBack)
    }

    @Test func theMemoryOfAnotherKeyIsNone() throws {
        let other = try LogFixture()
        for _ in 0..<5 { try other.open(remembering: true).set("a", "x") }
        let names = try FileManager.default.contentsOfDirectory(atPath: other.memory)
        let seen = try #require(names.first { $0.hasSuffix(".seen") })
        let forged = try contents("\(other.memory)/\(seen)")
        try overwrite(try vault.stateFile(".seen"), forged)
        #expect(try vault.openingCode() == nil)
    }

    @Test func aMemoryThatCannotBeKeptFailsNothing() throws {
        try FileManager.default.removeItem(atPath: fixture.memory)
        try overwrite(fixture.memory, Array("not a folder".utf8))
        let log = try vault.open()
        try log.set("a", "x")
        try log.compact()
        #expect(try vault.open().text("a") == "x")
        #expect(try log.information().remembers == false)
    }

    @Test func theStateFilesAreForTheirOwnerAlone() throws {
        for ending in [".seen", ".path"] {
            #expect(try PosixFileSystem().status(at: vault.stateFile(ending)).mode == 0o600)
        }
        #expect(try PosixFileSystem().status(at: fixture.memory).mode == 0o700)
    }

    @Test func itIsRaisedOnlyAfterTheFlush() throws {
        let files = FaultyFileSystem()
        let log = try fixture.open(in: files, remembering: true)
        files.forgetCalls()
        try log.set("a", "x")
        let calls = files.calls
        let flush = try #require(calls.firstIndex { $0.kind == .synchronizeData && $0.path == fixture.path })
        let raise = try #require(calls.firstIndex { $0.kind == .write && $0.path.hasSuffix(".seen") })
        #expect(flush < raise)
        #expect(log.memory?.seen()?.sequence == 5)

        let before = try contents(vault.stateFile(".seen"))
        files.fail([.synchronizeData], with: .error(EIO))
        #expect(try LogError.code { try log.set("a", "y") } == .unavailable)
        #expect(try contents(vault.stateFile(".seen")) == before)
    }

    @Test func aCompactionRaisesItOnlyAfterTheFoldersFlush() throws {
        let files = FaultyFileSystem()
        let log = try fixture.open(in: files, remembering: true)
        files.fail([.synchronize], after: 1, with: .error(EIO))
        try log.compact()
        // The notice was flushed in the old file.
        #expect(log.memory?.seen()?.sequence == 5)
        try log.set("a", "x")
        #expect(log.memory?.seen()?.sequence == 7)
    }

    @Test func aFilesNameThatItKnowsToBeDurableIsNotFlushedAgain() throws {
        let files = FaultyFileSystem()
        func flushes() -> Int { files.calls.filter { $0.kind == .synchronize }.count }
        try fixture.open(in: files, remembering: true).set("a", "x")
        #expect(flushes() == 0)
        try replace(fixture.path, with: try fixture.bytes)
        let log = try fixture.open(in: files, remembering: true)
        try log.set("a", "y")
        #expect(flushes() == 1)
        try log.set("a", "z")
        try fixture.open(in: files, remembering: true).set("a", "x")
        #expect(flushes() == 1)
    }

    @Test func readersRaiseItOnlyToWhatIsKnownDurable() throws {
        let silent = try fixture.open()
        for number in 0..<5 { try silent.set("a", "\(number)") }
        // Number 9 is the last; whether it is durable yet, a reader cannot know.
        #expect(try vault.seen == 8)
        #expect(try vault.seen == 8)
    }

    @Test func itNeverGoesDownByItself() throws {
        let log = try vault.open()
        let memory = try #require(log.memory)
        let high = try #require(memory.seen())
        try memory.remember(Moment(sequence: 1, authenticator: randomAuthenticator()))
        #expect(memory.seen() == high)
        try memory.remember(Moment(sequence: 1, authenticator: high.authenticator), isForced: true)
        #expect(memory.seen()?.sequence == 1)
    }
}
