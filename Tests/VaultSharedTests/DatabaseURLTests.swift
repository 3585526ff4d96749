import Testing
import Vault

@testable import VaultShared

@Suite("The URL of a vault in a database")
struct DatabaseURLTests {
    private func parameter(_ name: String, of url: String) throws -> String? {
        try DatabaseURL(url).hosts.first?[name]
    }

    @Test(arguments: [
        ("postgresql://db.example.org/x#team", "verify-full"), ("postgresql://10.0.0.1/x#team", "verify-full"),
        ("postgresql://localhost,db.example.org/x", "verify-full"),
        ("postgresql:///x?hostaddr=10.0.0.1", "verify-full"),
        ("postgresql://localhost/x?hostaddr=10.0.0.1", "verify-full"),
        ("postgresql://127.evil.example/x", "verify-full"), ("postgresql://127.1/x", "verify-full"),
        ("postgresql://[::2]/x", "verify-full"), ("postgresql://[1::1]/x", "verify-full"),
        ("postgresql://126.0.0.1/x", "verify-full"), ("postgresql://128.0.0.1/x", "verify-full"),
        ("postgresql://db.example.org/x?sslmode=require#team", "require"),
    ])
    func asksARemoteHostForItsCertificate(_ url: String, _ mode: String) throws {
        #expect(try parameter("sslmode", of: url) == mode)
    }

    @Test(arguments: [
        "postgresql://localhost/x", "postgresql:///x", "postgresql://%2Frun%2Fpostgresql/x", "postgresql://127.0.0.1/x",
        "postgresql://[::1]/x", "postgresql://127.255.0.1/x",
    ])
    func leavesALocalHostToLibpq(_ url: String) throws { #expect(try parameter("sslmode", of: url) == nil) }

    @Test func looksForThePrimaryAmongSeveralHosts() throws {
        #expect(try parameter("target_session_attrs", of: "postgresql://a,b/x") == "read-write")
        #expect(try parameter("target_session_attrs", of: "postgresql://a/x") == nil)
        #expect(try parameter("target_session_attrs", of: "postgresql://a,b/x?target_session_attrs=any") == "any")
    }

    @Test func namesEachHostWithItsPort() throws {
        func hosts(_ url: String) throws -> [String] {
            try DatabaseURL(url).hosts.map { host in
                ["host", "port"].map { host[$0] ?? "-" }.joined(separator: ":")
            }
        }
        #expect(try hosts("postgresql://a,b:5433/x") == ["a:", "b:5433"])
        #expect(try hosts("postgresql://a,b/x?port=5433") == ["a:5433", "b:5433"])
        #expect(try hosts("postgresql:///x") == ["-:-"])
    }

    @Test func mayNameTheEntryWithThePassword() throws {
        let url = try DatabaseURL("postgresql://a/x?sslmode=require&password-entry=db%2Fteam&connect_timeout=3#team")
        #expect(url.passwordEntry == "db/team")
        #expect(url.hosts[0]["sslmode"] == "require")
        #expect(url.hosts[0]["connect_timeout"] == "3")
        #expect(try DatabaseURL("postgresql://a/x?password-entry=a").passwordEntry == "a")
    }

    @Test func isTheSamePlaceForEveryUserAndOrderOfHosts() throws {
        let places = [
            "postgresql://a,b:5433/x#team", "postgres://me@b:5433,a:5432/x?sslmode=require#team",
        ]
        #expect(Set(try places.map { try DatabaseURL($0).location }) == ["postgresql://a,b:5433/x#team"])
        #expect(try DatabaseURL("postgresql://a/x").location == "postgresql://a/x#default")
    }

    @Test(arguments: [
        "postgresql://me:secret-7@a/x#team", "postgresql://a/x?password=secret-7#team", "postgresql://a/#team",
        "postgresql://a/x?nonsense=secret-7", "postgresql://a/x#", "postgresql://a/x#a/b", "postgresql://a/x#é",
        "postgresql://[a/x", "postgresql://a/x?password-entry=", "postgresql://a/x?password-entry=%zz",
    ])
    func isRefusedWithoutRepeatingASecret(_ url: String) {
        let error = #expect(throws: VaultError.self) { _ = try DatabaseURL(url) }
        #expect(error?.code == .invalid && error?.message.contains("secret-7") == false)
    }
}
