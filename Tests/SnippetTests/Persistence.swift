import Vault

struct GraphBody: StoredAsCodable {
    var points: [Double]
}

struct Persistence {
    struct Utility {
        var upgradeAlertIgnored: Storable<Bool> = "u.upgradeIgnored"  // plist
        var token: KeychainStorable<String> = "u.token"  // vault
        var graphData: RAMStorable<[GraphBody]> = "u.graphData"  // memory
    }
}
