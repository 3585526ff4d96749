private import CLinux

/// The mutexes that a thread may take only in this order. Sources/README.md, "Locks", says what each guards.
package enum LockRank: UInt32, Sendable {
    case writer, registry, view, memoryFile

    /// Runs a test's code that acts as another thread or process: the mutexes that the caller holds do not count.
    package static func asAnotherThread<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        #if DEBUG || SANITIZER
            let held = vault_held_mutexes()
            vault_set_held_mutexes(0)
            defer { vault_set_held_mutexes(held) }
        #endif
        try body()
    }
}

/// A mutex that is taken in a stated order. In builds for tests, a thread that takes one out of order ends the program:
/// another thread that does both in the other order would make the two wait for each other.
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
