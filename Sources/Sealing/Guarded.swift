#if !THREAD_SANITIZER

    package import Synchronization

    /// The standard library's mutex.
    ///
    /// Named here so that one place can put another one in when the thread sanitizer looks on.
    package typealias Guarded<Value: ~Copyable> = Synchronization.Mutex<Value>

#else

    private import Glibc

    /// A mutex that the thread sanitizer sees: that of Synchronization locks through a futex inside a library that is not
    /// instrumented, and every use of it is reported as a race.
    package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
        private let handle = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        // Only `withLock` touches the value, while it holds the lock. It has memory of its own: stored here, one without a size would
        // share its address with what lies next to it, and the sanitizer take the one for the other.
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
    }

#endif
