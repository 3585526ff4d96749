package import LinuxSystem
import Sealing

extension SealedLog {
    /// Opens a vault.
    ///
    /// - Parameters:
    ///   - path: without symbolic links.
    ///   - readKey: gives the key; called once the file is open, so that a missing vault comes before a missing key.
    /// - Throws: `missing`, `keyWrong`, `damaged`, `newerFormat`, `rolledBack`, `diverged`, `exchanged`, `busy`, `unavailable`, or
    ///   what `readKey` throws.
    package static func open(
        _ path: String, options: Options, in fileSystem: any FileSystem, readKey: () throws(LogError) -> KeyFile
    ) throws(LogError) -> SealedLog {
        let opening = Opening(path: path, options: options, fileSystem: fileSystem)
        var keys: KeyRing?
        let first = try opening.attempt { (header) throws(LogError) in
            let ring = try header.unlock(with: readKey())
            keys = ring
            return ring
        }
        if let first { return SealedLog.shared(first) }
        // Something was doubtful: a record half written, a file just replaced. It is judged while nobody can write.
        let settled = try opening.settle(until: Deadline(after: options.lockTimeout)) { (header) throws(LogError) in
            if let keys { return keys }
            return try header.unlock(with: readKey())
        }
        return SealedLog.shared(settled)
    }

    /// The log of this process for the same file, if there is one: one core keeps threads from waiting for each other's
    /// file locks.
    private static func shared(_ opened: Opened) -> SealedLog {
        guard let identity = opened.view.store.identity else { return SealedLog(opened) }
        let (log, isNew) = registry.withLock { logs -> (SealedLog, Bool) in
            logs.removeAll { $0.log == nil }
            for known in logs {
                guard let log = known.log, log.isFor(opened, isSameFile: known.identity == identity) else { continue }
                return (log, false)
            }
            let log = SealedLog(opened)
            logs.append(KnownLog(identity: identity, log: log))
            return (log, true)
        }
        if opened.isAccepted, !isNew { log.goOn(from: opened) }
        if !isNew {
            for notice in opened.notices.take() { log.notices.post(notice) }
        }
        return log
    }

    /// Whether this log is the one for what was opened.
    private func isFor(_ opened: Opened, isSameFile: Bool) -> Bool {
        // With another memory it would raise another's: then each has its own log, and they lock each other out.
        guard vaultID == opened.view.header.vaultID, memory?.folder.path == opened.memory?.folder.path else {
            return false
        }
        let store = view.withLock { $0.store }
        guard !store.isInherited, store.isWritable || !opened.view.store.isWritable else { return false }
        // Whoever has this log open wants what was accepted too.
        return isSameFile || (opened.isAccepted && store.location == opened.view.store.location)
    }

    /// Takes a file for the vault that the person has accepted, whatever this log knows of another.
    private func goOn(from opened: Opened) {
        writer.withLock { writer in
            writer.durableLocation = nil
            writer.rememberedMark = nil
            overruled.withLock { $0 = opened.overruled }
            view.withLock { $0 = opened.view }
        }
        register()
    }

    /// Makes the log known under the file that it has moved to.
    func register() {
        guard let identity = view.withLock({ $0.store.identity }) else { return }
        SealedLog.registry.withLock { logs in
            logs.removeAll { $0.log == nil || $0.log === self }
            logs.append(KnownLog(identity: identity, log: self))
        }
    }

    /// A list rather than a dictionary: a process has few logs, and hashing costs a start 20 µs.
    private struct KnownLog: Sendable {
        let identity: FileStatus.Identity
        weak var log: SealedLog?
    }

    private static let registry = Mutex<[KnownLog]>([])
}
