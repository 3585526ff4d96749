import LinuxSystem

/// Others keep changing what a transaction has read: waits a while before it runs again, and ends it when that goes on too long.
///
/// One of those who contend always comes through. Pauses of random length keep it from being the same ones each time.
struct Contention: ~Copyable {
    private static let longestPause: UInt32 = 8_000
    private let deadline: ContinuousClock.Instant
    private var attempts = 0

    init(patience: Duration = .seconds(10)) {
        deadline = .now + patience
    }

    /// - Throws: ``VaultError/Code/busy`` when patience is at an end.
    mutating func pause() throws(VaultError) {
        guard .now < deadline else { throw .contended }
        attempts += 1
        // Microseconds; a first failure is often the only one.
        let bound = min(Contention.longestPause, 32 << UInt32(min(attempts, 8)))
        Clock.sleep(microseconds: UInt32.random(in: 0...bound))
    }
}
