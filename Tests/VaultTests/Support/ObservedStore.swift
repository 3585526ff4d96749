import TestSupport
import Vault
import VaultTesting

/// The store that a test's keys are in.
enum ObservedStore: CaseIterable, Sendable {
    case vault, plist, memory

    var standard: any ValueStore {
        get throws {
            switch self {
            case .vault: try Keychain.standard
            case .plist: Preferences.standard
            case .memory: MemoryStore.standard
            }
        }
    }

    func key<Value: StoredObject>(_ name: String) throws -> Storable<Value> {
        Storable(name, in: .store(try standard))
    }
}
