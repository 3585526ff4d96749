private import CLinux
private import Glibc

// Without the thread sanitizer, `Mutex` is the standard library's type.
#if !THREAD_SANITIZER

    @_exported public import Synchronization

#else

    @_exported public import struct Synchronization.Atomic

    /// A mutex that the thread sanitizer can follow. The standard library's mutex uses a futex in a library that is not
    /// instrumented, so the sanitizer would report each use as a race.
    ///
    /// It can safely be Sendable, because the value is accessed only under the lock.
    package final class Mutex<Value: ~Copyable>: @unchecked Sendable {
        private let handle = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        // The value is allocated separately. Stored inline, a value of size zero would have the same address as the
        // next property, and the thread sanitizer would confuse the two.
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

        package init(_ value: consuming sending Value) {
            self.value.initialize(to: value)
            pthread_mutex_init(handle, nil)
        }

        deinit {
            pthread_mutex_destroy(handle)
            handle.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(handle)
            defer { pthread_mutex_unlock(handle) }
            return try body(&value.pointee)
        }

        package func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(handle) == 0 else { return nil }
            defer { pthread_mutex_unlock(handle) }
            return try body(&value.pointee)
        }
    }

#endif

/// The ranks of mutexes, in the order in which a thread must acquire them; see Sources/README.md, "Locks".
package enum LockRank: UInt32, Sendable {
    case writer, view, registry, memoryFile

    /// Runs code that acquires the mutexes of another log, or that acts as another thread in a test. The order check
    /// ignores the caller's mutexes, so the caller must ensure that no thread acquires both sets in reverse order.
    package static func separately<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        #if DEBUG || SANITIZER
            let held = vault_held_mutexes()
            vault_set_held_mutexes(0)
            defer { vault_set_held_mutexes(held) }
        #endif
        return try body()
    }
}

/// A mutex that is acquired in a fixed order, because two threads that acquire the same mutexes in opposite orders can
/// deadlock. In debug and sanitizer builds, a violation of the order crashes the program.
package struct OrderedMutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let rank: LockRank

    package init(_ rank: LockRank, _ value: consuming sending Value) {
        mutex = Mutex(value)
        self.rank = rank
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG || SANITIZER
            let held = vault_held_mutexes()
            precondition(held >> rank.rawValue == 0)
            vault_set_held_mutexes(held | 1 << rank.rawValue)
            defer { vault_set_held_mutexes(held) }
        #endif
        return try mutex.withLock(body)
    }
}
