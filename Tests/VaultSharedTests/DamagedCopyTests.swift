import Foundation
import LinuxSystem
import SealedLog
import Sealing
import TestSupport
import Testing
import Vault
import VaultTesting

@testable import VaultShared

/// The copy of a database that a machine keeps is never flushed.
@Suite("A damaged copy of a database", .needsServer, .timeLimit(.minutes(10)))
struct DamagedCopyTests {
    enum Reading: CaseIterable {
        case contents, items, names, item, history, earlierValue, information, newestChange

        func text(of keychain: Keychain) throws -> String {
            switch self {
            case .contents: return try keychain.contents(prefix: "").map { "\($0.key) \($0.value)" }.sorted().joined()
            case .items: return try keychain.items().map(\.name).joined(separator: " ")
            case .names: return try keychain.keys(prefix: "").joined(separator: " ")
            case .item: return "\(try keychain.item("n7") as Any)"
            case .history: return "\(try keychain.history.versions(of: "n7"))"
            case .earlierValue:
                let version = try #require(try keychain.history.versions(of: "n7").last)
                guard let value = try keychain.history.get("n7", version) else { return "" }
                return value.unsafeString() ?? ""
            case .information: return "\(try keychain.maintenance.information().entries)"
            case .newestChange: return try keychain.history.undo().joined()
            }
        }
    }

    /// Several pages of an index, with an earlier value, and a record behind them.
    private func fill(_ keychain: Keychain, count: Int = 300) throws {
        try keychain.set("n7", to: "earlier")
        try keychain.transaction { transaction in
            for number in 0..<count { try transaction.set("n\(number)", to: "value \(number)") }
        }
        _ = try keychain.maintenance.compact()
        try keychain.set("late", to: "last")
    }

    @Test(arguments: Reading.allCases) func isReadFromTheDatabase(_ reading: Reading) throws {
        let fixture = try DatabaseFixture()
        do {
            let keychain = try fixture.open()
            try fill(keychain)
            _ = try keychain.maintenance.verify()
        }
        // It was opened before, so that nothing but what is read below is found to be damaged.
        let keychain = try fixture.open()
        let path = try copyOfFirstMachine(in: fixture)
        try invert(path)
        let text = try reading.text(of: keychain)
        if reading == .newestChange {
            #expect(text == "late")
        } else {
            #expect(try text == reading.text(of: fixture.open(machine: "other")))
        }
        _ = try fixture.open(machine: "other").maintenance.verify()
        // What is read is kept anew.
        _ = try fixture.open().maintenance.verify()
        #expect(try fixture.openOffline().unsafeString("n299") == "value 299")
    }

    /// What is read in opening the vault is not what is read in merging.
    @Test func keepsNoOfflineChangeFromBeingMerged() throws {
        let fixture = try DatabaseFixture()
        do {
            let keychain = try fixture.open()
            try fill(keychain)
            for name in ["n1", "n2"] { try keychain.set(name, to: String(repeating: name, count: 1_000)) }
        }
        var start = 8_192
        while true {
            _ = try fixture.open().maintenance.verify()
            try fixture.openOffline().set("n3", to: "offline \(start)")
            let path = try copyOfFirstMachine(in: fixture)
            var bytes = try contents(path)
            guard start < bytes.count else { break }
            bytes[min(start + 300, bytes.count - 1)] ^= 1
            try overwrite(path, bytes)
            let keychain = try fixture.open()
            #expect(keychain.copies.offlineChanges?.changed == ["n3"], "byte \(start + 300)")
            #expect(try fixture.storeLocation().pending() == nil, "byte \(start + 300)")
            #expect(try fixture.open(machine: "other").unsafeString("n3") == "offline \(start)")
            start += 1_536
        }
    }

    @Test(arguments: [true, false]) func keepsNoCopyFromBeingMerged(_ isOnlyOfARecord: Bool) throws {
        let fixture = try DatabaseFixture()
        let copy = fixture.folder.file("copy.vault")
        do {
            let keychain = try fixture.open()
            try fill(keychain)
            try keychain.set("n8", to: String(repeating: "8", count: 3_000))
            try keychain.copies.backUp(to: copy)
            try keychain.set("n9", to: String(repeating: "9", count: 3_000))
            _ = try keychain.maintenance.verify()
        }
        var location = fixture.location(machine: "third")
        location.vault = copy
        try Keychain(at: location).set("n9", to: "of the copy")
        let keychain = try fixture.open()
        let path = try copyOfFirstMachine(in: fixture)
        // Of a record before the newest, or of all.
        try invert(path) { size in isOnlyOfARecord ? size - 6_500..<size - 3_500 : 8_192..<size }
        let merge = try keychain.copies.merge(copy)
        #expect(merge.changed == ["n9"])
        #expect(merge.conflicts == ["n9"])
        #expect(try fixture.open(machine: "other").unsafeString("n9") == "of the copy")
        _ = try fixture.open(machine: "other").maintenance.verify()
    }

    /// A server that was put back can be restored from it.
    @Test(arguments: [true, false]) func staysWhereTheServerIsOlder(_ isOlder: Bool) throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "1")
        _ = try fixture.open().maintenance.verify()
        let storeLocation = try fixture.storeLocation()
        let mirror = try #require(storeLocation.mirror)
        let store = try #require(try storeLocation.open(.quick) as? PostgresRecordStore)
        #expect(try !store.distrust(), "the server was not asked")
        let head = try #require(try storeLocation.currentHead())
        store.state.withLock { $0.update(head, StoreBytes(offset: head.size), of: store.generation) }
        if isOlder {
            let position = LogPosition(sequence: head.position.sequence + 1, authenticator: .zero)
            let newer = StoreHead(generation: head.generation, position: position, size: head.size, hint: head.hint)
            mirror.keep(newer, [], isNew: false)
        }
        #expect(mirror.completePath != nil)
        #expect(try store.distrust())
        #expect(mirror.completePath != nil)
        #expect((mirror.head == head) == !isOlder)
    }

    /// So can one that is gone.
    @Test func staysWhereNoServerAnswers() throws {
        let cluster = try Cluster()
        let fixture = try DatabaseFixture(in: cluster)
        do {
            let keychain = try fixture.open()
            try fill(keychain, count: 1_000)
            _ = try keychain.maintenance.verify()
        }
        let keychain = try fixture.open()
        var names = try keychain.names()
        #expect(try names.next() == "late")
        let path = try copyOfFirstMachine(in: fixture)
        try invert(path)
        try cluster.stop()
        let error = #expect(throws: VaultError.self) { while try names.next() != nil {} }
        #expect(error?.code == .unavailable)
        #expect(try fixture.storeLocation().mirror?.completePath != nil)
    }

    /// The other way: the database is what is merged.
    @Test func keepsNothingFromBeingTakenOver() throws {
        let fixture = try DatabaseFixture()
        let copy = fixture.folder.file("copy.vault")
        let keychain = try fixture.open()
        try fill(keychain)
        try keychain.copies.backUp(to: copy)
        try keychain.set("n5", to: "new")
        _ = try keychain.maintenance.compact()
        _ = try keychain.maintenance.verify()
        let path = try copyOfFirstMachine(in: fixture)
        // The boxes of all values, which are not read in opening the vault.
        try invert(path) { _ in 8_192..<8_192 + 303 * 32 }
        var location = fixture.location(machine: "third")
        location.vault = copy
        location.cache = fixture.location().cache
        let file = try Keychain(at: location)
        #expect(try file.copies.merge(fixture.url).changed == ["n5"])
        #expect(try file.unsafeString("n5") == "new")
        _ = try file.maintenance.verify()
    }

    /// What does not authenticate of the copy that a machine keeps is read from the database again.
    @Test(arguments: [true, false]) func aDamagedCopyOnThisMachineKeepsNobodyFromAnything(_ isBackup: Bool) throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "1")
        _ = try keychain.maintenance.compact()
        #expect(try keychain.unsafeString("a") == "1")
        let path = try copyOfFirstMachine(in: fixture)
        try invert(path)
        if isBackup { try keychain.copies.backUp(to: fixture.folder.file("backup.vault")) }
        try keychain.set("b", to: "2")
        #expect(try keychain.unsafeString("a") == "1")
        #expect(try keychain.unsafeString("b") == "2")
        _ = try keychain.maintenance.compact()
        _ = try fixture.open(machine: "other").maintenance.verify()
    }

    /// It would take the place of what is intact, for all machines.
    @Test func aDamagedValueOnThisMachineIsNotCompactedIntoTheDatabase() throws {
        let fixture = try DatabaseFixture()
        let values = (0..<4).map { "value \($0)" }
        do {
            let keychain = try fixture.open()
            for value in values { try keychain.set(value, to: value) }
            _ = try keychain.maintenance.compact()
            for value in values { #expect(try keychain.unsafeString(value) == value) }
        }
        _ = try damageFirstValue(in: fixture)
        _ = try fixture.open().maintenance.compact()
        let other = try fixture.open(machine: "other")
        for value in values { #expect(try other.unsafeString(value) == value) }
        _ = try other.maintenance.verify()
    }

    /// The compaction has left it out, as too old.
    @Test func aDamagedValueOnThisMachineThatIsRestoredMeanwhileIsReadFromTheDatabase() throws {
        let fixture = try DatabaseFixture()
        do {
            let keychain = try fixture.open()
            for value in ["first", "second"] { try keychain.set("a", to: value) }
            _ = try keychain.maintenance.compact()
            _ = try keychain.maintenance.verify()
        }
        let path = try damageFirstValue(in: fixture)
        let other = try fixture.open(machine: "other")
        let isRestored = Flag()
        let secondBox = UInt64(8_192 + 32)
        let files = FaultyFileSystem()
        files.watch(.read) { call in
            // The value that is copied: the compaction has its view of the vault, and lets others write.
            guard call.path == path, call.offset == secondBox, !isRestored.isSet else { return }
            isRestored.set()
            #expect(throws: Never.self) { try other.history.restore("a") }
        }
        let keychain = try Keychain(
            at: fixture.location(), creatingIfAbsent: false, failures: FailureLog(), in: files)
        try keychain.history.setRetention(Keychain.History.Retention(versions: 0, days: 0))
        #expect(isRestored.isSet)
        let last = try fixture.open(machine: "last")
        #expect(try last.unsafeString("a") == "first")
        #expect(try last.history.versions(of: "a").isEmpty)
        _ = try last.maintenance.verify()
    }

    /// The vault itself is intact: nobody is told that it is damaged, and it is compacted.
    @Test func aCompactionThatIsDueReadsPastADamagedCopy() throws {
        let fixture = try DatabaseFixture()
        // More than 8 MiB that nobody needs make it due.
        let size = 2 << 20
        var options = Keychain.Options()
        options.compactsByItself = false
        do {
            let keychain = try Keychain(at: fixture.location(), creatingIfAbsent: true, options: options)
            try keychain.history.setRetention(Keychain.History.Retention(versions: 0, days: 0))
            for number in 0..<6 { try keychain.set("a", to: String(repeating: "\(number)", count: size)) }
        }
        let path = try copyOfFirstMachine(in: fixture)
        var bytes = try contents(path)
        bytes[8_192 + 2 * size] ^= 1
        try overwrite(path, bytes)
        let failures = FailureLog { error, _ in Issue.record(error) }
        let keychain = try Keychain(at: fixture.location(), options: options, failures: failures)
        try keychain.set("b", to: "1")
        let before = try keychain.maintenance.information().deadBytes
        keychain.maintenance.finishUpkeep()
        let other = try fixture.open(machine: "other")
        #expect(try other.maintenance.information().deadBytes < before / 4)
        #expect(try other.unsafeString("a") == String(repeating: "5", count: size))
        _ = try other.maintenance.verify()
    }

    /// Damages the oldest value of a checkpoint in the copy that a machine keeps. Returns the copy's path.
    private func damageFirstValue(in fixture: DatabaseFixture) throws -> String {
        let path = try copyOfFirstMachine(in: fixture)
        var bytes = try contents(path)
        bytes[8_192 + 20] ^= 1
        try overwrite(path, bytes)
        return path
    }

    /// Inverts the bits of a part of a file; without a range, of all behind the vault's header.
    private func invert(_ path: String, _ range: (_ size: Int) -> Range<Int> = { 8_192..<$0 }) throws {
        var bytes = try contents(path)
        for index in range(bytes.count) { bytes[index] = ~bytes[index] }
        try overwrite(path, bytes)
    }

    private func copyOfFirstMachine(in fixture: DatabaseFixture) throws -> String {
        let folder = fixture.folder.file("one.cache")
        let copies = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".vault") }
        #expect(copies.count == 1)
        return "\(folder)/\(try #require(copies.first))"
    }
}
