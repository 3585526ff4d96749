import FoundationEssentials
import Testing
import Vault
import VaultTesting

@Suite("Helpers for other programs")
struct HelpersSnippets {
    @Test func aProgramLeavesATokenForGit() throws {
        let stores = try TemporaryStores()
        let keychain = stores.keychain
        let token = "a-token"
        let expiry = Date() + 3_600

        try keychain.set(
            "git/example.org/mia", to: token,
            attributes: ["protocol": "https", "host": "example.org", "username": "mia"], expires: expiry)

        #expect(try keychain.unsafeString("git/example.org/mia") == token)
    }
}
