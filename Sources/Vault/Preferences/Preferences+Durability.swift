import LinuxSystem

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
