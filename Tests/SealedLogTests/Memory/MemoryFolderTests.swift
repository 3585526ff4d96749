import Foundation
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("A rollback memory that cannot be trusted")
struct MemoryFolderTests {
    private let vault: RememberedVault
    private var fixture: LogFixture { vault.fixture }
    private let seen: String

    init() throws {
        vault = try RememberedVault()
        seen = try vault.stateFile(".seen")
    }

    /// Returns what one opening tells.
    private func notices() throws -> [String] {
        try vault.open().takeNotices().map { if case .memoryUnusable(let reason) = $0 { reason } else { "\($0)" } }
    }

    @Test func isToldAtEachOpening() throws {
        #expect(try notices() == [])
        try FileManager.default.removeItem(atPath: seen)
        try FileManager.default.createDirectory(atPath: seen, withIntermediateDirectories: false)
        for _ in 0..<2 { #expect(try notices() == ["\(seen) is a folder"]) }
    }

    @Test func isToldByAWriterToo() throws {
        let log = try vault.open()
        let files = PosixFileSystem()
        let holder = try files.open(seen, .read)
        try files.lock(holder, .exclusive, until: Deadline(after: .zero))
        try log.set("a", "new")
        #expect(log.takeNotices() == [.memoryUnusable("\(seen) is locked by another process")])
        files.unlock(holder)
    }

    @Test func isNotReachedThroughALink() throws {
        let target = fixture.folder.file("a file of the user's")
        let bytes = try contents(seen)
        try overwrite(target, bytes)
        for (make, reason) in [(symlink, "is a symbolic link"), (Glibc.link, "has a second hard link")] {
            try FileManager.default.removeItem(atPath: seen)
            try #require(make(target, seen) == 0)
            #expect(try notices() == ["\(seen) \(reason)"])
            try vault.open().set("a", "new")
            #expect(try contents(target) == bytes)
        }
    }

    @Test(arguments: [0o620, 0o602]) func isNotOneThatOthersCanWrite(_ mode: Int) throws {
        try setMode(seen, mode)
        #expect(try notices() == ["others can write to \(seen)"])
    }

    @Test(arguments: [0o720, 0o702]) func isNotInAFolderThatOthersCanWrite(_ mode: Int) throws {
        try setMode(fixture.memory, mode)
        #expect(try notices() == ["others can write to \(fixture.memory)"])
    }

    /// Nor is it written: root would leave files that the user cannot use.
    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"), arguments: [true, false])
    func isNotAUsersToRoot(isThere: Bool) throws {
        let memory = fixture.memory
        let path = isThere ? memory : "\(memory)/none"
        try #require(chown(memory, 65_534, 65_533) == 0)
        let folder = MemoryFolder(path: path, fileSystem: PosixFileSystem())
        let reason = Distrust.anotherOwner.reason(of: memory)
        var told: [Notice] = []
        let bytes = folder.read(seen.lastPathComponent, size: 1) { told.append($0) }
        #expect(bytes == nil && told == (isThere ? [.memoryUnusable(reason)] : []))
        let error = #expect(throws: Notice.self) { try MemoryFile("new", in: folder).update(1) { _ in [1] } }
        #expect(error == .memoryUnusable(reason))
        folder.remove(seen.lastPathComponent)
        #expect(try FileManager.default.contentsOfDirectory(atPath: memory).contains(seen.lastPathComponent))
        #expect(!FileManager.default.fileExists(atPath: "\(path)/new"))
    }

    /// The folder behind the link is root's, and the user has chosen it.
    @Test(.enabled(if: geteuid() == 0, "only root can give a link away"), arguments: [true, false])
    func isNotBehindALinkOfAUsersToRoot(isForRecords: Bool) throws {
        let link = fixture.folder.file("link")
        try #require(symlink(fixture.memory, link) == 0 && lchown(link, 65_534, 65_533) == 0)
        let folder = MemoryFolder(path: link, fileSystem: PosixFileSystem())
        let reason = Distrust.anotherOwner.reason(of: link)
        for path in [link, "\(link)/none"] {
            let folder = MemoryFolder(path: path, fileSystem: PosixFileSystem())
            let error = #expect(throws: Notice.self) { try MemoryFile("new", in: folder).update(1) { _ in [1] } }
            #expect(error == .memoryUnusable(reason))
        }
        #expect(throws: Notice.memoryUnusable(reason)) { _ = try folder.status(isForRecords: isForRecords) }
        #expect(!FileManager.default.fileExists(atPath: "\(fixture.memory)/new"))
        #expect(!FileManager.default.fileExists(atPath: "\(fixture.memory)/none"))
        try #require(lchown(link, 0, 0) == 0)
        try MemoryFile("new", in: MemoryFolder(path: link, fileSystem: PosixFileSystem())).update(1) { _ in [1] }
        #expect(FileManager.default.fileExists(atPath: "\(fixture.memory)/new"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func isNotOneOfAnotherUser() async throws {
        let memory = fixture.memory
        try overwrite(memory + "/name", [1])
        for path in [fixture.folder.path, memory] { try setMode(path, 0o755) }
        try setMode(memory + "/name", 0o644)
        try #require(chown(memory + "/name", 65_533, 65_533) == 0)
        await #expect(processExitsWith: .success) { [memory = memory as String] in
            guard seteuid(65_534) == 0 else { exit(2) }
            let bytes = MemoryFolder(path: memory, fileSystem: PosixFileSystem()).read("name", size: 1) { _ in }
            // At the end the address sanitizer looks for leaks, which takes root's rights.
            guard seteuid(0) == 0, bytes == nil else { exit(3) }
        }
    }
}
