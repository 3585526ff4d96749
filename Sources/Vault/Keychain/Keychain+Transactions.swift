import SealedLog
import Sealing

extension Keychain {
    /// Makes several changes all together or not at all, with one durable write.
    ///
    /// No lock is held while `body` runs. It may run more than once, so it should do nothing but read and write through
    /// the transaction; if it throws, nothing is changed.
    ///
    /// - Throws: what `body` throws; ``VaultError`` as ``set(_:to:attributes:)-(_,SecretBytes,_)``, and `busy` if
    ///   others keep changing what it has read.
    public func transaction<Result>(_ body: (inout Transaction) throws -> Result) throws -> Result {
        var contention = Contention(patience: options.lockTimeout)
        while true {
            var transaction = Transaction(on: self)
            let result = try body(&transaction)
            if try commitUnlessConflicting(transaction) { return result }
            try contention.pause()
        }
    }

    /// The same, for bodies that throw nothing but this module's errors.
    func repeated<Result>(
        _ body: (inout Transaction) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        var contention = Contention(patience: options.lockTimeout)
        while true {
            var transaction = Transaction(on: self)
            let result = try body(&transaction)
            if try commitUnlessConflicting(transaction) { return result }
            try contention.pause()
        }
    }

    func commitUnlessConflicting(_ transaction: consuming Transaction) throws(VaultError) -> Bool {
        let changes = transaction.finished()
        guard !changes.isEmpty else { return true }
        defer { reportNotices() }
        do throws(LogError) {
            try patience.wait { (timeout) throws(LogError) in try log.commit(changes, timeout: timeout) }
        } catch {
            guard error.code == .conflict else { throw VaultError(error, places) }
            return false
        }
        self.changes.notify()
        return true
    }

    /// Tells a lack of guarded memory in this module's words.
    func guarded(_ body: () throws(SealingError) -> SecretBytes) throws(VaultError) -> SecretBytes {
        do { return try body() } catch { throw VaultError(LogError(.outOfMemory), places) }
    }

    /// Attributes as they are stored: in the order of their keys' bytes.
    static func checked(_ attributes: [String: String]) throws(VaultError) -> [Attribute] {
        guard attributes.count <= Limits.attributeCount else {
            throw VaultError(.invalid, "An entry may have at most \(Limits.attributeCount) attributes.")
        }
        guard !attributes.keys.contains("") else {
            throw VaultError(.invalid, "An attribute needs a key.")
        }
        return attributes.map { Attribute(key: $0.key, value: $0.value) }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
