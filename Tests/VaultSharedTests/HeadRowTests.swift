import LinuxSystem
import Sealing
import TestSupport
import Testing
import Vault

@testable import VaultShared

/// The vault's row decides what is appended to. Nothing of it is authentic.
@Suite("The vault's row in a database", .needsServer, .timeLimit(.minutes(10)))
struct HeadRowTests {
    /// What is written into one column of the row.
    struct Change: CustomStringConvertible, Sendable {
        let column: String
        /// SQL, of the row as it is.
        let value: String
        /// Whether the vault is the same by the changed row.
        var isHarmless = false

        init(_ column: String, _ value: String, isHarmless: Bool = false) {
            self.column = column
            self.value = value
            self.isHarmless = isHarmless
        }

        var description: String { "\(column) = \(value)" }
    }

    private static let extremes = ["0", "1", "-1", "9223372036854775807", "-9223372036854775808"]

    static let changes: [Change] =
        ["sequence", "size", "generation"].flatMap { column in
            (extremes + ["\(column) - 1", "\(column) + 1", "\(column) + 16"]).map { Change(column, $0) }
        }
        + ["size - 16", "size + 4096", "size + 1000000000", "base", "8192"].map { Change("size", $0) }
        + ["sequence - 2", "sequence + 1000"].map { Change("sequence", $0) }
        // As after a record that is not there.
        + ["sequence + 1, size = size + 16", "sequence + 1, size = size + 160"].map { Change("sequence", $0) }
        + [
            "set_byte(authenticator, 0, get_byte(authenticator, 0) # 1)", "substring(authenticator, 1, 15)",
            #"authenticator || '\x00'"#, #"''"#, #"substring(authenticator, 2) || '\x00'"#,
        ].map { Change("authenticator", $0) }
        + ["hint_offset", "hint_sequence", "base"].flatMap { column in
            (extremes + (column == "base" ? ["base - 1", "base + 1", "size", "size + 1"] : ["NULL", "size", "8192"]))
                .map { Change(column, $0, isHarmless: true) }
        } + ["sequence", "size", "generation", "base"].map { Change($0, $0, isHarmless: true) }

    private let fixture: DatabaseFixture

    /// A compaction, and three records after it.
    init() throws {
        fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        // Of more bytes than are asked for at once, so that the row's columns are all used.
        try keychain.set("large", to: String(repeating: "l", count: 300_000))
        _ = try keychain.maintenance.compact()
        for number in 0..<3 { try keychain.set("n\(number)", to: "\(number)") }
        _ = try keychain.maintenance.verify()
    }

    private func execute(_ sql: String) throws {
        let storeLocation = try fixture.storeLocation()
        _ = try storeLocation.flight([Statement(sql, .bytes(storeLocation.name))])
    }

    private func code(_ body: () throws -> Void) -> VaultError.Code? {
        let start = Deadline.now
        defer { #expect(.now < start + .seconds(5), "it is not tried again and again") }
        do { try body() } catch { return (error as? VaultError)?.code }
        return nil
    }

    private func read(_ keychain: Keychain) throws {
        let value = try keychain.unsafeString("n1")
        #expect(value == "1")
    }

    /// Another process of the first machine, that has its memory and its copy, and another machine that has neither.
    private func open(_ machine: String) throws -> Keychain {
        var location = fixture.location(machine: machine)
        location.rollbackMemory = fixture.folder.file("./\(machine).state")
        return try Keychain(at: location)
    }

    @Test(arguments: changes) func isComparedWithTheLog(change: Change) throws {
        let before = try open("two")
        #expect(try before.unsafeString("n2") == "2")
        try execute("UPDATE vault.head SET \(change.column) = \(change.value) WHERE name = $1")
        let expected: VaultError.Code? = change.isHarmless ? nil : .damaged
        for machine in ["one", "fresh"] {
            #expect(code { try read(open(machine)) } == expected, "\(machine)")
            #expect(code { _ = try open(machine).maintenance.verify() } == expected, "\(machine)")
            #expect(code { try open(machine).set("n3", to: "3") } == expected, "\(machine)")
        }
        // A program that has the vault open.
        #expect(code { try read(before) } == expected)
        #expect(code { try before.set("n4", to: "4") } == expected)
        #expect(code { _ = try before.maintenance.compact() } == expected)
        guard !change.isHarmless else { return }
        #expect(try fixture.openOffline().unsafeString("n2") == "2", "the copy that it can be restored from stays")
        try restore()
        for machine in ["one", "fresh", "two"] { try open(machine).set("n5", to: machine) }
        #expect(try before.unsafeString("n5") == "two")
        try open("fresh").maintenance.verify()
        #expect(try open("fresh").maintenance.information().entries == 5)
    }

    /// Puts back what the first machine has kept. It asks first if something may be lost that the row names.
    private func restore() throws {
        var options = Keychain.Options()
        options.offline = .always
        var location = fixture.location()
        location.rollbackMemory = fixture.folder.file("././one.state")
        do {
            try Keychain(at: location, options: options).copies.backUp(to: fixture.url, replacing: true)
        } catch {
            guard error.code == .rolledBack else { throw error }
            options.acceptedAlarms = [.rolledBack]
            try Keychain(at: location, options: options).copies.backUp(to: fixture.url, replacing: true)
        }
    }

    /// What a row names that nobody has is not given up silently.
    @Test(arguments: [-1, 0, 1, 40]) func thatNamesMoreThanACopyHasIsNotReplacedUnasked(more: Int) throws {
        try execute("UPDATE vault.head SET sequence = sequence + \(more), size = size + 1 WHERE name = $1")
        var options = Keychain.Options()
        options.offline = .always
        var location = fixture.location()
        location.rollbackMemory = fixture.folder.file("././one.state")
        let keychain = try Keychain(at: location, options: options)
        let lost = code { try keychain.copies.backUp(to: fixture.url, replacing: true) }
        #expect(lost == (more > 0 ? .rolledBack : nil))
        #expect(code { _ = try open("fresh").maintenance.verify() } == (more > 0 ? .damaged : nil))
    }

    /// The tables were restored from two dumps.
    @Test func ofAnEarlierDumpIsDamage() throws {
        let earlier = try #require(try fixture.storeLocation().currentHead())
        var machine: Keychain? = try open("one")
        for number in 0..<2 { try machine?.set("later \(number)", to: "\(number)") }
        _ = try machine?.maintenance.verify()
        machine = nil
        let newer = try #require(try fixture.storeLocation().currentHead())
        let storeLocation = try fixture.storeLocation()
        func put(_ head: StoreHead) throws {
            _ = try storeLocation.flight([
                Statement("DELETE FROM vault.head WHERE name = $1", .bytes(storeLocation.name)),
                .create(storeLocation.name, head),
            ])
        }
        try put(earlier)
        for call in [
            { _ = try open("fresh").get("n1") }, { _ = try open("fresh").maintenance.verify() },
            { try open("fresh").set("n1", to: "2") },
        ] { #expect(code(call) == .damaged) }
        #expect(code { _ = try open("one").get("n1") } == .damaged, "it has seen more, and comes to the damage first")
        // The other way: the extents are older than the row.
        try put(newer)
        _ = try storeLocation.flight([
            Statement(
                "DELETE FROM vault.extent WHERE generation = $1 AND first_byte >= $2", .number(earlier.generation),
                .number(earlier.size))
        ])
        for machine in ["one", "fresh"] {
            #expect(code { _ = try open(machine).maintenance.verify() } == .damaged)
        }
        // The other one has them, and goes on from what it has authenticated.
        #expect(code { try open("fresh").set("n1", to: "2") } == .damaged)
        try restore()
        #expect(try open("fresh").unsafeString("later 1") == "1")
        try open("fresh").set("n1", to: "2")
    }

    /// Also if it cannot be seen from where the log ends: in the midst of what is written next.
    @Test(arguments: [0, 16, 1 << 18, 1 << 20]) func aByteBehindTheEndIsDamage(distance: Int) throws {
        let machine = try open("two")
        #expect(try machine.unsafeString("n1") == "1")
        try execute(
            """
            INSERT INTO vault.extent SELECT generation, size + \(distance), '\\x00' FROM vault.head WHERE name = $1
            """)
        #expect(code { _ = try open("fresh").get("n1") } == .damaged)
        #expect(code { _ = try open("one").maintenance.verify() } == .damaged)
        for size in [1, 2 << 20] {
            let isHit = distance == 0 || size > distance
            let value = String(repeating: "x", count: size)
            #expect(code { try machine.set("n3", to: value) } == (isHit ? .damaged : nil))
            if !isHit { break }
        }
    }
}
