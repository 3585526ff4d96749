package import LinuxSystem

/// A store of values, such as settings, in a property list that any plist tool can use. Don't keep secrets in it.
///
/// Each suite is one file of mode 0600, `$XDG_CONFIG_HOME/vault/preferences/SUITE.plist`, usually XML. Several
/// processes and threads may use a suite at the same time. A write is on the disk when its call returns, and no write
/// of another process is lost, unless changes are coalesced. Keys of other programs keep their values and types. A
/// damaged file causes an error, and is never overwritten.
public final class Preferences: ValueStore {
    public let changes: ChangeFeed
    public let failures: FailureLog
    /// The path of the property list, without symbolic links.
    ///
    /// - Throws: ``VaultError``: `unavailable` if there is no home folder, `invalid` if the suite's name is too long.
    public var path: String { get throws(VaultError) { try file.get().path } }

    let file: Result<PreferencesFile, VaultError>
    /// The minimum time between two writes; nil if each change is written before its call returns.
    private let interval: Duration?
    private let snapshot = Mutex<PreferencesSnapshot?>(nil)
    /// The file's metadata when this object last flushed the file and its directory entry.
    private let durable = Mutex<FileStatus?>(nil)
    let pending = Mutex(PendingChanges())
    /// A mutex held during a write, so that this process's threads wait here rather than for the folder's lock.
    let writer = Mutex(())

    /// Creates the preferences of a suite, without opening its file. The name can be any text, such as a user's id.
    ///
    /// - Parameters:
    ///   - interval: the minimum time between two writes, for values that change many times a second. Changes within
    ///     this time are written together, and pending ones when the process exits. If another object or process
    ///     changes the same key in the meantime, the later write wins, even after an ``ValueKey/update(_:)-5awi7`` (see
    ///     <doc:WhichStoreForWhat>). Errors go to ``failures``. By default, each change is written immediately.
    ///   - failures: receives the errors that a property's getter or setter cannot throw.
    public convenience init(suite: String, coalescing interval: Duration? = nil, failures: FailureLog = FailureLog()) {
        let path = Result { () throws(VaultError) in try Preferences.path(ofSuite: suite) }
        self.init(path, interval, failures, in: PosixFileSystem())
    }

    /// Creates preferences that are stored in the property list at `path` instead of a suite's file. The other
    /// parameters are those of ``init(suite:coalescing:failures:)``.
    public convenience init(path: String, coalescing interval: Duration? = nil, failures: FailureLog = FailureLog()) {
        self.init(.success(path), interval, failures, in: PosixFileSystem())
    }

    package init(
        _ path: Result<String, VaultError>, _ interval: Duration? = nil, _ failures: FailureLog = FailureLog(),
        in fileSystem: any FileSystem
    ) {
        file = path.map { path in
            PreferencesFile(file: WholeFile(resolvedPath(path), in: fileSystem), namedPath: absolutePath(path))
        }
        self.interval = interval
        self.failures = failures
        changes = (try? file.get()).map { ChangeFeed(watching: $0.path, in: fileSystem) } ?? ChangeFeed()
        if interval != nil { ExitFlush.register(self) }
    }

    deinit { flushReporting() }
}

extension Preferences {
    /// The store's identity. Two objects that use the same file have equal identities.
    public var identity: StoreIdentity { (try? path).map(StoreIdentity.init(file:)) ?? StoreIdentity(self) }

    public func value(of key: String) throws(VaultError) -> StoredValue? {
        try Naming.key.check(key)
        if let pending = pending.withLock({ $0.changes[key] }) { return pending }
        return try current().value(of: key)
    }

    public func keys(prefix: String) throws(VaultError) -> [String] {
        try contents(prefix: prefix).keys.sortedByBytes()
    }

    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        // Keys written by other programs are included only if they are valid store keys.
        func isListed(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) && NameRule.allows(key) }
        // `pending` stays locked while the file is read, so that no change written to the file in between is missed.
        return try pending.withLock { (pending) throws(VaultError) in
            var contents = try current().values.filter { isListed($0.key) }.mapValues(StoredValue.init(propertyList:))
            for (key, value) in pending.changes where isListed(key) { contents[key] = value }
            return contents
        }
    }

    public func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        for key in batch.changes.keys { try Naming.key.check(key) }
        let committed =
            if let interval {
                try gather(batch, interval)
            } else {
                try writer.withLock { _ throws(VaultError) in try replaceFile(batch) }
            }
        if committed { changes.notify() }
        return committed
    }

    /// Writes the pending changes, then flushes the file and its directory entry. Also flushes a change by another
    /// process: if that process was killed before its own flush, a power loss could undo the change.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable` or `outcomeUnknown`.
    public func makeDurable() throws(VaultError) {
        try flush()
        try makeFileDurable()
    }

    /// Returns the file's content. Reads the file again only if it has been replaced or changed since the last read.
    func current() throws(VaultError) -> PreferencesSnapshot {
        let file = try file.get()
        let status = try file.status()
        let kept = snapshot.withLock { $0 }
        if let kept, kept.isCurrent(status) { return kept }
        let new = try file.read(kept)
        snapshot.withLock { $0 = new }
        return new
    }

    /// Writes a batch's changes durably to the file if its expectations hold. The caller must hold the writer's lock.
    func replaceFile(_ batch: StoreBatch) throws(VaultError) -> Bool {
        let forms = try batch.propertyLists()
        let (holds, new) = try file.get().update(batch, forms, snapshot.withLock { $0 })
        if let new {
            durable.withLock { $0 = new.status }
            snapshot.withLock { $0 = new }
        } else if holds {
            // The file already has the new values, but the process that wrote them may have died before its flush.
            try makeFileDurable()
        }
        return holds
    }

    /// Flushes the file, unless this object has flushed its last change. Skipping the flush halves a write's time.
    private func makeFileDurable() throws(VaultError) {
        let file = try file.get()
        // The file's status is read before the flush, because a later one could include a newer, unflushed change.
        let status = try file.status()
        guard status == nil || status != durable.withLock({ $0 }) else { return }
        try file.makeDurable()
        durable.withLock { $0 = status }
    }

    /// The maximum length of a suite's file name without `.plist`, in bytes.
    private static let longestName = 200
    private static let plainBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.".utf8)

    static func path(ofSuite suite: String) throws(VaultError) -> String {
        let name = try fileName(ofSuite: suite)
        guard let folder = try LocationVariables().folder("XDG_CONFIG_HOME", ".config") else {
            throw VaultError(
                .unavailable,
                "There is no home folder for preferences. Set HOME or XDG_CONFIG_HOME, or name the file's path.")
        }
        return "\(folder)/vault/preferences/\(name).plist"
    }

    /// Returns a suite's percent-encoded file name. Encoding gives each suite its own file, never hidden or outside the
    /// preferences folder. Throws ``VaultError/Code/invalid`` if the suite's name is empty or too long.
    static func fileName(ofSuite suite: String) throws(VaultError) -> String {
        let encoded = PercentEncoding.encoded(suite, allowing: plainBytes.contains)
        let name = encoded.utf8.first == UInt8(ascii: ".") ? "%2E" + encoded.dropFirst() : encoded
        guard !suite.isEmpty, name.utf8.count <= longestName else {
            throw VaultError(.invalid, "Invalid name of a preferences suite: \(suite.isEmpty ? "empty" : "too long").")
        }
        return name
    }
}

extension Preferences: Redacted {
    /// A description without values: the type's name and the path of the property list.
    public var description: String { described(Preferences.self, (try? path) ?? "") }
}
