import LinuxSystem
import SealedFormat
import Sealing
import TestSupport
import Testing
import Vault

@testable import VaultShared

@Suite("The parameters of a statement", .needsServer)
struct StatementTests {
    private let pool: ConnectionPool
    private let deadline = Deadline(after: .seconds(60))

    init() throws {
        let url = try DatabaseURL(try Cluster.shared.get().url("any"))
        pool = ConnectionPool(url.parameters)
    }

    @Test func arriveAsTheyWereGiven() throws {
        let question = Statement(
            "SELECT $1, $2, $3, $4, $5", .bytes([1, 0, 2]), .bytes([]), .number(7), .noNumber, .text("ä"))
        let rows = try pool.withConnection(until: deadline) { (connection) throws(PostgresError) in
            try connection.flight([question], until: deadline).rows[0]
        }
        #expect(try rows.bytes(0, 0) == [1, 0, 2])
        // No bytes are not null.
        #expect(try rows.bytes(0, 1) == [])
        #expect(try rows.number(0, 2) == 7)
        #expect(rows.value(0, 3) == nil)
        #expect(try rows.bytes(0, 4) == Array("ä".utf8))
    }

    /// Another thread may read on the connection of a transaction.
    @Test func aCommitOfATransactionInWhichOneWasRefusedIsAnError() throws {
        let connection = try pool.take(until: deadline)
        _ = try connection.flight([.begin, Statement("SELECT 1"), .commit], until: deadline)
        _ = try connection.flight([.begin], until: deadline)
        #expect(throws: PostgresError.self) { try connection.flight([Statement("SELECT 1 / 0")], until: deadline) }
        let error = #expect(throws: PostgresError.self) { try connection.flight([.commit], until: deadline) }
        #expect(error?.isTransient == true)
        #expect(connection.isIdle)
    }

    /// What a proof rests on is not for the settings of a role to say.
    @Test(arguments: [
        ("off", "on"), ("local", "on"), ("remote_write", "on"), ("on", "on"), ("remote_apply", "remote_apply"),
    ])
    func aCommitPromisesAtLeastThatItIsDurable(_ setting: String, _ expected: String) throws {
        let connection = try pool.take(until: deadline)
        for statement: VaultShared.Statement in [.promised, .mayWait, .queue(1, upTo: 1_000), .proof] {
            let rows = try connection.flight(
                [
                    Statement("SET synchronous_commit = \(setting)"), Statement("SET client_min_messages = error"),
                    .begin,
                    statement,
                    Statement("SELECT current_setting('synchronous_commit'), current_setting('client_min_messages')"),
                    .rollback,
                ], until: deadline
            ).rows[4]
            #expect(try rows.bytes(0, 0) == Array(expected.utf8))
            #expect(try rows.bytes(0, 1) == Array("warning".utf8))
        }
    }

    @Test func whatIsLongerThanAskedForIsNoAnswer() throws {
        let question = Statement(#"VALUES (7::int8, '\x010203'::bytea), (10, '\x0405'), (13, '\x06')"#)
        let rows = try pool.withConnection(until: deadline) { (connection) throws(PostgresError) in
            try connection.flight([question], until: deadline).rows[0]
        }
        var taken: [UInt8] = []
        for limit: UInt64 in [12, 13] {
            taken = []
            #expect(try rows.pieces(from: 7, upTo: limit) { _, bytes in taken += bytes } == 12)
            #expect(taken == [1, 2, 3, 4, 5])
        }
        taken = []
        let error = #expect(throws: PostgresError.self) {
            try rows.pieces(from: 7, upTo: 11) { _, bytes in taken += bytes }
        }
        #expect(error?.reason == .malformed)
        #expect(taken == [1, 2, 3])
    }

    /// Of CockroachDB's locks nobody can be sure: the statements compare by themselves.
    @Test(arguments: [true, false]) func whoDoesNotKnowTheEndChangesNothing(_ isOther: Bool) throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        for number in 0..<3 { try keychain.set("a", to: "\(number)") }
        let storeLocation = try fixture.storeLocation()
        let head = try #require(try storeLocation.currentHead())
        // An earlier position, or another one of the same number.
        let authenticator = RandomBytes.array(Authenticator.size).withUnsafeBytes { Authenticator($0) }
        let wrong = LogPosition(sequence: head.position.sequence - (isOther ? 0 : 1), authenticator: authenticator)
        let next = StoreHead(
            generation: head.generation,
            position: LogPosition(sequence: head.position.sequence + 1, authenticator: authenticator),
            size: head.size + 100, hint: nil)
        // Where nothing is.
        let append = { (previous: LogPosition) in
            Statement.append([1, 2][...], at: head.size + 98, to: storeLocation.name, next, replacing: previous)
        }
        #expect(throws: PostgresError.self) {
            try storeLocation.pool.withConnection(until: Deadline(after: .seconds(60))) {
                (connection) throws(PostgresError) in
                do throws(PostgresError) {
                    _ = try connection.flight([append(wrong)], until: Deadline(after: .seconds(60)))
                } catch {
                    #expect(error.isOvertaken)
                    throw error
                }
            }
        }
        let former = StoreHead(generation: head.generation, position: wrong, size: head.size, hint: nil)
        #expect(try storeLocation.flight([.replace(storeLocation.name, next, former)])[0].changed == 0)
        #expect(try storeLocation.currentHead() == head)
        #expect(
            try storeLocation.flight([append(head.position), .replace(storeLocation.name, head, next)])[1].changed == 1)
    }
}
