import CPostgres
import Formats
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import VaultShared

@Suite("The password of a connection")
struct PasswordWipingTests {
    private func password(_ text: String) throws -> HeldSecret {
        HeldSecret(try SecretBytes(copyOf: Array("\(text)\0".utf8)))
    }

    private func text(_ connection: PostgresConnection) -> String {
        PQpass(connection.handle).map { String(cString: $0) } ?? ""
    }

    /// libpq has two copies. It wipes neither before the connection ends, and only shows one.
    @Test(.needsServer) func isWipedOnceItIsConnected() throws {
        let url = try DatabaseURL(try Cluster.shared.get().url("any"))
        let connection = try PostgresConnection(
            beginning: Server.found(by: url.parameters)[0], with: password("secret-7"))
        #expect(text(connection) == "secret-7")
        try connection.connect(until: Deadline(after: .seconds(10)))
        #expect(text(connection) == "")
        let rows = try connection.flight([Statement("SELECT 7::int8")], until: Deadline(after: .seconds(10))).rows
        #expect(try rows[0].number(0, 0) == 7)
    }

    @Test func isNoneOfTheParameters() throws {
        var parameters = ConnectionParameters()
        parameters["user"] = "ada"
        let isFound = parameters.withPointers(and: try password("secret-7")) { keywords, values in
            let pairs = (0..<2).map { index in
                (keywords?[index].map { String(cString: $0) }, values?[index].map { String(cString: $0) })
            }
            return pairs.map(\.0) == ["user", "password"] && pairs.map(\.1) == ["ada", "secret-7"]
                && keywords?[2] == nil && values?[2] == nil
        }
        #expect(isFound && parameters["password"] == nil)
        #expect(parameters.withPointers { keywords, values in keywords?[1] == nil && values?[1] == nil })
    }
}
