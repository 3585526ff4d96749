import LinuxSystem

/// The exclusive lock of a name, held until this value ends: see ``ValueStore/acquireLock(_:)``.
///
/// It is not recursive: a task that acquires a name twice waits forever.
public struct NameLock: ~Copyable, Sendable {
    private let onCheck: @Sendable () throws(VaultError) -> Void
    private let onRelease: @Sendable () -> Void

    /// Creates a lock that a store of your own has acquired; `onRelease` is called once.
    ///
    /// - Parameter onCheck: throws if the lock is lost; for ``check()``.
    public init(
        onCheck: @escaping @Sendable () throws(VaultError) -> Void = { () throws(VaultError) in },
        onRelease: @escaping @Sendable () -> Void
    ) {
        self.onCheck = onCheck
        self.onRelease = onRelease
    }

    deinit { onRelease() }

    /// Throws if the lock is lost, so that another program may have it: call it right before what the lock guards.
    ///
    /// The lock of a vault in a database ends with the connection to the server. This call sends the server a query.
    ///
    /// - Throws: ``VaultError`` with `unavailable`.
    public borrowing func check() throws(VaultError) { try onCheck() }

    /// Releases the lock.
    public consuming func release() {}

    /// Tries at growing intervals, from 1 to 100 ms, until an attempt succeeds. A blocking wait would occupy a thread
    /// of the task pool for as long as another program holds the lock.
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
            // Retains the store: another object at its address would have its identity.
            _ = self
            LockedName.all.withLock { _ = $0.remove(name) }
        }
    }
}

/// A lock that only excludes tasks of this process.
private struct LockedName: Hashable {
    static let all = Mutex<Set<LockedName>>([])

    let store: StoreIdentity
    let name: String
}
