import Testing
import Vault
import VaultShared

/// The snippet of the article about vaults in databases.
@Suite("When one machine is not enough")
struct TeamSnippets {
    @Test func aDatabaseThatCannotBeReachedIsUnavailable() {
        let error = #expect(throws: VaultError.self) {
            var options = Keychain.Options()
            options.offline = .ifUnreachable
            let keychain = try Keychain(at: .database("postgresql://db.example.org/vaults#team"), options: options)

            try keychain.set("a", to: "1")
        }
        #expect(error?.code == .unavailable)
    }
}
