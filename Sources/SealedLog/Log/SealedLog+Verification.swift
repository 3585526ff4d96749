import LinuxSystem
import Sealing

extension SealedLog {
    /// Reads and authenticates everything.
    ///
    /// - Throws: `damaged`, naming the first offset; `busy`, `unavailable`.
    package func verify(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> VerificationReport {
        let current = try read { (view) throws(LogError) in view }
        let store = try current.store.reopened()
        // Only to see where the log ends; reading it all takes too long to keep others from writing.
        let lock = try store.lock(.shared, until: Deadline(after: timeout))
        var (view, _) = try LogView.start(store) { (_) throws(LogError) in current.keys }
        _ = try view.followToEnd(nil, durable: nil, isSettled: true)
        lock.release()
        do throws(LogError) {
            let report = try Verifier(of: view, counter).run(to: view.end)
            memory?.forgetUpkeep()
            return report
        } catch {
            if error.code == .damaged { rememberFailure(error) }
            throw error
        }
    }
}
