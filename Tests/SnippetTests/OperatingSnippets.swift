import FoundationEssentials
import Glibc
import Testing
import Vault
import VaultTesting

/// What a program does about an error.
private enum Advice: Equatable {
    case tryAgain
    case askPerson(String)
    case stop(String)
    case report(String)
}

@Suite("Errors, backups and shipping")
struct OperatingSnippets {
    @Test func eachErrorHasAnAdvice() {
        func advice(on error: VaultError) -> Advice {
            switch error.code {
            case .busy: .tryAgain
            case .locked, .noVault, .gone, .unavailable: .askPerson(error.message)
            case .damaged, .rolledBack, .diverged, .exchanged, .outcomeUnknown: .stop(error.message)
            default: .report(error.message)
            }
        }

        #expect(advice(on: VaultError(.busy, "Later.")) == .tryAgain)
        #expect(advice(on: VaultError(.locked, "No key.")) == .askPerson("No key."))
        #expect(advice(on: VaultError(.rolledBack, "Older.")) == .stop("Older."))
        #expect(advice(on: VaultError(.invalid, "Empty.")) == .report("Empty."))
    }

    @Test func aRestoredVaultIsAcceptedOnce() throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let location = VaultLocation(
            vault: folder + "/a.vault", keyFile: folder + "/a.key", rollbackMemory: folder + "/state")
        try Keychain.create(at: location).set("u.token", to: "old")
        try FileManager.default.copyItem(atPath: location.vault, toPath: folder + "/backup")
        try Keychain(at: location).set("u.token", to: "new")
        try FileManager.default.removeItem(atPath: location.vault)
        try FileManager.default.copyItem(atPath: folder + "/backup", toPath: location.vault)
        let error = #expect(throws: VaultError.self) { try Keychain(at: location) }
        #expect(error?.code == .rolledBack)

        var options = Keychain.Options()
        options.acceptedAlarms = [.rolledBack]
        let keychain = try Keychain(at: location, options: options)

        #expect(try keychain.unsafeString("u.token") == "old")
        #expect(try Keychain(at: location).unsafeString("u.token") == "old")
    }

    /// What the page says of `outcomeUnknown`: the keychain reads, and writes nothing while the process has it open.
    @Test func afterAnUnknownOutcomeAKeychainOnlyReads() throws {
        let files = FaultyFiles()
        try withTemporaryStores(files: files) { stores in
            let token: KeychainStorable<String> = "u.token"
            try token.write("old")
            files.fail(.flush, with: EIO, times: 2)
            for _ in 0..<2 {
                let error = #expect(throws: VaultError.self) { try token.write("new") }
                #expect(error?.code == .outcomeUnknown)
            }
            #expect(try token.read() != nil)
            let again = try Keychain(at: stores.keychain.location)
            let error = #expect(throws: VaultError.self) { try again.set("u.token", to: "new") }
            #expect(error?.code == .outcomeUnknown)
        }
    }

    @Test func manyValuesGoIntoOneTransaction() throws {
        try withTemporaryStores { stores in
            let location = stores.keychain.location
            let tokens = ["alice": "1", "bob": "2"]

            var options = Keychain.Options()
            options.indexMemory = 2 << 30
            let keychain = try Keychain(at: location, options: options)
            try keychain.transaction { transaction in
                for (user, token) in tokens { try transaction.set("token/" + user, to: token) }
            }

            #expect(try keychain.keys(prefix: "token/") == ["token/alice", "token/bob"])
            #expect(try keychain.maintenance.information().recordsSinceCheckpoint == 1)
        }
    }

    @Test func aServiceNamesItsPaths() async {
        await #expect(processExitsWith: .success) {
            let data = try temporaryFolder()
            defer { try? FileManager.default.removeItem(atPath: data) }

            let location = try VaultLocation.standard(
                vault: data + "/mail.vault", keyFile: "/run/secrets/mail.key", environment: ["XDG_STATE_HOME": data])
            try VaultApp.identify(as: "mail", vault: location, preferences: data + "/mail.plist")

            #expect(location.rollbackMemory == data + "/vault")
            try Storable<String>("theme").write("dark")
            #expect(try Preferences(path: data + "/mail.plist").keys() == ["theme"])
        }
    }
}
