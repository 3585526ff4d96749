import Foundation
import Glibc
import TestSupport
import Testing
import Vault

@testable import VaultShared

@Suite("A server that gets a password of this machine's vault")
struct VerifiedServerTests {
    private func server(_ url: String) throws -> VerifiedServer {
        try VerifiedServer(Server.found(by: DatabaseURL(url).parameters)[0])
    }

    private func isVerified(_ url: String) -> Bool { (try? server(url)) != nil }

    @Test(arguments: [
        "postgresql://db.example.org/x", "postgresql://db.example.org/x?sslmode=verify-full",
        "postgresql://127.0.0.1/x", "postgresql://127.0.0.2/x?sslmode=disable", "postgresql://[::1]/x",
        "postgresql://%2Frun%2Fpostgresql/x", "postgresql:///x", "postgresql://127.0.0.1/x?hostaddr=127.0.0.3",
    ])
    func provesItselfByItsCertificateOrByBeingHere(_ url: String) { #expect(isVerified(url)) }

    @Test(arguments: [
        "postgresql://db.example.org/x?sslmode=require", "postgresql://db.example.org/x?sslmode=verify-ca",
        "postgresql://db.example.org/x?sslmode=prefer", "postgresql://db.example.org/x?sslmode=disable",
        "postgresql://localhost/x?sslmode=require", "postgresql://0.0.0.0/x?sslmode=allow",
        "postgresql://127.evil.example/x?sslmode=disable", "postgresql://127.0.0.1/x?hostaddr=10.0.0.1&sslmode=disable",
        "postgresql://db.example.org/x?hostaddr=127.0.0.1&sslmode=disable",
    ])
    func doesNotByAName(_ url: String) throws {
        let error = #expect(throws: PostgresError.self) { try server(url) }
        #expect(error?.message.contains("does not prove the server's identity") == true)
    }

    // MARK: The entry

    private func refusal(_ attributes: [String: String], _ urls: String...) throws -> String? {
        let servers = try urls.map(server)
        do throws(VaultError) {
            try VerifiedServer.check(servers, attributes, of: "db/team", in: "/v/own.vault")
        } catch {
            #expect(error.code == .guarded)
            return error.message
        }
        return nil
    }

    private static let url = "postgresql://ada@db.example.org:5433/team"
    private static let marked = ["protocol": "postgresql", "host": "db.example.org:5433"]

    @Test(arguments: [
        [:], ["url": "https://a"], ["path": "team", "username": "ada"],
    ])
    func isNotForAnEntryThatSaysNothing(_ attributes: [String: String]) throws {
        let message = try refusal(attributes, Self.url)
        #expect(
            message?.contains(
                "`vault attr 'db/team' protocol=postgresql host='db.example.org:5433' --vault '/v/own.vault'`") == true)
    }

    @Test(arguments: [
        ["protocol": "https"], ["host": "db.example.org"], ["host": "db.example.org:5434"], ["host": ""],
        ["path": "other"], ["username": "bob"],
    ])
    func isNotForAnEntryThatIsForSomethingElse(_ change: [String: String]) throws {
        let attributes = Self.marked.merging(change) { $1 }
        #expect(try refusal(attributes, Self.url)?.contains("is marked for something other") == true)
    }

    @Test(arguments: [
        [:], ["path": "team"], ["username": "ada"], ["path": "team", "username": "ada"],
        ["host": "a,db.example.org:5433"],
    ])
    func isForAnEntryThatIsMarkedForIt(_ more: [String: String]) throws {
        #expect(try refusal(Self.marked.merging(more) { $1 }, Self.url) == nil)
    }

    /// Each host of a URL is a server of its own.
    @Test func namesAllHostsAtOnce() throws {
        let other = "postgresql://ada@db2.example.org/team"
        let list = "db.example.org:5433,db2.example.org"
        #expect(try refusal([:], Self.url, other)?.contains("protocol=postgresql host='\(list)'") == true)
        #expect(try refusal(Self.marked, Self.url, other)?.contains("host='\(list)'") == true)
        #expect(try refusal(Self.marked.merging(["host": list]) { $1 }, Self.url, other) == nil)
    }

    @Test func isNamedLocalhostByItsUsualSocket() throws {
        let attributes = ["protocol": "postgresql", "host": "localhost"]
        #expect(try refusal(attributes, "postgresql:///x") == nil)
        #expect(try refusal(attributes, "postgresql:///x?port=5433") != nil)
        #expect(try refusal(attributes.merging(["host": "/tmp/a"]) { $1 }, "postgresql://%2Ftmp%2Fa/x") == nil)
    }
}
