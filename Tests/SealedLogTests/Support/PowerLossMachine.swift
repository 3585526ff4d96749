import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// A machine that loses power again and again, and what its vault has to hold.
struct PowerLossMachine {
    var generator: SeededGenerator
    var folder: TemporaryFolder
    var acknowledged: [String: [UInt8]] = [:]

    var path: String { folder.file("default.vault") }
    private var memory: String { folder.file("state") }

    init(_ seed: Int) throws {
        generator = SeededGenerator(seed)
        let fixture = try LogFixture()
        folder = fixture.folder
        _ = try fixture.open(remembering: true)
    }

    func open(in files: any FileSystem) throws -> SealedLog {
        let key = folder.file("default.key")
        return try openApart(path, options: SealedLog.Options(memoryFolder: memory), in: files) {
            () throws(LogError) in try KeyFile.read(key, secretFolders: [], in: PosixFileSystem())
        }
    }

    /// Works until power is lost, and goes on with what the disk then holds.
    ///
    /// - Returns: what the change in flight would have led to.
    mutating func workUntilPowerLoss(
        within calls: Int, _ change: (inout SeededGenerator) -> [Wish]
    ) throws -> [String: [UInt8]] {
        let files = try CrashingFileSystem(
            folder.path, powerLostAtCall: Int.random(in: 1...calls, using: &generator))
        var inFlight = acknowledged
        do {
            let log = try open(in: files)
            while !files.isOff {
                let wishes = change(&generator)
                inFlight = acknowledged
                for wish in wishes { inFlight[wish.name] = wish.value }
                try log.make(wishes)
                acknowledged = inFlight
            }
        } catch let error as LogError {
            try #require(files.isOff, "\(error)")
        }
        let next = try TemporaryFolder()
        try files.materialize(into: next.path, seed: Int.random(in: 0...Int.max, using: &generator))
        folder = next
        return inFlight
    }

    /// Opens what the disk holds: the last acknowledged state, or the one in flight.
    mutating func checkAfterPowerLoss(_ inFlight: [String: [UInt8]]) throws {
        let log = try open(in: PosixFileSystem())
        let state = try log.state()
        try #require(state == acknowledged || state == inFlight)
        acknowledged = state
        let report = try log.verify()
        #expect(report.entries == state.count)
    }

    /// The next commit works, and is found again.
    mutating func checkNextCommit() throws {
        let value = generator.bytes(10)
        let log = try open(in: PosixFileSystem())
        try log.set("next", value)
        acknowledged["next"] = value
        #expect(try log.state() == acknowledged)
        let other = try open(in: PosixFileSystem())
        #expect(try other.state() == acknowledged)
        try other.verify()
    }
}
