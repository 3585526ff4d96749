import FoundationEssentials
import Testing
import Vault
import VaultTesting

/// Each in a process of its own: a program has one name.
@Suite("Your app's vault")
struct YourAppsVaultSnippets {
    @Test func aProgramNamesItself() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryStores { _ in
                try VaultApp.identify(as: "mail")

                let token: KeychainStorable<String> = "u.token"
                try token.write("secret")

                #expect(VaultApp.name == "mail")
                #expect(try token.read() == "secret")
            }
        }
    }

    @Test func aServiceHasAVaultOfItsOwn() async {
        await #expect(processExitsWith: .success) {
            let folder = try temporaryFolder()
            defer { try? FileManager.default.removeItem(atPath: folder) }

            let location = VaultLocation(
                vault: folder + "/mail.vault", keyFile: folder + "/mail.key", rollbackMemory: folder + "/state")
            try VaultApp.identify(as: "mail", vault: location, preferences: folder + "/mail.plist")

            try KeychainStorable<String>("u.token").write("secret")
            #expect(try Keychain(at: location).keys() == ["u.token"])
        }
    }
}
