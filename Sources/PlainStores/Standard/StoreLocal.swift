import LinuxSystem

/// A value that belongs to the standard stores: one for the program's, and one for the stores of each test.
///
/// What an object in a `static let` keeps in memory outlives a test, and the next test would find it there. Let this
/// keep it instead: see <doc:TestingYourApp>.
///
/// ```swift
/// static var shared: LoginManager { managers.value }
/// private static let managers = StoreLocal { LoginManager() }
/// ```
///
/// As with the standard stores, tasks of a test have the test's value, but its detached tasks and threads have the
/// program's. A test's value is released together with its stores.
public final class StoreLocal<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let ofProgram = Mutex<Value?>(nil)

    /// Creates the place of a value that `make` returns at its first use. If several threads come first, `make` may run
    /// in each of them; one of its values is kept.
    public init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    /// The value that belongs to the stores that are the standard ones now. Asking for it opens none of them.
    public var value: Value {
        let locals = StandardStores.replaced?.locals
        if let present = locals.map({ $0.value(of: self) }) ?? ofProgram.withLock({ $0 }) { return present }
        // Not under a lock: it may ask for another such value.
        let new = make()
        if let locals { return locals.keep(new, of: self) }
        return ofProgram.withLock { value in
            value = value ?? new
            return value ?? new
        }
    }
}

/// The values that belong to the stores of a test.
final class StoreLocals: Sendable {
    private struct Entry {
        /// Retained: another place could else get its address, and so its value.
        let local: any AnyObject & Sendable
        let value: any Sendable
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    func value<Value>(of local: StoreLocal<Value>) -> Value? {
        entries.withLock { entries in
            // Asked for first: of an optional type, nothing would be cast to a value, nil.
            guard let entry = entries[ObjectIdentifier(local)] else { return nil }
            return entry.value as? Value
        }
    }

    /// Returns the value that is kept: this one, or one that came before.
    func keep<Value>(_ value: Value, of local: StoreLocal<Value>) -> Value {
        entries.withLock { entries in
            let present = entries[ObjectIdentifier(local)] ?? Entry(local: local, value: value)
            entries[ObjectIdentifier(local)] = present
            return present.value as? Value ?? value
        }
    }
}
