private import Glibc

// The mutex is the standard library's own.
#if !THREAD_SANITIZER

    @_exported public import Synchronization

#else

    @_exported public import struct Synchronization.Atomic

    /// A mutex that the thread sanitizer can follow. The standard library's mutex uses a futex inside a library that is
    /// not instrumented, so each use of it would be reported as a race.
    ///
    /// The type is Sendable, though unchecked: only `withLock` touches the value, and it holds the lock.
    package final class Mutex<Value: ~Copyable>: @unchecked Sendable {
        private let handle = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        // The value has memory of its own. Stored inline, a value without a size would share its address with its
        // neighbour, and the sanitizer would confuse the two.
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
