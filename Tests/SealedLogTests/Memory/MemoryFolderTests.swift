import Foundation
import Glibc
import LinuxSystem
import TestSupport
import Testing

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
        for (make, reason) in [(symlink, "is a symbolic link"), (Glibc.link, "has another name, a hard link")] {
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
