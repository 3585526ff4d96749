#if !THREAD_SANITIZER

    package import Synchronization

    /// The standard library's mutex, under a name of our own so that the thread sanitizer's build can use another one.
    package struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
        @usableFromInline let mutex: Synchronization.Mutex<Value>

        @inlinable
        package init(_ value: consuming sending Value) {
            mutex = Synchronization.Mutex(value)
        }

        @inlinable
        package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    }

#else

    private import Glibc

    /// A mutex that the thread sanitizer sees. The standard library's locks through a futex inside a library that is
    /// not instrumented, so every use of it would be reported as a race.
    package final class Mutex<Value: ~Copyable>: @unchecked Sendable {
        private let handle = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        // Only `withLock` touches the value, while it holds the lock. The value has memory of its own: stored inline,
        // one without a size would share its address with its neighbour, and the sanitizer would confuse the two.
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
