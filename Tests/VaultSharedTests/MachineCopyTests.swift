import LinuxSystem
import SealedLog
import TestSupport
import Testing
import Vault

@testable import VaultShared

/// What one process could not keep, the next one completes.
@Suite("What is missing in a machine's copy", .needsServer, .timeLimit(.minutes(10)))
struct MachineCopyTests {
    private let fixture: DatabaseFixture

    init() throws { fixture = try DatabaseFixture() }

    /// A copy of which only some is there, of a checkpoint with large values.
    private func fill(megabytes: Int) throws -> Mirror {
        let other = try fixture.open(machine: "other")
        for number in 0..<megabytes { try other.set("n\(number)", to: String(repeating: "x", count: 1 << 20)) }
        _ = try other.maintenance.compact()
        try other.set("a", to: "1")
        #expect(try fixture.open().unsafeString("a") == "1")
        return try #require(try fixture.storeLocation().mirror)
    }

    private func missing(_ mirror: Mirror) -> UInt64 {
        mirror.reread()
        return mirror.missingCount
    }

    @Test func isReadAPieceAtATime() throws {
        let mirror = try fill(megabytes: 2)
        var before = missing(mirror)
        #expect(before > 1 << 20)
        while before > 0 {
            let keychain = try fixture.open()
            #expect(try keychain.unsafeString("a") == "1")
            keychain.copies.completeLocalCopy()
            let after = missing(mirror)
            #expect(after == before - min(before, PostgresRecordStore.completedAtOnce))
            guard after < before else { return }
            before = after
        }
        #expect(mirror.completePath != nil)
        #expect(try fixture.openOffline().unsafeString("n1")?.utf8.count == 1 << 20)
    }

    @Test(arguments: [8, 9]) func isLeftAloneIfItIsMuch(megabytes: Int) throws {
        let mirror = try fill(megabytes: megabytes)
        let before = missing(mirror)
        let keychain = try fixture.open()
        #expect(try keychain.unsafeString("a") == "1")
        keychain.copies.completeLocalCopy()
        #expect((missing(mirror) == before) == (before > PostgresRecordStore.mostCompleted))
        #expect((before > PostgresRecordStore.mostCompleted) == (megabytes == 9))
        try keychain.maintenance.verify()
        #expect(missing(mirror) == 0)
    }

    /// Also of one that was whole: what is not there does not count, and comes again.
    @Test(arguments: [16, 200, 5_000, 30_000]) func isNoticedWhereTheFileWasCut(count: Int) throws {
        let mirror = try fill(megabytes: 1)
        _ = try fixture.open().maintenance.verify()
        mirror.reread()
        let path = try #require(mirror.completePath)
        let before = try contents(path)
        try overwrite(path, Array(before.dropLast(count)))
        #expect(missing(mirror) == UInt64(count))
        #expect(try fixture.open().copies.keptCopy?.isComplete == false)
        let keychain = try fixture.open()
        #expect(try keychain.unsafeString("a") == "1")
        keychain.copies.completeLocalCopy()
        #expect(try contents(path) == before)
        #expect(missing(mirror) == 0)
        #expect(try fixture.openOffline().unsafeString("n0")?.utf8.count == 1 << 20)
    }

    /// A server that was put back does not complete the copy that it can be restored from.
    @Test func isNotTakenFromAnotherHistory() throws {
        let mirror = try fill(megabytes: 1)
        let storeLocation = try fixture.storeLocation()
        let keychain = try fixture.open()
        #expect(try keychain.unsafeString("a") == "1")
        let head = try #require(try storeLocation.currentHead())
        let later = StoreHead(
            generation: head.generation,
            position: LogPosition(sequence: head.position.sequence + 1, authenticator: .zero), size: head.size + 1,
            hint: head.hint)
        #expect(try #require(storeLocation.mirror).keep(later, [], isNew: false))
        let before = missing(mirror)
        keychain.copies.completeLocalCopy()
        #expect(before > 0 && missing(mirror) == before)
    }
}
