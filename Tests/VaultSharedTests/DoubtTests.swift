import Foundation
import LinuxSystem
import TestSupport
import Testing
import Vault

@testable import VaultShared

/// What is read in doubt never replaces what is known.
@Suite("Damage on a machine and on the server", .needsServer, .timeLimit(.minutes(10)))
struct DoubtTests {
    enum Use: String, CaseIterable {
        case get, verify, merge, set, compact
    }

    /// Where a byte is changed: another one on each side.
    enum Damage: CaseIterable {
        case copy, server, both
    }

    private let fixture: DatabaseFixture
    private let copy: String
    /// A byte of a compacted value, and one of another.
    private let first = 8_192 + 1_000
    private let second = 8_192 + 150_000

    init() throws {
        fixture = try DatabaseFixture()
        copy = fixture.folder.file("copy.vault")
        let keychain = try fixture.open()
        for name in ["a", "b", "c"] { try keychain.set(name, to: String(repeating: name, count: 70_000)) }
        _ = try keychain.maintenance.compact()
        try keychain.copies.backUp(to: copy)
        try keychain.set("late", to: "last")
        _ = try keychain.maintenance.verify()
        var location = fixture.location(machine: "third")
        location.vault = copy
        let other = try Keychain(at: location)
        for name in ["a", "b", "c"] { try other.set(name, to: "\(name) of the copy") }
    }

    private func pathOfMachine() throws -> String {
        let folder = fixture.folder.file("one.cache")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".vault") }
        #expect(names.count == 1)
        return "\(folder)/\(try #require(names.first))"
    }

    private func damageCopy(at offset: Int) throws {
        var bytes = try contents(pathOfMachine())
        bytes[offset] ^= 1
        try overwrite(pathOfMachine(), bytes)
    }

    private func execute(_ sql: String) throws {
        let storeLocation = try fixture.storeLocation()
        _ = try storeLocation.flight([Statement(sql, .bytes(storeLocation.name))])
    }

    private func damageServer(at offset: Int) throws {
        let byte = "\(offset) - first_byte::int4"
        try execute(
            """
            UPDATE vault.extent AS e SET bytes = set_byte(bytes, \(byte), get_byte(bytes, \(byte)) # 1)
            FROM vault.head AS h WHERE e.generation = h.generation AND h.name = $1
                AND first_byte <= \(offset) AND first_byte + length(bytes) > \(offset)
            """)
    }

    private func use(_ use: Use) throws {
        let keychain = try fixture.open()
        switch use {
        case .get: for name in ["a", "b", "c", "late"] { _ = try? keychain.unsafeString(name) }
        case .verify: _ = try keychain.maintenance.verify()
        case .merge: try keychain.copies.merge(copy)
        case .set: try keychain.set("a", to: "new")
        case .compact: _ = try keychain.maintenance.compact()
        }
        keychain.copies.completeLocalCopy()
    }

    private func restore(accepting alarms: Set<VaultError.Code> = []) throws {
        var options = Keychain.Options()
        options.offline = .always
        options.acceptedAlarms = alarms
        var location = fixture.location()
        location.rollbackMemory = fixture.folder.file("./one.state")
        try Keychain(at: location, options: options).copies.backUp(to: fixture.url, replacing: true)
    }

    @Test(arguments: Damage.allCases, Use.allCases) func leavesWhatIsIntactOnTheMachine(
        damage: Damage, use: Use
    ) throws {
        let generation = try fixture.storeLocation().currentHead()?.generation
        let before = try contents(pathOfMachine())
        if damage != .server { try damageCopy(at: first) }
        if damage != .copy { try damageServer(at: second) }
        for _ in 0..<2 { try? self.use(use) }
        let head = try #require(try fixture.storeLocation().currentHead())
        let after = try contents(pathOfMachine())
        if head.generation == generation {
            for index in before.indices where index >= 8_192 && index != first {
                guard after[index] != before[index] else { continue }
                #expect(Bool(false), "byte \(index)")
                break
            }
            // What has authenticated has mended it.
            if use == .get || use == .verify && damage == .copy { #expect(after[first] == before[first]) }
        } else {
            // A compaction takes each value from where it is intact.
            _ = try fixture.open().maintenance.verify()
        }
        let isIntact = head.generation != generation || after[first] == before[first]
        #expect(isIntact || damage != .server)
        guard isIntact else { return }
        try restore()
        let fresh = try fixture.open(machine: "fresh")
        _ = try fresh.maintenance.verify()
        #expect(try fresh.unsafeString("late") == "last")
        #expect(try fresh.unsafeString("b")?.first == "b")
        #expect(try fresh.unsafeString("c") == fixture.open().unsafeString("c"))
    }

    /// What the header, its copy, or a record has there is read in opening the vault.
    @Test func whatIsReadInOpeningIsMended() throws {
        let before = try contents(pathOfMachine())
        let size = before.count
        // Nobody looks at the header's copy while the header is whole.
        let parts =
            [[9], [16], [100], [4_000, 4_200], [9, 4_200], [16, 4_105]]
            + stride(from: size - 16, to: size - 220, by: -24).map { [$0] }
        for offsets in parts {
            for offset in offsets { try damageCopy(at: offset) }
            #expect(try fixture.open().unsafeString("a") == String(repeating: "a", count: 70_000))
            let after = try contents(pathOfMachine())
            #expect(before.indices.filter { after[$0] != before[$0] } == [], "bytes \(offsets) of \(size)")
            #expect(try fixture.openOffline().unsafeString("late") == "last")
        }
    }

    /// Nothing that this machine has kept says that the vault is damaged.
    @Test(arguments: [[100, 4_200], [9, 4_200], [8_192 + 1_000]]) func isNoDamageOfTheVault(offsets: [Int]) throws {
        for offset in offsets { try damageCopy(at: offset) }
        let error = #expect(throws: VaultError.self) { _ = try fixture.openOffline().get("a") }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("This machine's copy of postgresql://") == true)
        let keychain = try fixture.open()
        for name in ["a", "b", "c", "late"] { #expect(try keychain.unsafeString(name) != nil) }
        #expect(try fixture.openOffline().unsafeString("a") == String(repeating: "a", count: 70_000))
    }

    @Test(arguments: [[0], [9], [11], [16], [20], [100], [4_096], [4_105], [9, 4_200]])
    func isMendedWhateverOfTheHeaderIsDamaged(offsets: [Int]) throws {
        for offset in offsets { try damageServer(at: offset) }
        let error = #expect(throws: VaultError.self) { _ = try fixture.open().maintenance.verify() }
        #expect(error?.code == .damaged)
        try restore()
        let fresh = try fixture.open(machine: "fresh")
        _ = try fresh.maintenance.verify()
        #expect(try fresh.unsafeString("late") == "last")
    }

    /// The copy ends before the log of the server does.
    @Test func leavesWhatIsIntactOnAMachineThatIsBehind() throws {
        let before = try contents(pathOfMachine())
        try fixture.open(machine: "other").set("more", to: "1")
        try damageServer(at: second)
        let error = #expect(throws: VaultError.self) { _ = try fixture.open().maintenance.verify() }
        #expect(error?.code == .damaged)
        #expect(try contents(pathOfMachine())[8_192..<before.count] == before[8_192...])
        try restore()
        #expect(try fixture.open(machine: "fresh").unsafeString("more") == "1")
    }

    /// A machine that has a whole copy puts back what has no header.
    @Test(arguments: ["first_byte = 0", "true", "first_byte > 0"], [true, false])
    func isMendedWithoutAHeader(deleted: String, isChanged: Bool) throws {
        try execute(
            """
            DELETE FROM vault.extent USING vault.head AS h
            WHERE extent.generation = h.generation AND name = $1 AND \(deleted)
            """)
        let error = #expect(throws: VaultError.self) { _ = try fixture.open(machine: "fresh").get("a") }
        #expect(error?.code == .damaged)
        if isChanged { try? fixture.open().set("new", to: "5") }
        try restore()
        let fresh = try fixture.open(machine: "fresh")
        _ = try fresh.maintenance.verify()
        #expect(try fresh.unsafeString("late") == "last")
        #expect(try fresh.unsafeString("new") == fixture.open().unsafeString("new"))
    }

    /// What the machine lacks is not given up silently.
    @Test(arguments: [true, false]) func withoutAHeaderNothingIsLostUnasked(isNamed: Bool) throws {
        let head = try #require(try fixture.storeLocation().currentHead())
        try fixture.open(machine: "other").set("more", to: "1")
        if !isNamed {
            let storeLocation = try fixture.storeLocation()
            _ = try storeLocation.flight([
                Statement("DELETE FROM vault.head WHERE name = $1", .bytes(storeLocation.name)),
                .create(storeLocation.name, head),
            ])
        }
        try execute(
            """
            DELETE FROM vault.extent USING vault.head AS h
            WHERE extent.generation = h.generation AND name = $1 AND first_byte = 0
            """)
        let error = #expect(throws: VaultError.self) { try restore() }
        #expect(error?.code == .rolledBack)
        try restore(accepting: [.rolledBack])
        #expect(try fixture.open(machine: "fresh").unsafeString("late") == "last")
    }

    /// One in front of the log, and one that begins before its end and reaches beyond it.
    @Test(arguments: [true, false]) func anExtentOutsideTheLogIsDamage(isInFront: Bool) throws {
        try execute(
            isInFront
                ? "INSERT INTO vault.extent SELECT generation, -1, '\\x07' FROM vault.head WHERE name = $1"
                : """
                UPDATE vault.extent AS e SET bytes = bytes || '\\x07' FROM vault.head AS h
                WHERE e.generation = h.generation AND name = $1 AND first_byte + length(bytes) = size
                """)
        let error = #expect(throws: VaultError.self) { _ = try fixture.open(machine: "fresh").get("a") }
        #expect(error?.code == .damaged)
        #expect(throws: VaultError.self) { _ = try fixture.open().maintenance.verify() }
    }
}
