import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedLog

/// What a salvage of a damaged file comes to.
struct SalvagedVault {
    let report: SalvageReport
    let state: [String: [UInt8]]
    /// What the names of the new vault had before, of removed ones too, newest first.
    let earlier: [String: [String]]

    /// Puts the bytes in the vault's place and salvages it.
    init(
        _ fixture: LogFixture, _ bytes: [UInt8], remembering: Bool = false, keepsHeads: Bool = false,
        in files: any FileSystem = PosixFileSystem()
    ) throws {
        try overwrite(fixture.path, bytes)
        let target = fixture.folder.file("salvaged.vault")
        defer { try? FileManager.default.removeItem(atPath: target) }
        var options = fixture.options(remembering: remembering)
        options.keepsHeads = keepsHeads
        report = try SealedLog.salvage(fixture.path, to: target, key: fixture.key(), options: options, in: files)
        #expect(try contents(fixture.path) == bytes, "the damaged file is not as it was")
        let log = try openApart(target, options: SealedLog.Options(), readKey: fixture.key)
        try log.verify()
        state = try log.state()
        earlier = try log.earlierTextsByName()
        #expect(report.certain == state.count - report.doubtful.count - report.older.count)
    }

    var untrusted: Set<String> { Set(report.doubtful + report.older) }

    /// Checks that nothing is passed off for more than it is.
    ///
    /// - Parameter history: the states that the vault has had, the last one last.
    func expectHonesty(_ history: [[String: [UInt8]]], sourceLocation: SourceLocation = #_sourceLocation) {
        let last = history.last ?? [:]
        for (name, value) in state {
            #expect(
                history.contains { $0[name] == value }, "\(name) never had this value", sourceLocation: sourceLocation)
            if !untrusted.contains(name) {
                #expect(last[name] == value, "\(name) is out of date", sourceLocation: sourceLocation)
            }
        }
        let missing = last.keys.filter { state[$0] == nil }
        if report.isComplete { #expect(state == last, sourceLocation: sourceLocation) }
        if !report.hasGaps { #expect(Set(missing) == Set(report.lost), sourceLocation: sourceLocation) }
        #expect(Set(report.lost).isDisjoint(with: state.keys), sourceLocation: sourceLocation)
    }
}
