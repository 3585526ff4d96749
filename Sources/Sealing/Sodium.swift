private import CSodium

/// libsodium's own start, which has to come before anything else of it is called.
enum Sodium {
    /// Runs once in a process; later calls cost a load and a compare.
    static let isReady: Bool = sodium_init() >= 0

    static func start() throws(SealingError) {
        // It fails only where the system has no source of randomness at all; nothing can be sealed then.
        guard isReady else { throw SealingError(.outOfMemory) }
    }
}
