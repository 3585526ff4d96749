import FoundationEssentials
import Glibc
import Synchronization
import Testing
import Vault
import VaultTesting

@Suite("Handling secrets", .temporaryStores)
struct HandlingSecretsSnippets {
    private struct Account {
        var password: KeychainStorable<String> = "u.password"
    }

    private let account = Account()

    @Test func aSecretIsReadWithoutACopy() throws {
        try Keychain.standard.set("u.token", to: "secret")

        let token: KeychainStorable<String> = "u.token"
        let length = try token.withSecret { bytes in bytes.byteCount }

        #expect(length == 6)
    }

    @Test func theBytesOfASecret() throws {
        var printed: [String] = []
        func print(_ name: String, _ size: Int) { printed.append("\(name) \(size)") }

        let keychain = try Keychain.standard
        try keychain.set("u.token", to: "secret", attributes: ["service": "example"])
        let length = try keychain.withSecret("u.token") { $0.byteCount }
        let token = try keychain.unsafeString("u.token")
        for item in try keychain.items(prefix: "u.") { print(item.name, item.size) }

        #expect(length == 6 && token == "secret")
        #expect(printed == ["u.token 6"])
    }

    /// In a process of its own: the environment names the vault.
    @Test func aVaultIsOpenedWhereTheEnvironmentSays() async {
        await #expect(processExitsWith: .success) {
            let folder = try temporaryFolder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            for (name, file) in [("VAULT_FILE", "a.vault"), ("VAULT_KEY_FILE", "a.key"), ("XDG_STATE_HOME", "state")] {
                setenv(name, "\(folder)/\(file)", 1)
            }

            let keychain = try Keychain(at: .standard(), creatingIfAbsent: true)
            try keychain.set("u.token", to: "secret")
            let size = try keychain.withSecret("u.token") { token in token.byteCount }

            #expect(size == 6 && keychain.location.vault == folder + "/a.vault")
        }
    }

    @Test func aSecretExpires() throws {
        let token: KeychainStorable<String> = "u.token"
        try token.write("secret", expires: Date(timeIntervalSinceNow: 3_600))

        #expect(try token.read() == "secret")
        #expect(try Keychain.standard.item("u.token")?.expires != nil)
    }

    @Test func aSecretComesFromADescriptorIntoGuardedMemory() throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        #expect(write(ends[1], "secret", 6) == 6)
        let descriptor = ends[0]
        defer { for end in ends { close(end) } }

        let password = try SecretBytes(unsafeCapacity: 1_024) { buffer in
            max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        try account.password.write(secret: password)

        let text = try Keychain.standard.unsafeString("u.password")

        #expect(text == "secret")
        #expect(try account.password.read() == "secret")
    }

    @Test func aProgramThatMustNotMakeAVault() throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let location = VaultLocation(vault: folder + "/a.vault", keyFile: folder + "/a.key", rollbackMemory: nil)
        let error = #expect(throws: VaultError.self) { try Keychain(at: location, creatingIfAbsent: false) }
        #expect(error?.code == .noVault)
        try Keychain.create(at: location).set("u.token", to: "secret")

        let keychain = try Keychain(at: location)
        let token = KeychainStorable<String>("u.token", in: .store(keychain))

        #expect(try token.read() == "secret")
    }

    @Test func whatIsLoggedTellsNoName() throws {
        var lines: [String] = []
        let token: KeychainStorable<String> = "u.token"
        func log(_ line: String) { lines.append(line) }
        func show(_ message: String) { #expect(message.contains("u.token")) }
        try KeychainStorable<Int>("u.token").write(1)

        do {
            _ = try token.read()
        } catch {
            log("no token: \(error.code.name)")  // one word
            show(error.message)  // names the key, or the path of a file
        }

        #expect(lines == ["no token: wrongType"])
    }

    @Test func aGettersFailureIsReported() async throws {
        let lines = Mutex<[String]>([])
        let warn: @Sendable (String) -> Void = { line in lines.withLock { $0.append(line) } }

        Keychain.standardFailures.setHandler { error, key in
            warn("\(key): \(error.message)")
        }

        defer { Keychain.standardFailures.setHandler(FailureLog.standardErrorLine) }
        // A detached task has none of the test's stores, so its standard keychain cannot be opened.
        let value = await Task.detached { KeychainStorable<String>("unreadable.token").value }.value
        #expect(value == nil)
        #expect(Keychain.standardFailures.lastError?.code == .unavailable)
        #expect(lines.withLock { $0.filter { $0.hasPrefix("unreadable.token: ") }.count } == 1)
    }
}
