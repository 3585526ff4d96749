import FoundationEssentials
import Testing
import Vault
import VaultTesting

/// The example of the documentation, as a program would write it.
struct GraphBody: StoredAsCodable, Equatable {
    var points: [Double]
}

struct Persistence {
    struct Utility {
        var upgradeAlertIgnored: Storable<Bool> = "u.upgradeIgnored"  // plist
        var token: KeychainStorable<String> = "u.token"  // vault
        var graphData: RAMStorable<[GraphBody]> = "u.graphData"  // memory
    }
}

@Suite(.temporaryStores) struct PersistenceExampleTests {
    @Test func oneLinePerValueStoresItWhereItsTypeSays() throws {
        var utility = Persistence.Utility()
        #expect(utility.token.value == nil)
        utility.upgradeAlertIgnored.value = true
        utility.token.value = "canary"
        utility.graphData.value = [GraphBody(points: [1, 2.5])]

        #expect(utility.upgradeAlertIgnored.value == true)
        #expect(utility.token.value == "canary")
        #expect(utility.graphData.value == [GraphBody(points: [1, 2.5])])
        #expect(try Preferences.standard.keys(prefix: "") == ["u.upgradeIgnored"])
        #expect(try Keychain.standard.keys(prefix: "") == ["u.token"])
        #expect(MemoryStore.standard.keys(prefix: "") == ["u.graphData"])

        utility.token.value = nil
        #expect(try !utility.token.exists())
    }

    @Test func theWrappersReadAndWrite() throws {
        struct Model {
            @KeychainStored("u.token") var token: String?
            @Stored("u.launches", default: 0) var launches: Int
            @RAMStored("u.draft") var draft: String?
        }
        let model = Model()
        #expect(model.token == nil)
        model.token = "canary"
        model.launches += 1
        #expect(model.token == "canary")
        #expect(model.launches == 1)
        #expect(try model.$token.read() == "canary")
        model.draft = nil
    }
}
