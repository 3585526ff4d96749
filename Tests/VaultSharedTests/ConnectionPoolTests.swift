import LinuxSystem
import TestSupport
import Testing

@testable import VaultShared

@Suite("Connections of a process", .needsServer)
struct ConnectionPoolTests {
    private let pool: ConnectionPool
    private let deadline = Deadline(after: .seconds(60))

    init() throws {
        let url = try DatabaseURL(try Cluster.shared.get().url("any"))
        pool = ConnectionPool(url.parameters)
    }

    private func begin(asking text: String) {
        pool.begin()
        pool.ask(Statement(text))
        while !pool.goOn(), .now < deadline { Clock.sleep(microseconds: 1_000) }
    }

    private func number(_ text: String) throws -> UInt64 {
        try pool.withConnection(until: deadline) { (connection) throws(PostgresError) in
            try connection.flight([Statement(text)], until: deadline).rows[0].number(0, 0)
        }
    }

    @Test func isAnsweredOnce() throws {
        begin(asking: "SELECT 7::int8")
        #expect(try pool.answer(until: deadline)?.number(0, 0) == 7)
        #expect(pool.answer(until: deadline) == nil)
        #expect(pool.lastHost?.name.isEmpty == false)
        #expect(try number("SELECT 8::int8") == 8)
    }

    @Test func countsForASecond() throws {
        begin(asking: "SELECT 7::int8")
        Clock.sleep(microseconds: 1_100_000)
        #expect(pool.answer(until: deadline) == nil)
        #expect(try number("SELECT 8::int8") == 8, "the connection is of use still")
    }

    @Test func anErrorIsNoAnswer() throws {
        begin(asking: "SELECT 1 / 0")
        #expect(pool.answer(until: deadline) == nil)
        #expect(try number("SELECT 8::int8") == 8)
    }

    @Test func whoTakesTheConnectionGetsItsOwnAnswers() throws {
        begin(asking: "SELECT 7::int8")
        #expect(try number("SELECT 8::int8") == 8)
        #expect(pool.answer(until: deadline) == nil)
    }

    /// As after a restart of the server. Not everything that is sent first on a connection can be sent again.
    @Test func whatTheServerHasEndedIsNotTaken() throws {
        let ended = try pool.take(until: deadline)
        let other = try pool.take(until: deadline)
        let own = Statement("SELECT pg_backend_pid()::int8")
        let process = try ended.flight([own], until: deadline).rows[0].number(0, 0)
        pool.give(back: ended)
        #expect(ended.isIdle)
        _ = try other.flight([Statement("SELECT pg_terminate_backend(\(process))")], until: deadline)
        let limit = Deadline(after: .seconds(10))
        while ended.isIdle, .now < limit { Clock.sleep(microseconds: 1_000) }
        #expect(try number("SELECT 8::int8") == 8)
    }
}
