import FoundationEssentials
import Testing
import Vault

@Suite("Keys, history and copies")
struct KeysSnippets {
    /// A vault in a folder of its own.
    private func withVault(_ body: (VaultLocation, Keychain) throws -> Void) throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let location = VaultLocation(
            vault: folder + "/a.vault", keyFile: folder + "/a.key", rollbackMemory: folder + "/state")
        try body(location, Keychain.create(at: location))
    }

    @Test func aPassphraseOpensAVaultWhoseKeyFileIsAway() throws {
        try withVault { location, keychain in
            let passphrase = try SecretBytes(utf8: "five words and then some")
            @Sendable func askPerson() throws(VaultError) -> SecretBytes {
                try SecretBytes(utf8: "five words and then some")
            }

            try keychain.vaultKeys.addPassphrase(passphrase, label: "laptop")
            for key in try keychain.vaultKeys.all() { print(key.number, key.kind.name, key.label) }

            #expect(try keychain.vaultKeys.all().map(\.label) == ["", "laptop"])
            try keychain.set("u.token", to: "secret")
            try FileManager.default.removeItem(atPath: location.keyFile)
            do {
                var options = Keychain.Options()
                options.passphrase = { (attempt) throws(VaultError) in
                    attempt > 3 ? nil : try askPerson()
                }
                let keychain = try Keychain(at: location, options: options)

                #expect(try keychain.unsafeString("u.token") == "secret")
            }
        }
    }

    @Test func whoHasNoAccessCanAdd() throws {
        try withVault { _, keychain in
            let value = try SecretBytes(utf8: "of the job")
            let recipient = try keychain.dropBox.recipient()

            let drop = try Keychain.DropBox.seal("ci/token", value, to: recipient)
            try keychain.dropBox.collect([keychain.dropBox.open(drop)])

            #expect(try keychain.unsafeString("ci/token") == "of the job")
        }
    }

    @Test func anEarlierValueComesBack() throws {
        try withVault { _, keychain in
            try keychain.set("u.token", to: "first")

            try keychain.set("u.token", to: "second")
            for version in try keychain.history.versions(of: "u.token") { print(version.number, version.modified) }
            try keychain.history.restore("u.token")

            #expect(try keychain.unsafeString("u.token") == "first")

            let tokens = keychain.scoped(to: "session").forgettingHistory()

            let token = KeychainStorable<String>("access", in: .store(tokens))
            try token.write("one")
            try token.write("two")
            #expect(try keychain.history.versions(of: "session/access").isEmpty)
        }
    }

    @Test func aBackupIsMergedAgain() throws {
        try withVault { location, keychain in
            let path = location.vault + ".backup"
            try keychain.set("a", to: "1")

            try keychain.copies.backUp(to: path)

            let other = path
            try keychain.set("a", to: "2")

            let merge = try keychain.copies.merge(other)
            for name in merge.conflicts { print("\(name) was changed on both sides") }

            #expect(merge.changed.isEmpty && merge.conflicts.isEmpty)
            #expect(try keychain.unsafeString("a") == "2")
        }
    }
}
