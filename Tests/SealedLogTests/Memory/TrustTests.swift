import Foundation
import Glibc
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What a person has agreed to for a vault on this machine.
@Suite("Trust")
struct TrustTests {
    private let folder: TemporaryFolder
    private let files = PosixFileSystem()
    private let id = RandomBytes.array(16)
    private let record: TrustRecord

    private var memory: String { folder.file("state") }
    private var file: String { memory + "/\(Hexadecimal.string(of: id)).trust" }

    init() throws {
        folder = try TemporaryFolder()
        var record = TrustRecord()
        record.fingerprint = RandomBytes.array(16)
        record.allow(command: "cat key")
        self.record = record
    }

    private func write(_ record: TrustRecord) throws {
        try TrustRecord.update(ofVault: id, memoryFolder: memory, in: files) { $0 = record }
    }

    private func read(_ id: [UInt8]? = nil) throws -> TrustRecord {
        try TrustRecord.read(ofVault: id ?? self.id, memoryFolder: memory, in: files)
    }

    @Test func whatIsRememberedIsReadAgain() throws {
        #expect(try read() == TrustRecord())
        for (hasFingerprint, hasCommand) in [(true, true), (true, false), (false, true), (false, false)] {
            var part = TrustRecord()
            if hasFingerprint { part.fingerprint = record.fingerprint }
            if hasCommand { part.allow(command: "cat key") }
            try write(part)
            #expect(try read() == part)
            #expect(try read().allows(command: "cat key") == hasCommand)
            #expect(try contents(file).count == 296)
        }
    }

    /// A vault has at most 16 keys.
    @Test func sixteenCommandsAreRememberedAndTheOldestMakesRoom() throws {
        for number in 0...16 {
            try TrustRecord.update(ofVault: id, memoryFolder: memory, in: files) { $0.allow(command: "\(number)") }
            try TrustRecord.update(ofVault: id, memoryFolder: memory, in: files) { $0.allow(command: "16") }
        }
        #expect(try (0...16).map { try read().allows(command: "\($0)") } == [false] + Array(repeating: true, count: 16))
    }

    @Test func whatAnotherProcessHasAddedStays() throws {
        try TrustRecord.update(ofVault: id, memoryFolder: memory, in: files) { record in
            // Between the look and the change.
            if !record.allows(command: "other") {
                try? TrustRecord.update(ofVault: id, memoryFolder: memory, in: files) { $0.allow(command: "other") }
            }
            record.allow(command: "own")
        }
        #expect(try read().allows(command: "own") && read().allows(command: "other"))
    }

    @Test func isOfOneVaultAlone() throws {
        try write(record)
        let other = RandomBytes.array(16)
        #expect(try read(other) == TrustRecord())
        // Also if somebody gives the file that vault's name.
        try FileManager.default.copyItem(
            atPath: file, toPath: memory + "/\(Hexadecimal.string(of: other)).trust")
        #expect(try read(other) == TrustRecord())
    }

    @Test func aTornFileIsNoTrust() throws {
        try write(record)
        let whole = try contents(file)
        for length in 0..<whole.count {
            try overwrite(file, whole[..<length])
            #expect(try read() == TrustRecord(), "\(length) bytes")
        }
        for offset in 0..<24 {
            var changed = whole
            changed[offset] ^= 1
            try overwrite(file, changed)
            #expect(try read() == TrustRecord(), "byte \(offset)")
        }
    }

    /// Nothing but owner and mode authenticates it.
    @Test func aFileThatOthersCanWriteIsNoTrust() throws {
        try write(record)
        for mode in [0o620, 0o602, 0o666] {
            try setMode(file, mode)
            #expect(throws: Notice.memoryUnusable("others can write to \(file)")) { try read() }
        }
        try setMode(file, 0o600)
        #expect(try read() == record)
        try FileManager.default.linkItem(atPath: file, toPath: folder.file("link"))
        #expect(throws: Notice.memoryUnusable("\(file) has a second hard link")) { try read() }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away")) func rootDoesNotTrustWhatAUserDoes() throws {
        try write(record)
        try #require(chown(file, 65_534, 65_534) == 0)
        let notice = #expect(throws: Notice.self) { try read() }
        #expect(notice == .memoryUnusable(Distrust.anotherOwner.reason(of: file)))
        #expect(throws: Notice.self) { try write(TrustRecord()) }
    }

    @Test func aSymbolicLinkIsNotFollowed() throws {
        try write(record)
        try FileManager.default.moveItem(atPath: file, toPath: folder.file("elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder.file("elsewhere"))
        #expect(throws: Notice.memoryUnusable("\(file) is a symbolic link")) { try read() }
        #expect(throws: Notice.self) { try write(record) }
    }

    @Test func commandsDifferByEveryByte() {
        for command in ["cat key ", "Cat key", "", "cat  key"] { #expect(!record.allows(command: command)) }
        #expect(record.allows(command: "cat key"))
    }
}
