import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What the log needs of a store, for each kind of store that needs no server. A new kind must pass without a question
/// in the log that asks which kind it is. `VaultSharedTests` have the same for PostgreSQL.
@Suite("A record store") struct StoreConformanceTests {
    enum Kind: CaseIterable, Sendable { case file, objects }

    /// A vault in a store, and what opens it as another process would.
    private final class Vault: Sendable {
        let folder: TemporaryFolder
        let bucket = Bucket()
        let kind: Kind
        private let keyPath: String

        init(_ kind: Kind) throws {
            self.kind = kind
            folder = try TemporaryFolder()
            keyPath = folder.file("default.key")
            let files = PosixFileSystem()
            _ = try KeyFile.create(at: keyPath, isFolderLocked: false, in: files, until: Deadline(after: .seconds(10)))
            _ = try SealedLog.create(location, secret: .keyFile(key()), label: "a label", options: options(nil))
        }

        var location: any StoreLocation {
            switch kind {
            case .file: FileLocation(folder.file("default.vault"), in: PosixFileSystem())
            case .objects: BucketLocation(bucket, in: PosixFileSystem())
            }
        }

        func key() throws(LogError) -> KeyFile { try KeyFile.read(keyPath, secretFolders: [], in: PosixFileSystem()) }

        /// - Parameter machine: the name of one that remembers what it has seen; nil to remember nothing.
        func options(_ machine: String?) -> SealedLog.Options {
            SealedLog.Options(memoryFolder: machine.map { folder.file("\($0).state") }, compactsByItself: false)
        }

        func open(_ machine: String? = nil, accepting: [LogError.Code] = []) throws -> SealedLog {
            var options = options(machine)
            options.accepted = accepting
            var unlocker = KeyFileUnlocker(key)
            return try Opening(location: location, options: options).opened(&unlocker)
        }
    }

    @Test(arguments: Kind.allCases) func keepsWhatWasSet(_ kind: Kind) throws {
        let vault = try Vault(kind)
        let log = try vault.open("one")
        for number in 0..<40 { try log.set("name \(number % 7)", "value \(number)") }
        try log.compact()
        try log.set("name 3", "last")
        for reader in [try vault.open("one"), try vault.open("two"), log] {
            #expect(try reader.text("name 3") == "last")
            #expect(try reader.text("name 0") == "value 35")
            #expect(try reader.entries().count == 7)
            #expect(try reader.verify().entries == 7)
        }
    }

    /// A machine that keeps the copy of a database cuts what follows its end, before the file has its name.
    @Test func aNewFileIsClearedBehindItsEndAndPublished() throws {
        let vault = try Vault(.file)
        let path = vault.folder.file("kept.vault")
        let new = try FileLocation(path, in: PosixFileSystem()).createLocked()
        try new.write(Array(1...48), at: 0)
        try new.finish(at: 48, nil)
        try new.prepareAppend(behind: LogEnd(at: 20, needsClearing: true))
        try new.publish(over: nil, LogPosition(sequence: 7, authenticator: .zero))
        let stored = try Array(Data(contentsOf: URL(filePath: path)))
        #expect(stored.prefix(20) == Array(1...20)[...])
        #expect(stored.count >= 48 && stored.dropFirst(20).allSatisfy { $0 == 0 })
    }

    @Test(arguments: Kind.allCases) func showsWhatOthersHaveWritten(_ kind: Kind) throws {
        let vault = try Vault(kind)
        let (one, two) = (try vault.open("one"), try vault.open("two"))
        for round in 0..<6 {
            try one.set("a", "\(round)")
            #expect(try two.text("a") == "\(round)")
            if round.isMultiple(of: 2) { try two.compact() } else { try one.rotate() }
            try two.set("b", "\(round)")
            #expect(try one.text("b") == "\(round)")
        }
    }

    /// Records with a tree, whose payload is written before their head.
    @Test(arguments: Kind.allCases) func storesLargeTransactions(_ kind: Kind) throws {
        let vault = try Vault(kind)
        let (one, two) = (try vault.open("one"), try vault.open("two"))
        for round in 0..<3 {
            let changes = try (0..<700).map { try one.change("name \($0)", to: Array("\(round) \($0)".utf8)) }
            try one.commit(changes, timeout: .seconds(20))
            #expect(try two.text("name 699") == "\(round) 699")
            if round == 1 { try two.compact() }
        }
        #expect(try vault.open().verify().entries == 700)
    }

    @Test(arguments: Kind.allCases) func losesNothingThatManyWritersAcknowledge(_ kind: Kind) async throws {
        let vault = try Vault(kind)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    let log = try vault.open("machine \(writer % 3)")
                    for number in 0..<12 {
                        try log.set("\(writer) \(number)", "value \(number)")
                        if number % 5 == writer % 5 { try log.compact() }
                    }
                }
            }
            try await group.waitForAll()
        }
        let log = try vault.open("reader")
        for writer in 0..<6 {
            for number in 0..<12 { #expect(try log.text("\(writer) \(number)") == "value \(number)") }
        }
        #expect(try log.verify().entries == 72)
    }

    @Test(arguments: Kind.allCases) func isReplacedOnlyByACopyThatHasAllOfIt(_ kind: Kind) throws {
        let (vault, other) = (try Vault(kind), try Vault(kind))
        let log = try vault.open("one")
        try log.set("a", "first")
        var unlocker = KeyFileUnlocker(vault.key)
        #expect(
            try LogError.code { _ = try log.backUp(to: other.location, replacing: true, with: &unlocker) } == .notACopy)
        let copy = try Vault(kind)
        let target: any StoreLocation =
            kind == .file
            ? FileLocation(copy.folder.file("copy.vault"), in: PosixFileSystem())
            : BucketLocation(Bucket(), in: PosixFileSystem())
        _ = try log.backUp(to: target, replacing: false, with: &unlocker)
        #expect(try LogError.code { _ = try log.backUp(to: target, replacing: false, with: &unlocker) } == .exists)
        try log.set("a", "second")
        unlocker.restart()
        _ = try log.backUp(to: target, replacing: true, with: &unlocker)
        unlocker.restart()
        let opened = try Opening(location: target, options: vault.options(nil)).opened(&unlocker)
        #expect(try opened.text("a") == "second")
    }

    // MARK: Without a lock

    /// Whoever appends after a replacement was published would lose what is acknowledged.
    @Test func anAppendAndAReplacementExcludeEachOther() throws {
        let vault = try Vault(.objects)
        let (one, two) = (try vault.open("one"), try vault.open("two"))
        try one.set("a", "before")
        let hasWritten = Flag()
        vault.bucket.onRequest { (request) throws(LogError) in
            // Just before the compaction ends the generation, another machine appends to it.
            guard request == .put, !hasWritten.isSet else { return }
            hasWritten.set()
            do { try two.set("b", "meanwhile") } catch { throw LogError(.invalid, "\(error)") }
        }
        try one.compact()
        vault.bucket.onRequest(nil)
        #expect(hasWritten.isSet)
        #expect(try vault.open("reader").text("b") == "meanwhile")
        #expect(try one.text("a") == "before" && two.text("a") == "before")
    }

    /// A connection that dies during a put tells nothing; the object does.
    @Test(arguments: [Bucket.Request.put, .answer], [1, 2, 5]) func aLostConnectionIsDecidedByTheObject(
        _ lost: Bucket.Request, _ failures: Int
    ) throws {
        let vault = try Vault(.objects)
        let log = try vault.open("one")
        try log.set("a", "before")
        let left = Mutex(failures)
        vault.bucket.onRequest { (request) throws(LogError) in
            guard request == lost else { return }
            let fails = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if fails { throw LogError(.unavailable, "the connection was lost") }
        }
        let code = try LogError.code { try log.set("a", "after") }
        vault.bucket.onRequest(nil)
        let reader = try vault.open("reader")
        // What is acknowledged is there, and what is refused is not.
        #expect(try reader.text("a") == (code == nil ? "after" : "before"))
        #expect(code == nil || lost == .put && failures == 5)
        try log.set("a", "at last")
        #expect(try reader.text("a") == "at last")
    }

    /// Whoever finds the end of a generation completes what a killed compaction has left.
    @Test func aReplacementCountsAlthoughTheHeadStayed() throws {
        let vault = try Vault(.objects)
        let log = try vault.open("one")
        try log.set("a", "1")
        let puts = Mutex(0)
        vault.bucket.onRequest { (request) throws(LogError) in
            guard request == .put else { return }
            let count = puts.withLock { count in
                count += 1
                return count
            }
            // The base, then the end of the former generation, then the head.
            if count == 3 { throw LogError(.unavailable, "killed") }
        }
        try log.compact()
        vault.bucket.onRequest(nil)
        let objects = vault.bucket.objectCount
        #expect(try vault.open("two").text("a") == "1")
        try log.set("a", "2")
        #expect(try vault.open("three").text("a") == "2")
        #expect(vault.bucket.objectCount == objects + 1)
    }
}
