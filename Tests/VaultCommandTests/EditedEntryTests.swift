import FoundationEssentials
import Testing
import Vault

@testable import VaultCommand

@Suite struct EditedEntryTests {
    @Test func attributesAndExpiryStay() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vault-edited-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let location = VaultLocation(vault: folder + "/vault", keyFile: folder + "/key/key", rollbackMemory: nil)
        let keychain = try Keychain(at: location, creatingIfAbsent: true)
        let expiry = Date(timeIntervalSinceReferenceDate: 5_000_000_000)
        try keychain.set("u.token", to: "old", attributes: ["host": "github.com"], expires: expiry)

        let entry = try EditedEntry.read("u.token", in: keychain) { try keychain.sealable($0) }
        try entry.store(entry.value(SecretBytes(utf8: "new")), in: keychain)

        let item = try #require(try keychain.item("u.token"))
        #expect(try keychain.unsafeString("u.token") == "new")
        #expect(item.attributes == ["host": "github.com"] && item.expires == expiry && item.kind == "text")
    }
}
