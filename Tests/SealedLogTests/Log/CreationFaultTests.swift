import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Every call of a creation failing in turn")
struct CreationFaultTests {
    @Test(arguments: [Fault.error(EIO), .short(50, ENOSPC), .afterwards(EIO)])
    func leavesAVaultOrNone(_ fault: Fault) throws {
        for number in 0..<60 {
            let folder = try TemporaryFolder()
            let files = FaultyFileSystem()
            let path = folder.file("new/default.vault")
            let keyPath = folder.file("keys/default.key")
            try PosixFileSystem().makeFolder(folder.file("new"))
            files.fail(Set(FileCall.allCases), after: number, with: fault)
            func create() throws(LogError) -> SealedLog {
                let deadline = Deadline(after: .seconds(1))
                let made = try KeyFile.create(at: keyPath, isFolderLocked: false, in: files, until: deadline)
                let key =
                    if let made { made } else { try KeyFile.read(keyPath, secretFolders: [], in: PosixFileSystem()) }
                return try SealedLog.create(path, key: key, label: "", options: SealedLog.Options(), in: files)
            }
            let code = try LogError.code { _ = try create() }
            let hasFailed = files.failures > 0
            files.heal()
            let context: Comment = "call \(number), \(fault): \(code.map { "\($0)" } ?? "done")"
            #expect([nil, .unavailable, .outcomeUnknown].contains(code), context)
            // A call that fails afterwards has left a vault that its error does not tell of.
            if fault != .afterwards(EIO) {
                #expect(FileManager.default.fileExists(atPath: path) == (code != .unavailable), context)
            }
            // Whoever comes next makes what is missing and opens what is there.
            if !FileManager.default.fileExists(atPath: path) { _ = try create() }
            let log = try openApart(path, options: SealedLog.Options()) { () throws(LogError) in
                try KeyFile.read(keyPath, secretFolders: [], in: PosixFileSystem())
            }
            try log.set("a", "b")
            try log.verify()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("new")) == ["default.vault"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("keys")) == ["default.key"])
            guard hasFailed else { return }
        }
        Issue.record("there is no end of calls")
    }
}
