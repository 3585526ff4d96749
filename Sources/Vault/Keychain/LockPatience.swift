import LinuxSystem
import SealedLog

/// How long to wait for other processes, and who is told that it takes a while.
struct LockPatience {
    private static let silence: Duration = .seconds(1)

    private let timeout: Duration
    private let onWaiting: (@Sendable (Int?) -> Void)?
    private let path: String

    /// - Parameter path: of the file or folder whose lock is waited for.
    init(_ options: Keychain.Options, path: String) {
        timeout = options.lockTimeout
        onWaiting = options.onWaiting
        self.path = path
    }

    /// Runs what may throw `busy` after a time that it is given, for one second first, and then for what is left.
    func wait<Result>(_ body: (_ timeout: Duration) throws(LogError) -> Result) throws(LogError) -> Result {
        guard let onWaiting, timeout > LockPatience.silence else { return try body(timeout) }
        do throws(LogError) { return try body(LockPatience.silence) } catch {
            guard error.code == .busy else { throw error }
        }
        onWaiting(LockHolder.process(holding: path))
        return try body(timeout - LockPatience.silence)
    }
}
