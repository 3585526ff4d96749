import LinuxSystem
import SealedLog
import Sealing
import TestSupport
import Testing
import Vault

@testable import VaultShared

/// Advisory locks, whose numbers anybody computes, can be held by all who may connect to a database.
@Suite("Locks that others hold", .needsServer, .timeLimit(.minutes(10)))
struct HeldLockTests {
    private let fixture: DatabaseFixture

    init() throws { fixture = try DatabaseFixture() }

    private var vault: String { String(fixture.url.split(separator: "#")[1]) }

    /// A session of another role, which holds locks until it ends.
    private func session(_ role: String, of number: Int, _ statements: [VaultShared.Statement]) throws
        -> PostgresConnection
    {
        let name = "\(role)_\(vault)_\(number)"
        let storeLocation = try fixture.storeLocation()
        _ = try storeLocation.flight([
            Statement("CREATE ROLE \(name) LOGIN"),
            Statement(role == "reader" ? "GRANT vault_reader TO \(name)" : "SELECT 1"),
        ])
        let pool = ConnectionPool(try DatabaseURL(fixture.url.replacing("://vault@", with: "://\(name)@")).parameters)
        let connection = try pool.take(until: Deadline(after: .seconds(10)))
        _ = try connection.flight(statements, until: Deadline(after: .seconds(10)))
        return connection
    }

    /// The numbers as they can be read in the source, or in the server's log of statements.
    private func lock(_ words: String, isShared: Bool = false) -> VaultShared.Statement {
        let number = RunningHash.number(of: "\(words) \(vault)")
        return Statement("SELECT pg_advisory_lock\(isShared ? "_shared" : "")(\(number))")
    }

    /// How many sessions wait for a lock.
    private func waitingSessions(_ words: String) throws -> UInt64 {
        let number = RunningHash.number(of: "\(words) \(vault)") & 0xFFFF_FFFF
        let question = "SELECT count(*) FROM pg_locks WHERE NOT granted AND objid::int8 = \(number)"
        return try fixture.storeLocation().flight([Statement(question)])[0].number(0, 0)
    }

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = Deadline.now
        try body()
        return Double(start.millisecondsLeft) / -1_000
    }

    @Test(arguments: ["stranger", "reader"]) func stopNoWriter(role: String) throws {
        let keychain = try fixture.open()
        try keychain.set("a", to: "1")
        let holder = try session(
            role, of: 1, ["lock", "listener", "compaction"].map { lock($0) })
        #expect(try seconds { try keychain.set("a", to: "2") } < 4)
        #expect(try seconds { for _ in 0..<3 { try keychain.set("a", to: "3") } } < 2, "it does not wait each time")
        #expect(try seconds { _ = try keychain.maintenance.compact() } < 6)
        #expect(try seconds { _ = try fixture.open(machine: "other").vaultKeys.rotateDataKey() } < 9)
        let other = try fixture.open(machine: "other")
        #expect(try other.unsafeString("a") == "3")
        try other.maintenance.verify()
        // Of a short patience, a part remains for the row.
        var options = Keychain.Options()
        options.lockTimeout = .milliseconds(200)
        let hasty = try Keychain(at: fixture.location(machine: "third"), options: options)
        #expect(try seconds { try hasty.set("a", to: "4") } < 2)
        for words in ["lock", "compaction"] { #expect(try waitingSessions(words) == 0) }
        _ = holder
    }

    @Test func stopNoCreationOfTables() throws {
        let cluster = try Cluster()
        let own = try DatabaseFixture(in: cluster)
        let connection = try ConnectionPool(try DatabaseURL(own.url).parameters).take(
            until: Deadline(after: .seconds(10)))
        _ = try connection.flight(
            [Statement("SELECT pg_advisory_lock(\(RunningHash.number(of: "schema")))")],
            until: Deadline(after: .seconds(10)))
        #expect(try seconds { try own.open().set("a", to: "1") } < 8)
        #expect(try own.open(machine: "other").unsafeString("a") == "1")
    }

    /// A reader may take this one alone.
    @Test func aTableThatAReaderLocksStopsNobody() throws {
        let keychain = try fixture.open()
        let statements =
            [Statement.begin]
            + ["head", "generation", "extent"].map {
                Statement("LOCK TABLE vault.\($0) IN ACCESS SHARE MODE")
            }
        let holder = try session("reader", of: 2, statements)
        #expect(try seconds { try keychain.set("a", to: "1") } < 2)
        #expect(throws: PostgresError.self) {
            _ = try holder.flight(
                [.rollback, .begin, Statement("LOCK TABLE vault.head IN SHARE MODE")],
                until: Deadline(after: .seconds(10)))
        }
    }

    /// It is told of changes nevertheless, and no session waits for ever.
    @Test func stopNoObserver() async throws {
        let holder = try session("stranger", of: 3, [lock("listener")])
        let observed = try fixture.open()
        let other = try fixture.open(machine: "other")
        let counter = KeychainStorable<Int>("n", in: .store(other))
        try await counter.write(0)
        let seen = Task {
            for try await value in KeychainStorable<Int>("n", in: .store(observed)).values where value == 3 {
                return true
            }
            return false
        }
        for number in 1...3 { try await counter.write(number) }
        #expect(try await seen.value)
        #expect(try waitingSessions("listener") == 0)
        _ = holder
    }

    // MARK: Named locks

    @Test func aNamedLockIsTakenByNobodyWhoCannotWrite() async throws {
        let one = try fixture.open()
        let other = try fixture.open(machine: "other")
        let number = RunningHash.number(of: "refresh") ^ RunningHash.number(of: "lock \(vault)")
        let holder = try session("reader", of: 4, [Statement("SELECT pg_advisory_lock(\(number))")])
        let storeLocation = try fixture.storeLocation()
        #expect(throws: PostgresError.self) {
            _ = try holder.flight(
                Statement.exclude(number, in: storeLocation.name), until: Deadline(after: .seconds(10)))
        }
        let lock = try await one.acquireLock("refresh")
        try lock.check()
        let second = try storeLocation.namedLock(Int64(RunningHash.number(of: "refresh")))
        #expect(try !second.tryLock())
        #expect(throws: LogError.self) { try second.check() }
        lock.release()
        let again = try await other.acquireLock("refresh")
        try again.check()
        again.release()
        #expect(
            try storeLocation.flight([Statement("SELECT count(*) FROM vault.generation WHERE generation < 0")])[0]
                .number(0, 0) == 0)
    }

    /// Its connection ends; another program has the lock then.
    @Test func aNamedLockThatIsLostIsAnError() async throws {
        let cluster = try Cluster()
        let own = try DatabaseFixture(in: cluster)
        let one = try own.open()
        let other = try own.open(machine: "other")
        let lock = try await one.acquireLock("refresh")
        try lock.check()
        _ = try own.storeLocation().flight([
            Statement("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
        ])
        let second = try await other.acquireLock("refresh")
        let error = #expect(throws: VaultError.self) { try lock.check() }
        #expect(error?.code == .unavailable && error?.message.contains("with it a lock") == true)
        try second.check()
        lock.release()
        try second.check()
        second.release()
        try await one.acquireLock("refresh").release()
    }
}
