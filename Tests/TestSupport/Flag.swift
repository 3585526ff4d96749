import LinuxSystem

/// A flag that one thread sets and others see.
package final class Flag: Sendable {
    private let value = Mutex(false)

    package init() {}

    package var isSet: Bool { value.withLock { $0 } }

    package func set() { value.withLock { $0 = true } }
}
