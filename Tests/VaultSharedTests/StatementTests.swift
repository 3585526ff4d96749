import LinuxSystem
import TestSupport
import Testing

@testable import VaultShared

@Suite("The parameters of a statement")
struct StatementTests {
    @Test func arriveAsTheyWereGiven() throws {
        let url = try DatabaseURL(try Cluster.shared.get().url("any"))
        let pool = ConnectionPool(url.hosts, passwordEntry: nil) { (_) throws(PostgresError) in "" }
        let question = Statement(
            "SELECT $1, $2, $3, $4, $5", .bytes([1, 0, 2]), .bytes([]), .number(7), .noNumber, .text("ä"))
        let deadline = Deadline(after: .seconds(60))
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
}
