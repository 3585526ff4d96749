import Synchronization
import VaultTesting

@testable import Vault

/// A store in which something happens after a value was read, before the reader goes on.
final class WatchedStore: ValueStore {
    private let base: any ValueStore
    private let hook = Mutex<(key: String, reads: Int, body: @Sendable () -> Void)?>(nil)

    init(_ base: any ValueStore) { self.base = base }

    /// - Parameter reads: at the first read of the key, or at a later one. It happens once.
    func after(reads: Int = 1, of key: String, _ body: @escaping @Sendable () -> Void) {
        hook.withLock { $0 = (key, reads, body) }
    }

    var changes: ChangeFeed { base.changes }
    var failures: FailureLog { base.failures }

    func value(of key: String) throws(VaultError) -> StoredValue? {
        let value = try base.value(of: key)
        let due = hook.withLock { hook -> (@Sendable () -> Void)? in
            guard hook?.key == key else { return nil }
            hook?.reads -= 1
            guard let (_, reads, body) = hook, reads == 0 else { return nil }
            hook = nil
            return body
        }
        // On a thread of its own, as another program's would be: the reader's transaction is not around it.
        if let due { try? onThreads(1) { _ in due() } }
        return value
    }
    func keys(prefix: String) throws(VaultError) -> [String] { try base.keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool { try base.commit(batch) }
    func eraseRemoved() throws(VaultError) { try base.eraseRemoved() }

    private let locksAreLost = Mutex(false)

    /// Loses all locks, as if a server had ended their connections, or stops doing so.
    func loseLocks(_ areLost: Bool = true) { locksAreLost.withLock { $0 = areLost } }

    func acquireLock(_ name: String) async throws(VaultError) -> NameLock {
        let lock = HeldLock(try await base.acquireLock(name))
        return NameLock { [self] () throws(VaultError) in
            if locksAreLost.withLock({ $0 }) { throw VaultError(.unavailable, "The lock is lost.") }
        } onRelease: {
            lock.release()
        }
    }
}

/// A lock that is released once.
private final class HeldLock: Sendable {
    private let lock: Mutex<NameLock?>

    init(_ lock: consuming NameLock) { self.lock = Mutex(lock) }

    func release() { lock.withLock { $0 = nil } }
}
