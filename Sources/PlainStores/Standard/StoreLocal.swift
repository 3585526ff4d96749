import LinuxSystem

/// A value that exists once for each set of standard stores: once for the program, and once for each test.
///
/// An object in a `static let` outlives a test, so the next test would see its state. Keep such an object in a
/// StoreLocal instead (see <doc:TestingYourApp>).
///
/// ```swift
/// static var shared: LoginManager { managers.value }
/// private static let managers = StoreLocal { LoginManager() }
/// ```
///
/// A test's tasks get the test's value. Its detached tasks and threads get the program's value, as with the standard
/// stores. A test's value is released together with the test's stores.
public final class StoreLocal<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let ofProgram = Mutex<Value?>(nil)

    /// Creates a StoreLocal. `make` creates its value on first use. If several threads use it for the first time at
    /// once, `make` may run on each of them, but only one of the values is kept.
    public init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    /// The value for the standard stores in use (the program's or a test's). Reading it opens none of these stores.
    public var value: Value {
        let locals = StandardStores.replaced?.locals
        if let present = locals.map({ $0.value(of: self) }) ?? ofProgram.withLock({ $0 }) { return present }
        // Call `make` without holding a lock: it may use another StoreLocal, which may acquire the same lock.
        let new = make()
        if let locals { return locals.keep(new, of: self) }
        return ofProgram.withLock { value in
            value = value ?? new
            return value ?? new
        }
    }
}

final class StoreLocals: Sendable {
    private struct Entry {
        /// The value's StoreLocal. It is retained so that no new StoreLocal can get its address, and with it the value.
        let local: any AnyObject & Sendable
        let value: any Sendable
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    func value<Value>(of local: StoreLocal<Value>) -> Value? {
        entries.withLock { entries in
            // Unwrap the entry before the cast. If `Value` is optional, casting a missing entry would succeed.
            guard let entry = entries[ObjectIdentifier(local)] else { return nil }
            return entry.value as? Value
        }
    }

    /// Stores a value for `local`, unless `local` already has one. Returns the stored value.
    func keep<Value>(_ value: Value, of local: StoreLocal<Value>) -> Value {
        entries.withLock { entries in
            let present = entries[ObjectIdentifier(local)] ?? Entry(local: local, value: value)
            entries[ObjectIdentifier(local)] = present
            return present.value as? Value ?? value
        }
    }
}
