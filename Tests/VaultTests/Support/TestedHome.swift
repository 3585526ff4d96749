import LinuxSystem
import Sealing
import Testing
import Vault

/// One of the standard stores, as a test's argument.
enum TestedHome: CaseIterable, Sendable {
    case keychain, preferences, memory

    var reference: StoreReference {
        switch self {
        case .keychain: .keychain
        case .preferences: .preferences
        case .memory: .memory
        }
    }

    var store: any ValueStore {
        get throws {
            switch self {
            case .keychain: try Keychain.standard
            case .preferences: Preferences.standard
            case .memory: MemoryStore.standard
            }
        }
    }

    func key<Value: StoredObject>(_ name: String) throws -> Storable<Value> {
        Storable(name, in: .store(try store))
    }
}

/// A failure handler that keeps what it gets.
final class SeenFailures: Sendable {
    private let errors = Mutex<[(VaultError, String)]>([])

    var all: [VaultError] { errors.withLock { $0.map(\.0) } }
    var keys: [String] { errors.withLock { $0.map(\.1) } }

    var handler: FailureLog.Handler {
        { error, key in self.errors.withLock { $0.append((error, key)) } }
    }
}
