import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("A file that is replaced while it is open")
struct ReplacedFileTests {
    private let vault: RememberedVault
    private var fixture: LogFixture { vault.fixture }

    init() throws {
        vault = try RememberedVault()
    }

    @Test func aHandleNoticesThatItsFileWasReplaced() throws {
        let older = try fixture.bytes
        let log = try vault.open()
        try log.set("a", "here")
        let here = try fixture.bytes
        let diverged = try vault.elsewhere(older) { try $0.set("b", "elsewhere") }
        for (bytes, code) in [
            (older, .rolledBack), (diverged, .diverged), (try vault.otherVault(), .exchanged), (here, nil),
        ] as [([UInt8], LogError.Code?)] {
            try replace(fixture.path, with: bytes)
            // The path is looked at every 50 ms.
            Thread.sleep(forTimeInterval: 0.07)
            #expect(try LogError.code { _ = try log.get("a") } == code)
            guard code != nil else { continue }
            #expect(try LogError.code { try log.set("a", "again") } == code)
            #expect(try LogError.code { try log.compact() } == code)
            #expect(try fixture.bytes == bytes)
        }
        try log.set("a", "again")
        #expect(try fixture.open().text("a") == "again")
    }

    @Test func aWriterNoticesAtOnceThatItsFileWasReplaced() throws {
        let older = try fixture.bytes
        let log = try vault.open()
        try log.set("a", "here")
        try replace(fixture.path, with: older)
        #expect(try LogError.code { try log.set("a", "again") } == .rolledBack)
        #expect(try fixture.bytes == older)
    }

    /// As `cp` does, which keeps the file and replaces what is in it.
    @Test func aWriterNoticesThatItsFileWasOverwritten() throws {
        let older = try fixture.bytes
        let log = try vault.open()
        try log.set("a", "here")
        try overwrite(fixture.path, older)
        #expect(try LogError.code { try log.set("a", "again") } == .rolledBack)
        #expect(try fixture.bytes == older)
        #expect(try fixture.open().verify().entries == 1)
    }

    /// While it copies, or once it has written its notice under the lock.
    @Test(arguments: [false, true])
    func aCompactionDoesNotReplaceAFileThatWasPutThereMeanwhile(_ isLate: Bool) throws {
        let files = FaultyFileSystem()
        let log = try fixture.open(in: files, remembering: true)
        let restored = try vault.otherVault()
        let path = fixture.path
        let isNoticed = Flag()
        files.watch(.write) { call in
            if call.path == path { isNoticed.set() }
            if call.path == unpublishedPath(for: path), isNoticed.isSet == isLate { try? replace(path, with: restored) }
        }
        #expect(try LogError.code { try log.compact() } == .exchanged)
        #expect(try fixture.bytes == restored)
        #expect(try LogError.code { try log.set("a", "x") } == .exchanged)
    }

    @Test func aMissingFileIsNeverMadeAnew() throws {
        let log = try vault.open()
        try FileManager.default.removeItem(atPath: fixture.path)
        #expect(try LogError.code { try log.set("a", "again") } == .missing)
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
        #expect(try vault.openingCode() == .missing)
    }
}
