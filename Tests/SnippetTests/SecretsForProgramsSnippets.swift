import FoundationEssentials
import Testing
import Vault
import VaultTesting

@Suite("Secrets for programs", .temporaryStores)
struct SecretsForProgramsSnippets {
    @Test func theVaultIsReadIfTheEnvironmentHasNoValue() throws {
        try KeychainStorable<String>("u.token").write("secret")

        let token = try ProcessInfo.processInfo.environment["TOKEN"] ?? KeychainStorable<String>("u.token").read()

        #expect(token == ProcessInfo.processInfo.environment["TOKEN"] ?? "secret")
    }
}
