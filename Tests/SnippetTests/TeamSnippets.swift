import Testing
import Vault

/// The snippet of the article about vaults in databases.
@Suite("When one machine is not enough")
struct TeamSnippets {
    @Test func aDatabaseThatCannotBeReachedIsUnavailable() {
        let error = #expect(throws: VaultError.self) {
            var options = Keychain.Options()
            options.allowsOffline = true
            let location = try VaultLocation.standard(vault: "postgresql://db.example.org/vaults#team")
            let keychain = try Keychain(at: location, options: options)

            try keychain.set("a", to: "1")
        }
        #expect(error?.code == .unavailable)
    }
}
