import LinuxSystem
import TestSupport
import Testing

@testable import VaultShared

@Suite("Prepared statements", .needsServer)
struct PreparedStatementsTests {
    private let connection: PostgresConnection
    private let deadline = Deadline(after: .seconds(60))

    init() throws {
        let url = try DatabaseURL(try Cluster.shared.get().url("any"))
        connection = try PostgresConnection(beginning: Server.found(by: url.parameters)[0])
        try connection.connect(until: deadline)
    }

    private func sum(_ number: UInt64) throws -> UInt64 {
        try connection.flight([Statement("SELECT $1 + 1", .number(number))], until: deadline).rows[0].number(0, 0)
    }

    /// How many the server has.
    private func count() throws -> UInt64 {
        let question = Statement("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'vault%'")
        return try connection.flight([question], until: deadline).rows[0].number(0, 0)
    }

    @Test func aSessionThatGoesOnPreparesWhatItSends() throws {
        #expect(try sum(1) == 2)
        #expect(try count() == 0, "a command's session ends before it is worth it")
        for number in 0..<20 { #expect(try sum(UInt64(number)) == UInt64(number) + 1) }
        #expect(try count() == 1)
        let plan = try connection.flight([Statement("SHOW enable_seqscan")], until: deadline).rows[0].bytes(0, 0)
        #expect(plan == Array("off".utf8), "a plan is made for tables that will grow")
    }

    @Test func nothingIsPreparedInATransaction() throws {
        _ = try connection.flight([.begin], until: deadline)
        for number in 0..<20 { #expect(try sum(UInt64(number)) == UInt64(number) + 1) }
        #expect(try count() == 0)
        _ = try connection.flight([.commit], until: deadline)
        #expect(try sum(1) == 2)
        #expect(try count() > 0)
    }

    @Test func aServerThatForgetsThemIsSentTheirTexts() throws {
        for number in 0..<20 { _ = try sum(UInt64(number)) }
        _ = try connection.flight([Statement("DEALLOCATE ALL")], until: deadline)
        let error = #expect(throws: PostgresError.self) { try sum(1) }
        #expect(error?.isTransient == true, "the call is tried again")
        #expect(try sum(1) == 2)
        #expect(try count() == 0)
    }
}
