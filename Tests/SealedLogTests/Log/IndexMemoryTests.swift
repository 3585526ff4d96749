import Glibc
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// A log that is opened with a limit keeps no more pages than that, whatever its view was replaced by.
@Suite("The limit on the memory for the index")
struct IndexMemoryTests {
    /// Fewer than the tree of these names has.
    private static let pages = 4
    private static let names = (0..<3_000).map { "name \($0)" }

    private let fixture: LogFixture
    private let files = FaultyFileSystem()
    private let log: SealedLog
    /// Writes as another process does, with the usual limit.
    private let other: SealedLog

    init() throws {
        fixture = try LogFixture()
        other = try fixture.open()
        try other.make(IndexMemoryTests.names.map { ($0, [1]) })
        try other.compact()
        var options = fixture.options()
        options.indexMemory = IndexMemoryTests.pages * Limits.pageSize
        log = try openApart(fixture.path, options: options, in: files, readKey: fixture.key)
    }

    /// Reads all names, and counts the pages of the tree that are kept then.
    private func keptPages(_ log: SealedLog) throws -> Int {
        for name in IndexMemoryTests.names { #expect(try log.get(name) == [1]) }
        let view = log.view.withLock { $0 }
        var cursor = try TreeCursor(root: view.header.root, loader: view.loader)
        while try cursor.next() != nil {}
        #expect(cursor.pages.count > 2 * IndexMemoryTests.pages)
        return cursor.pages.count { view.cache.page(at: $0.lowerBound) != nil }
    }

    private func expectLimit(_ log: SealedLog) throws {
        let kept = try keptPages(log)
        #expect(kept > 0 && kept <= IndexMemoryTests.pages)
    }

    @Test func isKeptFromTheOpeningOn() throws {
        try expectLimit(log)
        #expect(try keptPages(other) > 2 * IndexMemoryTests.pages)
    }

    @Test func isKeptAfterACompaction() throws {
        try log.compact()
        try expectLimit(log)
    }

    @Test(arguments: [true, false]) func isKeptAfterACompactionByAnotherProcess(_ readsFirst: Bool) throws {
        try other.compact()
        if readsFirst { #expect(try log.get("name 1") == [1]) } else { try log.set("new", [2]) }
        #expect(log.view.withLock { $0.file } == other.view.withLock { $0.file })
        try expectLimit(log)
    }

    /// As `cp` does.
    @Test func isKeptByAWriterWhoseFileWasOverwritten() throws {
        let path = fixture.folder.file("copy.vault")
        try overwrite(path, fixture.bytes)
        try openApart(path, options: fixture.options(), readKey: fixture.key).compact()
        let before = log.view.withLock { $0.file }
        try overwrite(fixture.path, contents(path))
        try log.set("new", [2])
        #expect(log.view.withLock { $0.file } != before)
        try expectLimit(log)
    }

    /// A reader of this process has followed it.
    @Test func isKeptAfterAChangeThatWasTakenBack() throws {
        defer { files.heal() }
        let hasFollowed = Flag()
        files.watch(.synchronizeData) { [log] _ in
            let isFound = try? log.view.withLock { view in try view.refresh() && view.find(.sample("new")) != nil }
            if isFound == true { hasFollowed.set() }
        }
        files.fail([.synchronizeData], with: .error(EIO))
        #expect(try LogError.code { try log.set("new", [2]) } == .unavailable)
        #expect(hasFollowed.isSet)
        #expect(try log.get("new") == nil)
        try expectLimit(log)
    }

    @Test func isKeptIfAnOlderFileIsAccepted() throws {
        func open(accepting codes: [LogError.Code]) throws -> SealedLog {
            var options = fixture.options(remembering: true, accepting: codes)
            if codes.isEmpty { options.indexMemory = IndexMemoryTests.pages * Limits.pageSize }
            return try SealedLog.open(fixture.path, options: options, in: PosixFileSystem(), readKey: fixture.key)
        }
        let log = try open(accepting: [])
        let older = try fixture.bytes
        try log.set("new", [2])
        try overwrite(fixture.path, older)
        #expect(try open(accepting: [.rolledBack]) === log)
        #expect(try log.get("new") == nil)
        try expectLimit(log)
    }
}
