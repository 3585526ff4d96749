import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// A vault with three changes that this machine remembers.
struct RememberedVault {
    let fixture: LogFixture

    init() throws {
        fixture = try LogFixture()
        // It is in the vault's folder here: to create it later would change what is known of that folder.
        try FileManager.default.createDirectory(
            atPath: fixture.memory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let log = try fixture.open(remembering: true)
        for number in 0..<3 { try log.set("a", "\(number)") }
    }

    func open(accepting: [LogError.Code] = []) throws -> SealedLog {
        try fixture.open(remembering: true, accepting: accepting)
    }

    func openingCode(accepting: [LogError.Code] = []) throws -> LogError.Code? {
        try LogError.code { _ = try open(accepting: accepting) }
    }

    func stateFile(_ ending: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.memory)
        return fixture.memory + "/" + (try #require(names.first { $0.hasSuffix(ending) }))
    }

    /// Does something to a copy of the vault that this machine does not see.
    func elsewhere(_ bytes: [UInt8], _ body: (SealedLog) throws -> Void) throws -> [UInt8] {
        let path = fixture.folder.file("elsewhere.vault")
        try overwrite(path, bytes)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(openApart(path, options: SealedLog.Options(), readKey: fixture.key))
        return try contents(path)
    }

    func otherVault() throws -> [UInt8] {
        let path = fixture.folder.file("other.vault")
        _ = try SealedLog.create(
            path, key: fixture.key(), label: "", options: SealedLog.Options(), in: PosixFileSystem())
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try contents(path)
    }

    var seen: UInt64? {
        get throws { try open().memory?.seen()?.position.sequence }
    }
}
