import Synchronization

/// Holds tasks up until it is opened; after some seconds it lets them go, so that a test that fails ends.
final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait() async {
        for _ in 0..<2_000 {
            if isOpen.withLock({ $0 }) { return }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
