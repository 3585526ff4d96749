import SealedLog
import Sealing
import Synchronization

extension Preferences {
    /// Makes all that these preferences show last: writes what ``Writing/coalesced(every:)`` has held back, and flushes the file and its
    /// name, whoever wrote it. A process that was killed before its flush leaves a file that can be read, and that power loss takes back.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable`, `outcomeUnknown`.
    public func makeDurable() throws(VaultError) {
        try flush()
        try makeFileDurable()
    }

    /// Flushes the file that is there now, unless these preferences have flushed that very one: it costs as much as half a write.
    func makeFileDurable() throws(VaultError) {
        let file = try file.get()
        // Before the flush: what comes after it is another file, or has another status.
        let status = try file.status()
        guard status == nil || status != durable.withLock({ $0 }) else { return }
        try file.makeDurable()
        durable.withLock { $0 = status }
    }
}

extension PreferencesFile {
    /// Makes the file last that lies at the path, and the name that leads to it; where there is none, that there is none.
    fileprivate func makeDurable() throws(VaultError) {
        do throws(SystemError) {
            do throws(SystemError) { try fileSystem.synchronize(fileSystem.open(path, .read)) } catch {
                guard error.isMissing else { throw error }
            }
            do throws(SystemError) { try fileSystem.synchronizeFolder(path.parentFolder) } catch {
                guard error.isMissing else { throw error }
            }
        } catch {
            throw VaultError(preferences: LogError(.outcomeUnknown, systemError: error.number), path)
        }
    }
}
