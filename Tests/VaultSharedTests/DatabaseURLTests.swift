import Testing
import Vault

@testable import VaultShared

@Suite("The URL of a vault in a database")
struct DatabaseURLTests {
    @Test func mayNameTheEntryWithThePassword() throws {
        let url = try DatabaseURL("postgresql://a/x?sslmode=require&password-entry=db%2Fteam&connect_timeout=3#team")
        #expect(url.passwordEntry == "db/team")
        #expect(url.parameters["sslmode"] == "require")
        #expect(url.parameters["connect_timeout"] == "3")
        #expect(try DatabaseURL("postgresql://a/x?password-entry=a").passwordEntry == "a")
    }

    @Test(arguments: ["POSTGRESQL://a:7/x#team", "Postgres://a:7/x#team"])
    func mayHaveItsSchemeInCapitals(_ url: String) throws {
        #expect(VaultLocation.isURL(url))
        #expect(try DatabaseURL(url).location == "postgresql://a:7/x#team")
    }

    @Test(arguments: ["postgresql:/a/x", "mypostgresql://a/x", "postgresqi://a/x", "postgresql", ""])
    func isNotAPath(_ path: String) { #expect(!VaultLocation.isURL(path)) }

    @Test func isTheSameLocationForEveryUserAndOrderOfHosts() throws {
        let urls = [
            "postgresql://a,b:5433/x#team", "postgres://me@b:5433,a:5432/x?sslmode=require#team",
        ]
        #expect(Set(try urls.map { try DatabaseURL($0).location }) == ["postgresql://a,b:5433/x#team"])
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
