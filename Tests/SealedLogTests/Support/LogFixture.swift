import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// A vault with a generated key, in a folder of its own.
final class LogFixture: Sendable {
    let folder: TemporaryFolder
    let path: String
    let keyPath: String
    let memory: String

    init(history: KeptHistory = .none) throws {
        folder = try TemporaryFolder()
        path = folder.file("default.vault")
        keyPath = folder.file("default.key")
        memory = folder.file("state")
        let files = PosixFileSystem()
        _ = try KeyFile.create(
            at: keyPath, isFolderLocked: false, in: files, until: Deadline(after: .seconds(10)))
        _ = try SealedLog.create(
            path, key: key(), label: "a label", history: history, options: options(), in: files)
    }

    var location: FileLocation { FileLocation(path, in: PosixFileSystem()) }

    func key() throws(LogError) -> KeyFile {
        try KeyFile.read(keyPath, secretFolders: [], in: PosixFileSystem())
    }

    func options(
        remembering: Bool = false, accepting: [LogError.Code] = [], waiting lockTimeout: Duration = .seconds(20)
    ) -> SealedLog.Options {
        SealedLog.Options(
            lockTimeout: lockTimeout, accepted: accepting, memoryFolder: remembering ? memory : nil)
    }

    /// Opens the vault as another process would: with a descriptor of its own, although it is open here already.
    func open(
        in files: any FileSystem = PosixFileSystem(), remembering: Bool = false, accepting: [LogError.Code] = [],
        waiting lockTimeout: Duration = .seconds(20)
    ) throws -> SealedLog {
        try openApart(
            path, options: options(remembering: remembering, accepting: accepting, waiting: lockTimeout), in: files,
            readKey: key)
    }

    var bytes: [UInt8] {
        get throws { try contents(path) }
    }

    var header: Header {
        get throws { try Header(parsing: Array(bytes[..<Header.size])) }
    }
}

extension LogFixture {
    /// Someone puts a minor checkpoint of another history of this vault behind the end, and has the hint lead to it.
    func bytesWithATreeOfAnotherHistory() throws -> [UInt8] {
        let log = try open()
        try log.set("name 0", "of both")
        let common = try bytes
        for number in 0..<128 { try log.set("name \(number)", "of the other") }
        let view = log.view.withLock { $0 }
        let offset = Int(view.newestRecord.lowerBound)
        let record = try Array(bytes[offset..<Int(view.newestRecord.upperBound)])
        #expect(view.minor?.entries == 128)
        try overwrite(path, common)
        try open().compact()
        var changed = try bytes
        changed += [UInt8](repeating: 0, count: max(0, offset + record.count - changed.count))
        changed.replaceSubrange(offset..<offset + record.count, with: record)
        let hint = Hint(offset: UInt64(offset), sequence: view.head.sequence)
        changed.replaceSubrange(Header.hintOffset..<Header.hintOffset + Hint.size, with: hint.encoded)
        return changed
    }
}

/// Opens a vault without looking whether this process has it open.
func openApart(
    _ path: String, options: SealedLog.Options, in files: any FileSystem = PosixFileSystem(),
    readKey: () throws(LogError) -> KeyFile
) throws -> SealedLog {
    try withoutActuallyEscaping(readKey) { readKey in
        var unlocker = KeyFileUnlocker(readKey)
        let location = FileLocation(path, in: files)
        return try Opening(location: location, options: options).opened(&unlocker)
    }
}
