import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Vaults of another implementation")
struct VaultVectorTests {
    @Test func thereAreSomeOfEachOutcome() throws {
        let outcomes = try VaultVector.names().map { try VaultVector($0).outcome }
        for outcome in [VaultVector.Outcome.ok, .damaged, .locked, .newer] { #expect(outcomes.contains(outcome)) }
    }

    @Test(arguments: try VaultVector.names()) func areReadAsWrittenOrRefused(_ name: String) throws {
        let vector = try VaultVector(name)
        let folder = try TemporaryFolder()
        try overwrite(folder.file("vault"), vector.vault)
        do {
            let log = try open(vector, in: folder)
            let report = try log.verify()
            try #require(vector.outcome == .ok, "it opens and verifies")
            #expect(try VaultVector.entries(of: log) == vector.entries)
            #expect(report.entries == vector.entries.count)
            #expect(report.sharingNonces == vector.sharingNonces)
            for entry in try log.entries() { #expect(try log.entry(entry.name) == entry) }
        } catch let error as LogError {
            let codes: [LogError.Code] =
                switch vector.outcome {
                case .ok: []
                case .damaged: [.damaged]
                case .locked: [.keyWrong, .keyDamaged, .keyUnsuitable, .keyUnreadable, .unpinned]
                case .newer: [.newerFormat]
                }
            #expect(codes.contains(error.code), "\(error)")
        }
        // Whatever it was, reading changes nothing.
        #expect(try contents(folder.file("vault")) == Array(vector.vault))
    }

    /// Whatever a file says that authenticates, working on it ends well or with an error, never with a trap.
    @Test(arguments: try VaultVector.names()) func areWrittenOnAndCompacted(_ name: String) throws {
        let vector = try VaultVector(name)
        let folder = try TemporaryFolder()
        try overwrite(folder.file("vault"), vector.vault)
        func open() throws -> SealedLog { try self.open(vector, in: folder) }
        do {
            let log = try open()
            try log.set("one more", "x")
            try log.make((0..<300).map { ("many \($0)", [1]) })
            try log.compact()
            try log.remove("one more")
            try log.make((0..<300).map { ("many \($0)", nil) })
            try log.compact()
            guard vector.outcome == .ok else { return }
            #expect(try VaultVector.entries(of: open()).keys.sorted() == vector.entries.keys.sorted())
            #expect(try open().verify().entries == vector.entries.count)
            // Of the history, what is too old is dropped.
            for (name, var entry) in try VaultVector.entries(of: open()) {
                var former = try #require(vector.entries[name])
                #expect(Set(entry.earlier ?? []).isSubset(of: former.earlier ?? []))
                entry.earlier = nil
                former.earlier = nil
                #expect(entry == former)
            }
        } catch let error as LogError {
            // One that has used up its sequence numbers takes no more.
            #expect(vector.outcome != .ok || error.code == .usedUp, "\(error)")
        }
    }

    /// Opens it as another process would.
    private func open(_ vector: VaultVector, in folder: TemporaryFolder) throws -> SealedLog {
        var unlocker = try VectorUnlocker(vector, in: folder)
        let deviceKey = folder.file("device.key")
        try vector.deviceKey.map { try overwrite(deviceKey, $0.utf8) }
        let options = SealedLog.Options(deviceKey: { () throws(LogError) in
            try DeviceKey(KeyFile.read(deviceKey, secretFolders: [], in: PosixFileSystem()))
        })
        let opening = Opening(location: FileLocation(folder.file("vault"), in: PosixFileSystem()), options: options)
        return try opening.opened(&unlocker)
    }
}
