import LinuxSystem

/// An exclusive lock on a name, held until this value's lifetime ends (see ``ValueStore/acquireLock(_:)``).
///
/// The lock is not recursive. A task that acquires the same name twice waits forever.
public struct NameLock: ~Copyable, Sendable {
    private let onCheck: @Sendable () throws(VaultError) -> Void
    private let onRelease: @Sendable () -> Void

    /// Creates the value for a lock that your own store has acquired. `onRelease` is called once, on release.
    ///
    /// - Parameter onCheck: called by ``check()``; throws if the lock has been lost.
    public init(
        onCheck: @escaping @Sendable () throws(VaultError) -> Void = { () throws(VaultError) in },
        onRelease: @escaping @Sendable () -> Void
    ) {
        self.onCheck = onCheck
        self.onRelease = onRelease
    }

    deinit { onRelease() }

    /// Throws if the lock has been lost and another program may hold it. Call this right before the guarded action.
    ///
    /// If the vault is in a database, a lost connection to the server ends the lock, so this call queries the server.
    ///
    /// - Throws: ``VaultError`` with `unavailable`.
    public borrowing func check() throws(VaultError) { try onCheck() }

    /// Releases the lock.
    public consuming func release() {}

    /// Repeats `attempt` at growing intervals, from 1 to 100 ms, until it succeeds. A blocking wait would occupy a
    /// thread of the task pool for as long as another program holds the lock.
    package static func wait(for attempt: () throws(VaultError) -> Bool) async throws(VaultError) {
        var pause: Duration = .milliseconds(1)
        while try !attempt() {
            do { try await Task.sleep(for: pause) } catch {
                throw VaultError(.busy, "The task was cancelled while it waited for a lock.")
            }
            pause = min(pause * 2, .milliseconds(100))
        }
    }
}

extension ValueStore {
    public func acquireLock(_ name: String) async throws(VaultError) -> NameLock {
        let name = LockedName(store: identity, name: name)
        try await NameLock.wait { LockedName.all.withLock { $0.insert(name).inserted } }
        return NameLock {
            // This closure retains the store, because a later store at the same address would have the same identity.
            _ = self
            LockedName.all.withLock { _ = $0.remove(name) }
        }
    }
}

/// A name that is locked by a task of this process. Other processes are not excluded.
private struct LockedName: Hashable {
    static let all = Mutex<Set<LockedName>>([])

    let store: StoreIdentity
    let name: String
}
