import Testing
import Vault
import VaultTesting

@Suite("Gotchas", .temporaryStores)
struct GotchasSnippets {
    @Test func anUpdateGivesTheResultOfTheRunThatCounted() throws {
        let counter = Storable<Int>("counter").defaulting(to: 41)

        let total = try counter.update { value in
            value += 1
            return value
        }

        #expect(total == 42)
    }

    @Test func theCallsThatThrowWorkFromALet() throws {
        let utility = Persistence.Utility()
        try utility.token.write("secret")

        #expect(utility.token.value == "secret")
    }

    @Test func aKeyReadAsAnotherTypeNamesBoth() throws {
        var printed: [String] = []
        func print(_ error: VaultError) { printed.append(error.message) }

        try Storable<String>("port").write("8080")
        do {
            _ = try Storable<Int>("port").read()
        } catch {
            print(error)  // The value of "port" is a string, so it cannot be read as an integer (Int).
        }

        #expect(printed == [#"The value of "port" is a string, so it cannot be read as an integer (Int)."#])
    }

    @Test func aTransactionRefusesAKeyOfAnotherStore() throws {
        let token: KeychainStorable<String> = "token"
        let error = #expect(throws: VaultError.self) {
            try Preferences.standard.atomically { transaction in try transaction.write("canary", to: token) }
        }
        #expect(error?.code == .invalid)
        #expect(try Preferences.standard.keys(prefix: "") == [])
        #expect(try !token.exists())
    }
}
