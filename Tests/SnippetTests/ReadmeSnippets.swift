import Testing
import Vault
import VaultTesting

@Suite("README", .temporaryStores)
struct ReadmeSnippets {
    @Test func theFirstScreen() throws {
        var printed: [String] = []
        func print(_ values: String...) { printed += values }

        let token: KeychainStorable<String> = "github.token"  // sealed in the vault
        let theme: Storable<String> = "theme"  // in a plain property list
        try token.write("secret")
        try theme.write("dark")
        print(try token.read() ?? "none", try theme.read() ?? "none")

        #expect(printed == ["secret", "dark"])
    }

    @Test func theTypedAPI() throws {
        var tokens: [String] = []
        func logIn(with token: String) { tokens.append(token) }
        try KeychainStorable<String>("u.token").write("kept")

        var utility = Persistence.Utility()
        utility.upgradeAlertIgnored.value = true
        if let token = utility.token.value { logIn(with: token) }

        // A property cannot throw. Where a failure must not look like "no value":
        let token = try utility.token.read()
        try utility.token.write("secret")

        // Others may write at the same time; nothing is lost. With a default, the value is not optional:
        let launches = Storable("launches").defaulting(to: 0)
        try launches.update { $0 += 1 }

        #expect(tokens == ["kept"] && token == "kept")
        #expect(try launches.read() == 1)
        #expect(try Keychain.standard.keys() == ["u.token"])
        #expect(try utility.token.read() == "secret")
        #expect(try Preferences.standard.keys(prefix: "") == ["launches", "u.upgradeIgnored"])
    }
}
