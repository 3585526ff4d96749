import LinuxSystem

/// A value that belongs to the standard stores. The program has one, and so do the stores of each test.
///
/// An object in a `static let` outlives a test, and the next test would find its state. Keep such an object in a
/// StoreLocal instead: see <doc:TestingYourApp>.
///
/// ```swift
/// static var shared: LoginManager { managers.value }
/// private static let managers = StoreLocal { LoginManager() }
/// ```
///
/// The tasks of a test have the test's value. Its detached tasks and threads have the program's, as with the standard
/// stores. A test's value is released together with its stores.
public final class StoreLocal<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let ofProgram = Mutex<Value?>(nil)

    /// Creates a holder whose value `make` returns at the first use. If several threads use it first at the same time,
    /// `make` may run in each of them, and one of the values is kept.
    public init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    /// The value that belongs to the present standard stores. Reading it opens none of them.
    public var value: Value {
        let locals = StandardStores.replaced?.locals
        if let present = locals.map({ $0.value(of: self) }) ?? ofProgram.withLock({ $0 }) { return present }
        // No lock is held, since `make` may use another such value.
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
        /// Retained, so that no other StoreLocal gets the same address, and with it this value.
        let local: any AnyObject & Sendable
        let value: any Sendable
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    func value<Value>(of local: StoreLocal<Value>) -> Value? {
        entries.withLock { entries in
            // The entry is unwrapped first: a missing entry would be cast to nil, a value of an optional type.
            guard let entry = entries[ObjectIdentifier(local)] else { return nil }
            return entry.value as? Value
        }
    }

    /// Keeps the value unless an earlier one is kept already, and returns the kept one.
    func keep<Value>(_ value: Value, of local: StoreLocal<Value>) -> Value {
        entries.withLock { entries in
            let present = entries[ObjectIdentifier(local)] ?? Entry(local: local, value: value)
            entries[ObjectIdentifier(local)] = present
            return present.value as? Value ?? value
        }
    }
}
