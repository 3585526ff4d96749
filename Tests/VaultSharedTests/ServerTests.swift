import Foundation
import Glibc
import TestSupport
import Testing

@testable import VaultShared

@Suite("The servers that a URL leads to")
struct ServerTests {
    private func servers(_ url: String) throws -> [Server] {
        try Server.found(by: DatabaseURL(url).parameters)
    }

    private func modes(_ url: String) throws -> [String] { try servers(url).map(\.mode) }

    @Test(arguments: [
        ("db.example.org/x#team", "verify-full"), ("10.0.0.1/x#team", "verify-full"),
        ("/x?hostaddr=10.0.0.1", "verify-full"),
        ("127.0.0.1/x?hostaddr=10.0.0.1", "verify-full"), ("db.example.org/x?hostaddr=127.0.0.1", "verify-full"),
        ("127.evil.example/x", "verify-full"), ("127.1/x", "verify-full"), ("[::2]/x", "verify-full"),
        ("[1::1]/x", "verify-full"), ("126.0.0.1/x", "verify-full"), ("128.0.0.1/x", "verify-full"),
        ("0.0.0.0/x", "verify-full"), ("localhost/x", "verify-full"), ("db.example.org/x?sslmode=require", "require"),
        ("127.evil.example/x?sslmode=disable", "disable"), ("127.0.0.1/x?sslmode=verify-ca", "verify-ca"),
    ])
    func haveToProveThemselvesUnlessTheURLSaysOtherwise(_ rest: String, _ mode: String) throws {
        let server = try #require(try servers("postgresql://\(rest)").first)
        #expect(server.mode == mode)
        #expect(server.provesItself == (mode == "verify-full" || server.isLocal))
    }

    @Test(arguments: [
        "/x", "%2Frun%2Fpostgresql/x", "127.0.0.1/x", "[::1]/x", "127.255.0.1/x", "127.0.0.1/x?hostaddr=127.0.0.3",
        "/x?host=@abstract",
    ])
    func areOnThisMachineByASocketOrAnAddress(_ rest: String) throws {
        let server = try #require(try servers("postgresql://\(rest)").first)
        #expect(server.isLocal && server.mode == "prefer" && server.provesItself)
    }

    /// Each for itself: beside one on this machine, another one is elsewhere.
    @Test func areAskedForThePrimaryIfThereAreSeveral() throws {
        #expect(try modes("postgresql://127.0.0.1,db.example.org/x") == ["prefer", "verify-full"])
        func target(_ url: String) throws -> [String?] {
            try servers(url).map { $0.parameters["target_session_attrs"] }
        }
        #expect(try target("postgresql://a,b/x") == ["read-write", "read-write"])
        #expect(try target("postgresql://a/x") == [nil])
        #expect(try target("postgresql://a,b/x?target_session_attrs=any") == ["any", "any"])
    }

    @Test func haveEachItsPort() throws {
        func hosts(_ url: String) throws -> [String] {
            try servers(url).map { server in
                ["host", "port"].map { server.parameters[$0] ?? "-" }.joined(separator: ":")
            }
        }
        #expect(try hosts("postgresql://a,b:5433/x") == ["a:", "b:5433"])
        #expect(try hosts("postgresql://a,b/x?port=5433") == ["a:5433", "b:5433"])
        #expect(try hosts("postgresql:///x") == ["-:5432"])
    }

    /// What libpq adds to the URL counts as what is in it, but for the mode: a variable may be for another database.
    @Test func areWhatLibpqMakesOfTheURL() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("services")
        let text = """
            [near]
            host=127.0.0.1
            [far]
            host=db.example.org
            [weak]
            host=db.example.org
            sslmode=require
            [prefers]
            host=db.example.org
            sslmode=prefer
            [two]
            host=127.0.0.1,db.example.org
            port=5433,5434

            """
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        await #expect(processExitsWith: .success) { [path = path as String] in
            setenv("PGSERVICEFILE", path, 1)
            func modes(_ url: String) throws -> [String] {
                try Server.found(by: DatabaseURL(url).parameters).map(\.mode)
            }
            try #require(try modes("postgresql:///x?service=near") == ["prefer"])
            try #require(try modes("postgresql:///x?service=far") == ["verify-full"])
            try #require(try modes("postgresql:///x?service=weak") == ["require"])
            try #require(try modes("postgresql:///x?service=prefers") == ["verify-full"])
            try #require(try modes("postgresql:///x?service=two") == ["prefer", "verify-full"])
            try #require(try modes("postgresql:///x?service=weak&sslmode=verify-full") == ["verify-full"])
            try #require(throws: PostgresError.self) { try modes("postgresql:///x?service=none") }
            // Of another database.
            setenv("PGSERVICE", "weak", 1)
            try #require(try modes("postgresql://db.example.net/x") == ["verify-full"])
            try #require(try modes("postgresql:///x") == ["verify-full"])
            unsetenv("PGSERVICE")
            setenv("PGHOST", "db.example.org", 1)
            try #require(try modes("postgresql:///x") == ["verify-full"])
            for mode in ["disable", "allow", "require", "verify-ca"] {
                setenv("PGSSLMODE", mode, 1)
                try #require(try modes("postgresql:///x") == ["verify-full"])
                try #require(try modes("postgresql:///x?service=far") == ["verify-full"])
                try #require(try modes("postgresql://127.0.0.1/x") == [mode])
                try #require(try modes("postgresql:///x?sslmode=\(mode)") == [mode])
            }
            setenv("PGHOSTADDR", "10.0.0.1", 1)
            try #require(try modes("postgresql://127.0.0.1/x") == ["verify-full"])
        }
    }

    // MARK: Errors

    @Test(arguments: [
        (
            "connection to server at \"127.0.0.1\", port 1 failed: FATAL:  28P01: password authentication failed\n"
                + "LOCATION:  auth_failed, auth.c:338\n", PostgresError.Reason.refused("28P01"),
            "connection to server at \"127.0.0.1\", port 1 failed: FATAL: password authentication failed"
        ),
        (
            "server at \"a\" failed: FATAL:  57P03: the database system is starting up\n", .refused("57P03"),
            "server at \"a\" failed: FATAL: the database system is starting up"
        ),
        ("SSL error: certificate verify failed\n", .loginRefused, "SSL error: certificate verify failed"),
        ("a: 1234: b\n", .loginRefused, "a: 1234: b"), ("", .loginRefused, ""),
    ])
    func whatRefusesALoginIsNotAway(_ message: String, _ reason: PostgresError.Reason, _ words: String) {
        let error = PostgresError(ofLogin: message, isRefusal: true)
        #expect(error.reason == reason)
        #expect(error.message == words)
        #expect(error.isOutage == (reason == .refused("57P03")))
    }

    @Test func theWordsOfAServerAreNoneForATerminal() {
        let words = PostgresError(.refused("XX000"), "a\u{1b}[31mb\u{202e}c\u{a0}d e\n\tf").message
        #expect(words == "a\u{fffd}[31mb\u{fffd}c\u{fffd}d e f")
    }

    @Test func aNameIsToldThatItHasToProveItself() throws {
        func words(_ host: String, isRefusal: Bool) throws -> String {
            let server = try #require(try servers("postgresql://\(host)/x").first)
            return PostgresError(ofLogin: "no SSL\n", isRefusal: isRefusal, server.advice).message
        }
        let refusal = try words("localhost", isRefusal: true)
        #expect(refusal.hasPrefix("no SSL. A server specified by name needs a certificate"))
        #expect(try words("localhost", isRefusal: false) == "no SSL")
        #expect(try words("127.0.0.1", isRefusal: true) == "no SSL")
        #expect(try words("db.example.org", isRefusal: true) == "no SSL")
    }

    @Test func whatCannotBeReachedIsAway() {
        let error = PostgresError(ofLogin: "connection refused\n", isRefusal: false)
        #expect(error.reason == .notConnected && error.isOutage)
    }
}
