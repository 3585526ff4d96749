import Foundation
import LinuxSystem
import SealedLog
import Synchronization
import TestSupport
import Testing
import Vault

@testable import VaultShared

/// The vault in the database is put back to an older state, and goes on from there.
@Suite("A machine's copy of a vault that was put back", .needsServer, .timeLimit(.minutes(10)))
struct DatabaseCopyTests {
    private let fixture: DatabaseFixture
    /// Opened before the vault was put back.
    private let early: Keychain
    /// Opened before the changes, as another process that shares the copy, and remembers nothing of them.
    private let earlier: Keychain
    /// Opened as the copy was before the changes.
    private let earlierStore: PostgresRecordStore

    /// One machine has seen two changes that the database lacks now.
    init() throws {
        fixture = try DatabaseFixture()
        try fixture.open().set("base", to: "1")
        let storeLocation = try fixture.storeLocation()
        let older = try #require(try storeLocation.currentHead())
        var location = fixture.location()
        location.rollbackMemory = fixture.folder.file("earlier.state")
        earlier = try Keychain(at: location)
        #expect(try earlier.unsafeString("base") == "1")
        earlierStore = try #require(try fixture.storeLocation().open(.quick) as? PostgresRecordStore)
        try fixture.open().set("here", to: "2")
        try fixture.open().set("here too", to: "2")
        early = try fixture.open()
        _ = try storeLocation.flight([
            Statement("DELETE FROM vault.head WHERE name = $1", .bytes(storeLocation.name)),
            Statement(
                "DELETE FROM vault.extent WHERE generation = $1 AND first_byte >= $2", .number(older.generation),
                .number(older.size)), .create(storeLocation.name, older),
        ])
    }

    private func change(_ count: Int, to value: String = "3") throws {
        let other = try fixture.open(machine: "other")
        for number in 0..<count { try other.set("there \(number)", to: value) }
    }

    /// The bytes of the copy, as far as they count.
    private func bytesOfCopy() throws -> [UInt8] {
        let mirror = try #require(try fixture.storeLocation().mirror)
        let path = try #require(mirror.completePath)
        let head = try #require(mirror.head)
        return Array(try contents(path).prefix(Int(head.size)))
    }

    private func files(in folder: String = "one.state") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: fixture.folder.file(folder))
            .filter { $0.contains("-kept-") }
    }

    @Test(arguments: [0, 1, 2, 3]) func isKeptAsAFileBeforeAnAlarmIsAccepted(changes: Int) throws {
        try change(changes)
        let alarm: VaultError.Code = changes < 2 ? .rolledBack : .diverged
        for _ in 0..<2 {
            let error = #expect(throws: VaultError.self) { _ = try fixture.open().get("base") }
            #expect(error?.code == alarm)
            #expect(try files().isEmpty, "nothing has taken its place yet")
        }
        try accept(alarm, changes: changes)
    }

    /// It reads what the server has, to raise the alarm; the copy stays as it is meanwhile.
    @Test(arguments: [0, 1, 2, 3]) func isLeftAsItIsByAProgramThatHasTheVaultOpen(changes: Int) throws {
        try change(changes)
        let alarm: VaultError.Code = changes < 2 ? .rolledBack : .diverged
        #expect(throws: VaultError.self) { try early.set("late", to: "4") }
        let error = #expect(throws: VaultError.self) { _ = try early.keys() }
        #expect(error?.code == alarm)
        try accept(alarm, changes: changes)
    }

    /// What was changed offline is merged after that, and another process keeps the vault from being written.
    @Test func isNamedIfTheVaultCannotBeOpenedAfterAll() throws {
        try change(2)
        try fixture.openOffline().set("offline", to: "5")
        let store = try fixture.storeLocation().open(.fresh)
        let lock = try store.locked(.exclusive, until: Deadline(after: .zero))
        let told = Mutex<[String]>([])
        var options = Keychain.Options()
        options.acceptedAlarms = [.diverged]
        options.lockTimeout = .milliseconds(100)
        let error = #expect(throws: VaultError.self) {
            _ = try Keychain(
                at: fixture.location(), options: options,
                failures: FailureLog { error, _ in told.withLock { $0.append(error.message) } })
        }
        #expect(error?.code == .busy)
        let kept = try #require(try files().first)
        #expect(told.withLock { $0.map { $0.contains("one.state/\(kept)") } } == [true])
        _ = consume lock
    }

    private func accept(_ alarm: VaultError.Code, changes: Int) throws {
        var options = Keychain.Options()
        options.acceptedAlarms = [alarm]
        let keychain = try Keychain(at: fixture.location(), options: options)
        #expect(try keychain.unsafeString("here") == nil && keychain.unsafeString("here too") == nil)
        let kept = try #require(try files().first)
        try keychain.copies.merge(fixture.folder.file("one.state/\(kept)"))
        #expect(try keychain.unsafeString("here") == "2" && keychain.unsafeString("base") == "1")
        #expect(try keychain.keys().count == 3 + changes)
        #expect(try files().count == 1)
    }

    /// A process that has not seen the changes goes on with the vault: nothing tells it of an alarm.
    @Test(arguments: [0, 1, 2, 3], [true, false])
    func isKeptAsAFileBeforeAnotherProcessWritesOverIt(changes: Int, writes: Bool) throws {
        try change(changes)
        if writes { try earlier.set("late", to: "4") } else { _ = try earlier.keys() }
        if !writes, changes < 2 {
            #expect(try files(in: "earlier.state").isEmpty, "nothing has taken its place yet")
            return try accept(.rolledBack, changes: changes)
        }
        let kept = try #require(try files(in: "earlier.state").first)
        #expect(try files(in: "earlier.state").count == 1)
        let storeLocation = try fixture.storeLocation()
        #expect(
            try storeLocation.mirror?.head == storeLocation.currentHead(), "the machine's copy is of the vault again")
        try earlier.copies.merge(fixture.folder.file("earlier.state/\(kept)"))
        #expect(try earlier.unsafeString("here") == "2" && earlier.keys().count == (writes ? 4 : 3) + changes)
        #expect(try fixture.open().unsafeString("here") == "2", "nothing is missing any more")
    }

    /// What does not come with a look at the end is asked for, before the log has followed it.
    @Test func isNotWrittenOverByWhatIsAskedFor() throws {
        let before = try bytesOfCopy()
        try change(1, to: String(repeating: "3", count: 2 * Int(PostgresLocation.tailSize)))
        for _ in 0..<3 { #expect(try earlier.unsafeString("base") == "1") }
        #expect(try earlier.keys() == ["base", "there 0"])
        #expect(try bytesOfCopy() == before)
        try accept(.rolledBack, changes: 1)
    }

    /// Blocks that were read before it was known whether they belong to the copy.
    @Test func isNotWrittenOverByWhatWaits() throws {
        let before = try bytesOfCopy()
        try change(1)
        let head = try #require(try fixture.storeLocation().currentHead())
        earlierStore.state.withLock { state in
            state.phase = .open(isNew: false)
            state.update(head, StoreBytes(offset: head.size), of: head.generation)
            state.keep(StoreBytes(offset: 0, bytes: [UInt8](repeating: 9, count: Int(head.size))))
        }
        guard case .none = try earlierStore.growth(after: head.size, head.position) else {
            return #expect(Bool(false), "it knows all that the server has")
        }
        #expect(try bytesOfCopy() == before)
    }

    @Test(arguments: [0, 1, 2, 3]) func isKeptAsAFileBeforeAVerificationReplacesIt(changes: Int) throws {
        try change(changes)
        _ = try earlier.maintenance.verify()
        let kept = try #require(try files(in: "earlier.state").first)
        try earlier.copies.merge(fixture.folder.file("earlier.state/\(kept)"))
        #expect(try earlier.unsafeString("here") == "2" && earlier.unsafeString("here too") == "2")
        #expect(try earlier.keys().count == 3 + changes && files(in: "earlier.state").count == 1)
    }

    /// As on a full disk, nothing can take the place of the copy.
    @Test func isKeptAsAFileOnce() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.file("one.cache"))
        let state = try #require(names.first { $0.hasSuffix(".state") })
        let files = PosixFileSystem()
        let held = try files.open(fixture.folder.file("one.cache/\(state)"), .readNoFollow)
        try files.lock(held, .exclusive, until: Deadline(after: .seconds(5)))
        for number in 0..<3 { try earlier.set("late \(number)", to: "4") }
        let storeLocation = try fixture.storeLocation()
        #expect(try storeLocation.mirror?.head != storeLocation.currentHead(), "the copy is as it was")
        #expect(try self.files(in: "earlier.state").count == 1)
        files.unlock(held)
    }

    @Test func isNotKeptWhereTheVaultHasAllOfIt() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("base", to: "1")
        try fixture.open(machine: "other").set("there", to: "2")
        try fixture.open(machine: "other").maintenance.compact()
        #expect(try fixture.open().unsafeString("there") == "2")
        try fixture.open(machine: "other").set("there", to: "3")
        #expect(try fixture.open().unsafeString("there") == "3")
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.file("one.state"))
        #expect(!names.isEmpty && names.allSatisfy { !$0.contains("-kept-") })
    }
}
